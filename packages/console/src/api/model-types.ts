/**
 * The objects of the wire. Generated from the contract by `npm run generate`; do not edit.
 */

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
