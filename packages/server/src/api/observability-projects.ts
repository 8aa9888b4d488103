/** The operation that lists the projects that an organization's telemetry names. */
import { Type } from "typebox";
import { operation } from "./operation.ts";
import { schema, type TypeOf } from "./schema.ts";

export const signals = ["traces", "logs", "metrics"] as const;

export const SeenProjects = schema(
  Type.Object(
    {
      organization_id: Type.String({ description: "Identifier of the key's organization." }),
      data: Type.Array(
        Type.Object(
          {
            name: Type.String({ description: "Name of the project: what `project_name` of a query accepts." }),
            signals: Type.Array(Type.Enum([...signals]), { description: "What is stored of the project." }),
          },
          { description: "A project." },
        ),
        { description: "The projects, sorted by name; at most 10,000." },
      ),
    },
    { description: "The projects that have telemetry, whether they were created or not." },
  ),
);
export type SeenProjects = TypeOf<typeof SeenProjects>;

export const listSeenProjects = operation({
  id: "listSeenProjects",
  method: "GET",
  path: "/observability/projects",
  tag: "Observability",
  summary: "List projects that have telemetry",
  description:
    "Lists the projects that stored traces, logs or metrics of the key's organization name. A key that is bound to a project lists only this one, as does a request with `x-project`. `GET /admin/v1/projects` lists the projects that were created.",
  permission: "telemetry_read",
  answer: { type: "application/json", schema: SeenProjects, description: "The projects." },
});
