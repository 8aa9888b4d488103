/**
 * The objects of the wire. Generated from the contract by `npm run generate`; do not edit.
 */

/** An API key without its secret. */
export interface Key {
  /** Always `key`. */
  object: "key";
  /** Identifier of the key. */
  id: string;
  /** Identifier of the organization. */
  organization_id: string;
  /** Identifier of the project that the key is bound to; null if it is not bound to one. */
  project_id: string | null;
  /** Name of the key: 1 to 128 letters, digits, spaces and . _ / : @ -, starting with a letter or a digit. */
  name: string;
  /** First and last characters of the secret, to recognize the key by. */
  redacted_secret: string;
  /** The key's permissions; empty if it has a role. */
  permissions: (
    | "inference"
    | "models_read"
    | "telemetry_write"
    | "telemetry_read"
    | "content_read"
    | "spend_read"
    | "configuration_read"
    | "personal_keys"
    | "admin"
    | "owner"
    | "provision"
  )[];
  /** The key's role instead of permissions: a built-in one, or the identifier of one of the organization's; null if it has permissions. */
  role: string | null;
  /** Whose personal key it is; null for a key of a service. */
  person_id: string | null;
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
  /** False: prompts and answers of the key's calls are not recorded, whatever the settings of the project are. True: the project decides. */
  record_content: boolean;
  /** Whether the key may administer all organizations (an operator key). */
  operator: boolean;
  /** Creation, UNIX seconds. */
  created_at: number;
  /** When the key expires, UNIX seconds; null if never. */
  expires_at: number | null;
  /** When it was revoked, UNIX seconds; null if it was not. */
  revoked_at: number | null;
  /** When it was last used, UNIX seconds, to the minute; null if never. */
  last_used_at: number | null;
}

/** A new API key with its secret. */
export interface KeyWithSecret {
  /** Always `key`. */
  object: "key";
  /** Identifier of the key. */
  id: string;
  /** Identifier of the organization. */
  organization_id: string;
  /** Identifier of the project that the key is bound to; null if it is not bound to one. */
  project_id: string | null;
  /** Name of the key: 1 to 128 letters, digits, spaces and . _ / : @ -, starting with a letter or a digit. */
  name: string;
  /** First and last characters of the secret, to recognize the key by. */
  redacted_secret: string;
  /** The key's permissions; empty if it has a role. */
  permissions: (
    | "inference"
    | "models_read"
    | "telemetry_write"
    | "telemetry_read"
    | "content_read"
    | "spend_read"
    | "configuration_read"
    | "personal_keys"
    | "admin"
    | "owner"
    | "provision"
  )[];
  /** The key's role instead of permissions: a built-in one, or the identifier of one of the organization's; null if it has permissions. */
  role: string | null;
  /** Whose personal key it is; null for a key of a service. */
  person_id: string | null;
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
  /** False: prompts and answers of the key's calls are not recorded, whatever the settings of the project are. True: the project decides. */
  record_content: boolean;
  /** Whether the key may administer all organizations (an operator key). */
  operator: boolean;
  /** Creation, UNIX seconds. */
  created_at: number;
  /** When the key expires, UNIX seconds; null if never. */
  expires_at: number | null;
  /** When it was revoked, UNIX seconds; null if it was not. */
  revoked_at: number | null;
  /** When it was last used, UNIX seconds, to the minute; null if never. */
  last_used_at: number | null;
  /** The API key itself, returned only in this response. */
  secret: string;
}
