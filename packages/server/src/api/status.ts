/** The operations that tell of the server itself: health, metrics, the contract and its readable form. None needs a key. */
import { Type } from "typebox";
import { operation } from "./operation.ts";
import { schema } from "./schema.ts";

const Health = schema(
  Type.Object(
    {
      status: Type.Enum(["ok", "degraded", "unavailable"], {
        description:
          "`ok`; `degraded` while the server takes calls but a part is not well; `unavailable` while it takes none. `checks` has the reasons.",
      }),
      checks: Type.Optional(
        Type.Record(Type.String(), Type.String(), {
          description: "Each part that was checked, with `ok` or what is wrong.",
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
  summary: "Whether the process is alive",
  permission: "none",
  answer: { type: "application/json", schema: Health, description: "The process is alive." },
});

export const getReadiness = operation({
  id: "getReadiness",
  method: "GET",
  path: "/readyz",
  tag: "Status",
  summary: "Whether the server takes calls: 503 while it starts, stops or lacks what it needs",
  permission: "none",
  answer: { type: "application/json", schema: Health, description: "The server takes calls." },
});

export const getMetrics = operation({
  id: "getMetrics",
  method: "GET",
  path: "/metrics",
  tag: "Status",
  summary: "Metrics of this process in Prometheus' text format",
  permission: "none",
  answer: { type: "text/plain", description: "Prometheus' text exposition format." },
});

export const getOpenApi = operation({
  id: "getOpenApi",
  method: "GET",
  path: "/openapi.json",
  tag: "Status",
  summary: "This contract as an OpenAPI 3.1 document",
  permission: "none",
  answer: { type: "application/json", description: "An OpenAPI 3.1 document." },
});

export const getDocs = operation({
  id: "getDocs",
  method: "GET",
  path: "/docs",
  tag: "Status",
  summary: "This contract as a page to read",
  permission: "none",
  answer: { type: "text/html", description: "A page without scripts." },
});
