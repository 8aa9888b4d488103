/** Default limits of keys and organizations without their own: `limits` of the configuration file. */
import { Type, type Static } from "typebox";
import type { ErrorCode } from "../errors.ts";
import { limitsInput } from "../input-limits.ts";
import type { Limits } from "../tenant.ts";
import { milliseconds, secret } from "./setting-types.ts";

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

/** How servers share limits. */
const shared = Type.Object(
  {
    backend: Type.Enum(["none", "postgres", "valkey"], {
      default: "none",
      description:
        "What counts for all servers. `none`: each server counts alone. `postgres`: the database of `storage.database_url`. `valkey`: Valkey or Redis at `valkey_url`.",
    }),
    valkey_url: Type.Optional(
      secret(
        "Valkey 7.2 or Redis 6.2, or later: `redis://user:password@host:6379/0`; with TLS `rediss://`. `valkey://` and `valkeys://` mean the same.",
        { env: "SOUNDING_VALKEY_URL", pattern: "^(redis|valkey)s?://" },
      ),
    ),
    when_unreachable: Type.Enum(["allow", "refuse"], {
      default: "allow",
      description:
        "What happens while the backend cannot be reached. `allow`: each server counts alone. `refuse`: calls with a limit are refused with 503.",
    }),
    timeout_ms: milliseconds(
      250,
      "How long a call waits for the backend. After that the backend counts as unreachable until it answers again.",
    ),
  },
  {
    default: {},
    description: "How several servers count together. Monthly budgets are always shared through the control database.",
  },
);

export const limits = Type.Object(
  {
    key: ceilings("For each key without its own limit of this kind."),
    organization: ceilings("For each organization without its own limit of this kind."),
    shared,
    budget_output_tokens: Type.Integer({
      minimum: 1,
      maximum: 10_000_000,
      default: 4_096,
      description:
        "Output tokens for which budgets reserve money if a call does not limit its output, such as by `max_tokens`, and `max_output_tokens` does not have its model. A call that generates more can exceed a budget by the difference.",
    }),
    max_output_tokens: Type.Record(
      Type.String({ minLength: 1 }),
      Type.Integer({ minimum: 1, maximum: 10_000_000, description: "The most tokens that the model generates." }),
      {
        default: {},
        maxProperties: 1000,
        description:
          "The most tokens that models generate in one answer, by `engine/model` or model ID: budgets reserve money for them if a call does not limit its output.",
      },
    ),
  },
  {
    default: {},
    description:
      "Default limits of keys and organizations that do not have their own, and how servers share limits. Changes take effect without a restart, except those of `shared`.",
  },
);
export type LimitSettings = Static<typeof limits>;
