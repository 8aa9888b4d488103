/** The time limits that every engine behind a network has, and that a target may set for itself. */
import { Type, type Static, type TObject } from "typebox";

interface TimeLimit {
  readonly defaultMs: number;
  readonly meaning: string;
}

const timeLimits = {
  connect_timeout_ms: { defaultMs: 5_000, meaning: "Longest wait for a connection to the engine." },
  first_byte_timeout_ms: { defaultMs: 120_000, meaning: "Longest wait for the first frame of a stream." },
  idle_timeout_ms: { defaultMs: 60_000, meaning: "Longest silence between two frames of a stream." },
  total_timeout_ms: { defaultMs: 600_000, meaning: "Longest time for one call, from its start to its end." },
} as const satisfies Record<string, TimeLimit>;

const range = { minimum: 1, maximum: 86_400_000 };

const withDefault = ({ defaultMs, meaning }: TimeLimit) =>
  Type.Integer({ ...range, default: defaultMs, description: meaning });

const override = ({ meaning }: TimeLimit) => Type.Optional(Type.Integer({ ...range, description: meaning }));

/** Members of an engine's settings. */
export const engineTimeouts = {
  connect_timeout_ms: withDefault(timeLimits.connect_timeout_ms),
  first_byte_timeout_ms: withDefault(timeLimits.first_byte_timeout_ms),
  idle_timeout_ms: withDefault(timeLimits.idle_timeout_ms),
  total_timeout_ms: withDefault(timeLimits.total_timeout_ms),
};

export type EngineTimeouts = Static<TObject<typeof engineTimeouts>>;

/** The same names for one target; an absent one leaves the engine's own. */
export const targetTimeouts = {
  connect_timeout_ms: override(timeLimits.connect_timeout_ms),
  first_byte_timeout_ms: override(timeLimits.first_byte_timeout_ms),
  idle_timeout_ms: override(timeLimits.idle_timeout_ms),
  total_timeout_ms: override(timeLimits.total_timeout_ms),
};
export type TargetTimeouts = Static<TObject<typeof targetTimeouts>>;
