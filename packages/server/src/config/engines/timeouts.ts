/** The time limits that every engine behind a network has. */
import { Type } from "typebox";

const milliseconds = (defaultMs: number, description: string) =>
  Type.Optional(Type.Integer({ minimum: 1, maximum: 86_400_000, default: defaultMs, description }));

export const engineTimeouts = {
  connect_timeout_ms: milliseconds(5_000, "Longest wait for a connection to the engine."),
  first_byte_timeout_ms: milliseconds(120_000, "Longest wait for the first frame of a stream."),
  idle_timeout_ms: milliseconds(60_000, "Longest silence between two frames of a stream."),
  total_timeout_ms: milliseconds(600_000, "Longest time for one call, from its start to its end."),
};
