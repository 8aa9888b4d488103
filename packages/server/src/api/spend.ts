/** The operations that add up what model calls cost, of one organization and of all. */
import { Type } from "typebox";
import { tenantFilters, timeParameter, timeWindow } from "./observability.ts";
import { operation } from "./operation.ts";
import { optional, schema, type TypeOf } from "./schema.ts";

export const defaultSpendWindow = "30d";
export const defaultSpendGroups = 1000;
const mostGroups = 10_000;

/** What spend can be grouped by, next to `tag:NAME`. */
export const spendDimensions = ["day", "model", "engine", "organization", "project", "key", "user"] as const;
export type SpendDimension = (typeof spendDimensions)[number];

const filter = (description: string, maxLength = 256) => optional(Type.String({ maxLength }), description);

export const SpendQuery = schema(
  Type.Object(
    {
      by: optional(
        Type.String({ maxLength: 512 }),
        `What to group by, separated by commas, at most four: ${spendDimensions.map((each) => `\`${each}\``).join(", ")} and \`tag:NAME\`, the value of that name in the \`metadata\` or the header \`x-tags\` of requests. Default: one group.`,
      ),
      organization_id: tenantFilters.organization_id,
      project_name: tenantFilters.project_name,
      model: filter('Only calls of this model ID; "" for calls that name none.'),
      engine: filter('Only calls through Sounding that this engine served; "" for others.'),
      key_id: filter('Only calls with this API key; "" for calls that did not go through Sounding.', 64),
      user_id: filter('Only calls for this end user; "" for calls that name none.', 4096),
      tags: optional(
        Type.Record(Type.String({ minLength: 1, maxLength: 64 }), Type.String({ maxLength: 512 }), {
          maxProperties: 16,
        }),
        'Only calls with each of these tags, as a JSON object such as `{"team":"search"}`; the value "" finds calls without the name.',
      ),
      time_window: timeWindow(
        `How far to look back from \`end\`: an integer of at least 1, followed by \`m\` (minutes), \`h\` or \`d\`. Default "${defaultSpendWindow}".`,
      ),
      start: timeParameter(
        "Only calls that ended after this time: a day such as `2026-11-01`, which begins in `time_zone`, an RFC 3339 time, or a UNIX time in nanoseconds. Not together with `time_window`.",
      ),
      end: timeParameter("Only calls that ended at this time or earlier, in the same forms. Default: now."),
      time_zone: optional(
        Type.String({ minLength: 1, maxLength: 64 }),
        "Where days begin and end: a name of the IANA database, such as `Europe/Berlin`. Default: `UTC`.",
      ),
      limit: optional(
        Type.Integer({ minimum: 1, maximum: mostGroups }),
        `Maximum number of groups, 1 to ${mostGroups}; those with the highest cost are returned. Default ${defaultSpendGroups}.`,
      ),
    },
    { additionalProperties: false, description: "Which calls to add up, and by what." },
  ),
);
export type SpendQuery = TypeOf<typeof SpendQuery>;

const count = (description: string) => Type.Integer({ minimum: 0, description });

const amounts = {
  currency: Type.String({ description: "Currency of `cost`, a code of ISO 4217." }),
  cost: Type.String({
    description:
      "What the calls cost: a decimal, exact to a billionth, such as `0.05090025`. Calls without a price are not part of it.",
  }),
  calls: count("Calls, failed ones included."),
  unpriced_calls: count("Of these, calls whose cost is unknown, because their model has no price."),
  input_tokens: count("Input tokens, cached ones included."),
  output_tokens: count("Output tokens, reasoning included."),
  cache_read_tokens: count("Of the input tokens: read from a cache."),
  cache_write_tokens: count("Of the input tokens: written to a cache."),
};

const nameOrNull = (description: string) => Type.Union([Type.String(), Type.Null()], { description });

export const Spend = schema(
  Type.Object(
    {
      object: Type.Literal("spend", { description: "Always `spend`." }),
      start: Type.String({ description: "Start of the range, an RFC 3339 time. Calls that ended at it do not count." }),
      end: Type.String({ description: "End of the range. Calls that ended at it count." }),
      time_zone: Type.String({ description: "Where days begin and end." }),
      by: Type.Array(Type.String(), { description: "What the groups are by, in the order of the request." }),
      totals: Type.Array(Type.Object(amounts, { description: "The sum in one currency." }), {
        description: "Sums of all groups, including those beyond `limit`: one for each currency.",
      }),
      data: Type.Array(
        Type.Object(
          {
            group: Type.Record(Type.String(), Type.Union([Type.String(), Type.Null()]), {
              description:
                "The values that the calls share, by the names in `by`; null if they have none. A `day` is a date, a `key` its ID.",
            }),
            key_name: Type.Optional(nameOrNull("Name of the key. Only in groups by `key`.")),
            organization_name: Type.Optional(nameOrNull("Name of the organization. Only in groups by `organization`.")),
            ...amounts,
          },
          { description: "Calls with the same values, in one currency." },
        ),
        { description: "The groups: by day first, then by cost, the highest first." },
      ),
      truncated: Type.Boolean({ description: "Whether there are more groups than `limit`." }),
    },
    { description: "What calls cost." },
  ),
);
export type Spend = TypeOf<typeof Spend>;

export const querySpend = operation({
  id: "querySpend",
  method: "GET",
  path: "/observability/spend",
  tag: "Observability",
  summary: "Add up what calls cost",
  description:
    "Adds up the recorded costs of model calls by model, engine, project, key, user, tag or day. A call counts when it ends, and once if an application reports it, too.",
  permission: "spend_read",
  body: SpendQuery,
  queryAsBody: true,
  answer: { type: "application/json", schema: Spend, description: "The groups and their sum." },
});

export const querySpendOfOrganizations = operation({
  id: "querySpendOfOrganizations",
  method: "GET",
  path: "/admin/v1/spend",
  tag: "Administration",
  summary: "Add up what calls of organizations cost",
  description:
    "The same for operators: of all organizations, archived ones included, or of the one with the identifier or the name in `organization_id`. Groups can be by `organization`.",
  permission: "admin",
  operator: true,
  body: SpendQuery,
  queryAsBody: true,
  answer: { type: "application/json", schema: Spend, description: "The groups and their sum." },
});
