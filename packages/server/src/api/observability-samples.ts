/** The operation that deletes sample telemetry. */
import { Type } from "typebox";
import { tenantFilters } from "./observability.ts";
import { operation, queryBodyBytes } from "./operation.ts";
import { schema, type TypeOf } from "./schema.ts";

/** The instrumentation scope that marks telemetry as samples. `sounding demo` sends it. */
export const sampleScope = "sounding.demo";

export const SamplesDeletion = schema(
  Type.Object(
    {
      organization_id: tenantFilters.organization_id,
      project_name: Type.String({
        minLength: 1,
        maxLength: 256,
        description: "The project whose samples are deleted.",
      }),
    },
    { additionalProperties: false, description: "Which samples to delete." },
  ),
);
export type SamplesDeletion = TypeOf<typeof SamplesDeletion>;

const count = (what: string) => Type.Integer({ description: `Number of ${what} that were deleted.` });

const SamplesReceipt = schema(
  Type.Object(
    {
      object: Type.Literal("samples_deletion", { description: "Always `samples_deletion`." }),
      project_name: Type.String({ description: "The project." }),
      spans: count("spans"),
      logs: count("log records"),
      points: count("metric points"),
    },
    { description: "What was deleted. Queries no longer return it." },
  ),
);

export const deleteSamples = operation({
  id: "deleteSamples",
  method: "DELETE",
  path: "/observability/samples",
  tag: "Observability",
  summary: "Delete sample telemetry",
  description: `Deletes the spans, log records and metric points of one project whose instrumentation scope is \`${sampleScope}\`, which is what \`sounding demo\` sends. Other telemetry of the project is kept, so keys that may only write telemetry cannot delete what others sent. Parameters may also be sent in the query string.`,
  permission: "telemetry_write",
  body: SamplesDeletion,
  queryAsBody: true,
  maxBodyBytes: queryBodyBytes,
  answer: { type: "application/json", schema: SamplesReceipt, description: "A receipt, once everything is deleted." },
  example: { project_name: "demo" },
});
