/** Settings that all network engines share: request headers and timeouts. */
import { Type, type Static, type TObject } from "typebox";
import { secret } from "../setting-types.ts";

/**
 * Additional request headers. All values are secrets, since any of them may be a credential. A name is a token, a value
 * is visible ASCII: https://www.rfc-editor.org/rfc/rfc9110#section-5.5
 */
export const upstreamHeaders = Type.Record(
  Type.String(),
  secret("The header's value.", { pattern: "^[\\x20-\\x7e]*$" }),
  {
    default: {},
    propertyNames: Type.String({ pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$" }),
    description: "Additional headers of every request to the engine.",
  },
);

interface TimeLimit {
  readonly defaultMs: number;
  readonly meaning: string;
}

const timeLimits = {
  connect_timeout_ms: { defaultMs: 5_000, meaning: "Longest wait for a connection to the engine." },
  first_byte_timeout_ms: { defaultMs: 120_000, meaning: "Longest wait for the first frame of a stream." },
  idle_timeout_ms: { defaultMs: 60_000, meaning: "Longest gap between two frames of a stream." },
  total_timeout_ms: { defaultMs: 600_000, meaning: "Longest total time of one call." },
} as const satisfies Record<string, TimeLimit>;

const range = { minimum: 1, maximum: 86_400_000 };

const withDefault = ({ defaultMs, meaning }: TimeLimit) =>
  Type.Integer({ ...range, default: defaultMs, description: meaning });

const override = ({ meaning }: TimeLimit) => Type.Optional(Type.Integer({ ...range, description: meaning }));

/** Timeout settings of an engine. */
export const engineTimeouts = {
  connect_timeout_ms: withDefault(timeLimits.connect_timeout_ms),
  first_byte_timeout_ms: withDefault(timeLimits.first_byte_timeout_ms),
  idle_timeout_ms: withDefault(timeLimits.idle_timeout_ms),
  total_timeout_ms: withDefault(timeLimits.total_timeout_ms),
};

export type EngineTimeouts = Static<TObject<typeof engineTimeouts>>;

/** The same settings for one target; an absent one falls back to the engine's. */
export const targetTimeouts = {
  connect_timeout_ms: override(timeLimits.connect_timeout_ms),
  first_byte_timeout_ms: override(timeLimits.first_byte_timeout_ms),
  idle_timeout_ms: override(timeLimits.idle_timeout_ms),
  total_timeout_ms: override(timeLimits.total_timeout_ms),
};
export type TargetTimeouts = Static<TObject<typeof targetTimeouts>>;
