/**
 * The objects of the wire. Generated from the contract by `npm run generate`; do not edit.
 */

/** An organization: the tenant that owns keys, projects and data. */
export interface Organization {
  /** Always `organization`. */
  object: "organization";
  /** Identifier of the organization. */
  id: string;
  /** Name of the organization: 1 to 128 letters, digits, spaces and . _ / : @ -, starting with a letter or a digit. */
  name: string;
  /** Limits. An absent one is not set. */
  limits: {
    /** Requests per minute. Inference, telemetry queries and telemetry exports are counted separately. */
    requests_per_minute?: number;
    /** Prompt and completion tokens per minute, added together. */
    tokens_per_minute?: number;
    /** Concurrent requests. Inference, telemetry queries and telemetry exports are counted separately. */
    concurrent_requests?: number;
    /** Prompt and completion tokens per calendar month (UTC), added together. */
    tokens_per_month?: number;
    /** Seconds of compute time per minute, on the server's main thread and in the telemetry store. Telemetry queries and telemetry exports are counted separately. */
    compute_seconds_per_minute?: number;
  };
  /** Patterns of the model IDs that may be called; `*` matches any text. Null: all models. */
  allowed_models: string[] | null;
  /** Creation, UNIX seconds. */
  created_at: number;
  /** When it was archived, UNIX seconds; null if it is in use. */
  archived_at: number | null;
}

/** A project groups an organization's telemetry and holds its settings. */
export interface Project {
  /** Always `project`. */
  object: "project";
  /** Identifier of the project. */
  id: string;
  /** Identifier of the organization. */
  organization_id: string;
  /** Name of the project: 1 to 128 letters, digits, spaces and . _ / : @ -, starting with a letter or a digit. */
  name: string;
  /** How the project's telemetry is stored. */
  settings: {
    /** Retention of the project's telemetry in days, 1 to 3650. A shorter one also deletes existing telemetry that is older, for good. */
    retention_days: number;
    /** Whether prompts and answers are recorded in telemetry. The header `x-record-content: false` of a call leaves its own out. */
    record_content: boolean;
    /** Share of the calls whose prompts and answers are recorded, in percent, if `record_content` is true. The calls of a conversation are recorded together. Absent: 100. */
    record_content_percent?: number;
    /** Kinds of data that are replaced in the project's telemetry before it is stored, in addition to those of the server's configuration. */
    redact?: ("email" | "card_number" | "phone_number" | "iban" | "api_key")[];
  };
  /** Creation, UNIX seconds. */
  created_at: number;
  /** When it was archived, UNIX seconds; null if it is in use. */
  archived_at: number | null;
}

/** Limits to change: null removes one, absent ones stay unchanged. */
export interface LimitChanges {
  /** Requests per minute. Inference, telemetry queries and telemetry exports are counted separately. */
  requests_per_minute?: number | null;
  /** Prompt and completion tokens per minute, added together. */
  tokens_per_minute?: number | null;
  /** Concurrent requests. Inference, telemetry queries and telemetry exports are counted separately. */
  concurrent_requests?: number | null;
  /** Prompt and completion tokens per calendar month (UTC), added together. */
  tokens_per_month?: number | null;
  /** Seconds of compute time per minute, on the server's main thread and in the telemetry store. Telemetry queries and telemetry exports are counted separately. */
  compute_seconds_per_minute?: number | null;
}

/** Limits with their current usage. */
export interface Usage {
  /** Always `usage`. */
  object: "usage";
  /** Identifier of the key or the organization. */
  id: string;
  /** The limits, whether they are set or not. */
  data: {
    /** The limit. */
    limit:
      | "requests_per_minute"
      | "tokens_per_minute"
      | "concurrent_requests"
      | "tokens_per_month"
      | "compute_seconds_per_minute";
    /** What counts: calls of models, telemetry queries or telemetry exports. */
    applies_to: "inference" | "queries" | "exports";
    /** The limit of the key or organization, otherwise the configuration's; null if none is set. */
    value: number | null;
    /** Current usage. Null if it is not counted: rates and compute seconds are counted only while a limit is set. */
    used: number | null;
    /** What remains; null if there is no limit or the usage is not counted. */
    remaining: number | null;
    /** When all of the limit is available again if no further request arrives, UNIX seconds: for tokens per month the start of the next month. Null if it is available now, or unknown. */
    resets_at: number | null;
  }[];
}

