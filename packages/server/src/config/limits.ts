/** Ceilings that hold where a key or an organization has none of its own: `limits` of the configuration file. */
import { Type, type Static } from "typebox";
import type { ErrorCode } from "../errors.ts";
import { limitsInput } from "../input-limits.ts";
import type { Limits } from "../tenant.ts";

const ceiling = (description: string, error: ErrorCode = "rate_limited") =>
  Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      description,
      ...limitsInput("Requests, tokens and cost", error),
    }),
  );

const ceilings = (description: string) =>
  Type.Object(
    {
      requests_per_minute: ceiling(
        "Requests a minute; inference, telemetry queries and telemetry exports are counted separately. Absent: no limit.",
      ),
      tokens_per_minute: ceiling("Prompt and completion tokens together a minute. Absent: no limit."),
      concurrent_requests: ceiling(
        "Requests in flight at one time; inference, telemetry queries and telemetry exports are counted separately. Absent: no limit.",
      ),
      tokens_per_month: ceiling(
        "Prompt and completion tokens together a calendar month (UTC). Absent: no limit.",
        "quota_exceeded",
      ),
      compute_seconds_per_minute: ceiling(
        "Seconds of work, on the server's main thread and in the telemetry store, that telemetry queries and, separately, telemetry exports may use a minute. Absent: no limit.",
      ),
    } satisfies Record<keyof Limits, unknown>,
    { default: {}, description },
  );

export const limits = Type.Object(
  {
    key: ceilings("For each key that has no limit of the kind."),
    organization: ceilings("For each organization that has no limit of the kind."),
  },
  { default: {}, description: "Limits where a key or an organization has none of its own." },
);
export type LimitSettings = Static<typeof limits>;
