/** Default limits of keys and organizations without their own: `limits` of the configuration file. */
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
        "Requests per minute. Inference, telemetry queries and telemetry exports are counted separately. Absent: no limit.",
      ),
      tokens_per_minute: ceiling("Prompt and completion tokens per minute, added together. Absent: no limit."),
      concurrent_requests: ceiling(
        "Concurrent requests. Inference, telemetry queries and telemetry exports are counted separately. Absent: no limit.",
      ),
      tokens_per_month: ceiling(
        "Prompt and completion tokens per calendar month (UTC), added together. Absent: no limit.",
        "quota_exceeded",
      ),
      compute_seconds_per_minute: ceiling(
        "Seconds of compute time per minute, on the server's main thread and in the telemetry store. Telemetry queries and telemetry exports are counted separately. Absent: no limit.",
      ),
    } satisfies Record<keyof Limits, unknown>,
    { default: {}, description },
  );

export const limits = Type.Object(
  {
    key: ceilings("For each key without its own limit of this kind."),
    organization: ceilings("For each organization without its own limit of this kind."),
  },
  { default: {}, description: "Default limits of keys and organizations that do not have their own." },
);
export type LimitSettings = Static<typeof limits>;
