/** The limits of a key or an organization with their current usage. */
import { Type } from "typebox";
import { limitNames } from "./admin.ts";
import { schema } from "./schema.ts";

const nullable = (description: string) => Type.Union([Type.Number(), Type.Null()], { description });

export const Usage = schema(
  Type.Object(
    {
      object: Type.Literal("usage", { description: "Always `usage`." }),
      id: Type.String({ description: "Identifier of the key or the organization." }),
      data: Type.Array(
        Type.Object(
          {
            limit: Type.Enum([...limitNames], { description: "The limit." }),
            applies_to: Type.Enum(["inference", "queries", "exports"], {
              description: "What counts: calls of models, telemetry queries or telemetry exports.",
            }),
            value: nullable(
              "The limit of the key or organization, otherwise the configuration's; null if none is set.",
            ),
            used: nullable(
              "Current usage. Null if it is not counted: rates and compute seconds are counted only while a limit is set.",
            ),
            remaining: nullable("What remains; null if there is no limit or the usage is not counted."),
            resets_at: nullable(
              "When all of the limit is available again if no further request arrives, UNIX seconds: for tokens per month the start of the next month. Null if it is available now, or unknown.",
            ),
          },
          { description: "A limit and its usage." },
        ),
        { description: "The limits, whether they are set or not." },
      ),
    },
    { description: "Limits with their current usage." },
  ),
);
