/**
 * The operations about the server itself: health, metrics, and the API description as data and as a page. None requires
 * a key, except the one for operators.
 */
import { Type } from "typebox";
import { operation } from "./operation.ts";
import { schema, type TypeOf } from "./schema.ts";

const status = Type.Enum(["ok", "degraded", "unavailable"], {
  description:
    "`ok`; `degraded` if the server accepts calls but a check reports a problem; `unavailable` if it accepts none. See `checks` for the reasons.",
});

const Health = schema(
  Type.Object(
    {
      status,
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

const counted = (what: string) => Type.Integer({ description: `Number of ${what}.` });

const ServerState = schema(
  Type.Object(
    {
      object: Type.Literal("server", { description: "Always `server`." }),
      version: Type.String({ description: "Version of the server." }),
      status,
      checks: Type.Record(Type.String(), Type.String(), { description: "Result of each check: `ok`, or the problem." }),
      received: Type.Object(
        {
          spans: counted("spans"),
          log_records: counted("log records"),
          points: counted("metric points"),
        },
        { description: "Telemetry of all organizations that the server has stored since its processes started." },
      ),
    },
    { description: "State of the server." },
  ),
);
export type ServerStateObject = TypeOf<typeof ServerState>;

export const getServer = operation({
  id: "getServer",
  method: "GET",
  path: "/admin/v1/server",
  tag: "Administration",
  summary: "Show an operator the health of the server and the telemetry that it has received",
  description:
    "What `GET /readyz` and `GET /metrics` say, for the console, where a proxy hides these from the network.",
  permission: "admin",
  operator: true,
  answer: { type: "application/json", schema: ServerState, description: "The state of the server." },
});

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