/** A model and where its calls go. */
export interface RoutedModel {
  /** Always `routed_model`. */
  object: "routed_model";
  /** Model ID. */
  id: string;
  /** Other IDs of the model. */
  aliases: string[];
  /** Whether the model is configured under `models`; otherwise it was discovered. */
  configured: boolean;
  /** Whether `GET /v1/models` omits the model. */
  hidden: boolean;
  /** What the model may be called for. */
  capabilities: ("chat" | "speech" | "transcription" | "embeddings")[];
  /** As in `GET /v1/models`: the best state of the targets. */
  state: "ready" | "not_loaded" | "unavailable";
  /** Why the model is unavailable; otherwise null. */
  state_reason: string | null;
  /** The engines and models that serve it. */
  targets: {
    /** Name of the engine. */
    engine: string;
    /** The model's name at the engine. */
    model: string;
    /** Share of the calls, relative to the other targets. */
    weight: number;
    /** Fraction of its weight that the target gets: less than 1 for a while after it was out of service. */
    share: number;
    /** Maximum number of calls in flight; null if there is no limit. */
    max_concurrent: number | null;
    /** Calls in flight, from all models that lead to the target. */
    calls_in_flight: number;
    /** `closed`: in service; `open`: out of service after repeated failures; `half_open`: one call is probing it. */
    circuit: "closed" | "open" | "half_open";
    /** When a call may probe a target that is out of service, UNIX seconds; otherwise null. */
    retry_at: number | null;
    /** End of the pause that the engine requested (`Retry-After`), UNIX seconds, or null. */
    paused_until: number | null;
    /** The newest failure of the engine, kept after later successes; null if there was none. Errors in callers' requests are only counted. */
    last_error: {
      /** Code of the error, as in error responses. */
      code: string;
      /** Message of the error. */
      message: string;
      /** When the call failed, UNIX seconds. */
      at: number;
    } | null;
    /** Attempts at the target that this server made recently, for all organizations. */
    recent: {
      /** Length of the window in seconds. */
      window_seconds: number;
      /** Number of attempts, without those that the caller cancelled. */
      calls: number;
      /** Failed attempts by code, most frequent first. */
      errors: {
        /** Code of the error, as in error responses. */
        code: string;
        /** Number of attempts that failed with it. */
        count: number;
      }[];
      /** Time until the response, or until the first chunk of a stream, within 5 %; null if there was none in the window. */
      latency_ms: {
        /** Median in milliseconds. */
        p50: number;
        /** 95th percentile in milliseconds. */
        p95: number;
      } | null;
    };
  }[];
  /** IDs of the models that are tried next, in this order. */
  fallbacks: string[];
  /** Retries after a failed attempt. */
  retries: {
    /** Maximum number of retries. */
    attempts: number;
    /** Wait before the first retry, milliseconds. */
    backoff_ms: number;
    /** Longest wait between two attempts, milliseconds. */
    max_backoff_ms: number;
  };
}

/** An engine. */
export interface EngineStatus {
  /** Always `engine`. */
  object: "engine";
  /** Name of the engine. */
  name: string;
  /** Type of the engine. */
  type: string;
  /** Whether it is configured under `engines`; otherwise it was discovered. */
  configured: boolean;
  /** Number of models that it listed; null if it has not listed any yet. */
  models: number | null;
  /** Why the engine did not list its models at the last refresh; otherwise null. */
  error: {
    /** Code of the error, as in error responses. */
    code: string;
    /** Message of the error. */
    message: string;
  } | null;
}
