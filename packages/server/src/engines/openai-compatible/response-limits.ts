/** Limits an engine's chat responses, so that none blocks the event loop while it is normalized. */
import { inputLimit } from "../../input-limits.ts";

export const maxEventValues = inputLimit({
  area: "Chat completions",
  bounds: "JSON values and member names in one event of an engine's stream",
  value: 262_144,
  error: "upstream_failed",
});
/** The maximum of `n` in requests. */
export const maxChoices = inputLimit({
  area: "Chat completions",
  bounds: "Choices in an engine's response",
  value: 128,
  error: "upstream_failed",
});
export const maxToolCalls = inputLimit({
  area: "Chat completions",
  bounds: "Tool calls in one choice of an engine's response",
  value: 1_024,
  error: "upstream_failed",
});
