/**
 * The operations about the server itself: health, metrics, and the API description as data and as a page. None requires
 * a key.
 */
import { Type } from "typebox";
import { operation } from "./operation.ts";
import { schema } from "./schema.ts";

const Health = schema(
  Type.Object(
    {
      status: Type.Enum(["ok", "degraded", "unavailable"], {
        description:
          "`ok`; `degraded` if the server accepts calls but a check reports a problem; `unavailable` if it accepts none. See `checks` for the reasons.",
      }),
      version: Type.Optional(Type.String({ description: "Version of the server; only in `GET /healthz`." })),
      checks: Type.Optional(
        Type.Record(Type.String(), Type.String(), {
          description: "Result of each check: `ok`, or the problem.",
        }),
      ),
    },
    { description: "Health of the server." },
  ),
);

export const getHealth = operation({
  id: "getHealth",
  method: "GET",
  path: "/healthz",
  tag: "Status",
  summary: "Check whether the process is alive, and its version",
  permission: "none",
  answer: { type: "application/json", schema: Health, description: "The process is alive." },
});

export const getReadiness = operation({
  id: "getReadiness",
  method: "GET",
  path: "/readyz",
  tag: "Status",
  summary: "Check whether the server accepts calls: 503 while it starts, stops or lacks a dependency",
  permission: "none",
  answer: { type: "application/json", schema: Health, description: "The server accepts calls." },
});

export const getMetrics = operation({
  id: "getMetrics",
  method: "GET",
  path: "/metrics",
  tag: "Status",
  summary: "Show this process's metrics in Prometheus' text format",
  permission: "none",
  answer: { type: "text/plain", description: "Prometheus' text exposition format." },
});

export const getOpenApi = operation({
  id: "getOpenApi",
  method: "GET",
  path: "/openapi.json",
  tag: "Status",
  summary: "Download this API description as an OpenAPI 3.1 document",
  permission: "none",
  answer: { type: "application/json", description: "An OpenAPI 3.1 document." },
});

export const getDocs = operation({
  id: "getDocs",
  method: "GET",
  path: "/docs",
  tag: "Status",
  summary: "Show this API description as a web page",
  permission: "none",
  answer: { type: "text/html", description: "A page with navigation, search and requests to try." },
});

export const getDocsScript = operation({
  id: "getDocsScript",
  method: "GET",
  path: "/docs/api-reference.js",
  tag: "Status",
  summary: "Download the script of the page at `/docs`",
  permission: "none",
  answer: { type: "text/javascript", description: "The script." },
});
