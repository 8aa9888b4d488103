/** Values that a JSON Schema admits, or nearly: members may be absent, and numbers and lengths are at their bounds. */
import type { FieldSchema } from "../../scripts/field-limits.ts";
import type { Random } from "./random.ts";

/** Valid values for a member of this name, so that requests pass validation. */
const words: Readonly<Record<string, readonly unknown[]>> = {
  model: ["sounding-trial", "sounding-trial", "flite", "scripted-chat", "no-such-model"],
  voice: ["slt", "rms", "alloy", "en-US-JennyNeural"],
  input: ["Hello, world.", "Dr. Lee paid $3.50, twice."],
  content: ["Hello!", "Say hello.", "\u202Eolleh"],
  role: ["user", "user", "system", "assistant", "tool", "developer"],
  max_tokens: [1, 4, 16],
  max_completion_tokens: [1, 4, 16],
  n: [1, 1, 2, 8],
  metric: ["token_consumption", "inference_requests_total", "p95_latency"],
  trace: ["all_traces", "inference_traces", "error_traces", "slow_traces"],
  time_window: ["1h", "15m", "24h", "100w", "1ms"],
  step: ["1m", "15m", "1ms", "1h"],
  severity: ["error", "info", "warn"],
  trace_id: ["00112233445566778899aabbccddeeff", "zz"],
  timeout: [1, 5, 0.001],
};

export function schemaValue(schema: FieldSchema, random: Random, name = "", depth = 0): unknown {
  if (words[name] !== undefined && random.chance(0.9)) return random.pick(words[name]);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return random.pick(schema.enum);
  if (schema.anyOf !== undefined) {
    const branches = schema.anyOf.filter(({ type }) => type !== "null" || random.chance(0.1));
    return schemaValue(random.pick(branches.length === 0 ? schema.anyOf : branches), random, name, depth);
  }
  switch (schema.type) {
    case "null":
      return null;
    case "boolean":
      return random.chance(0.5);
    case "integer":
      return Math.round(numberOf(schema, random));
    case "number":
      return numberOf(schema, random);
    case "string":
      return "a".repeat(random.size(Math.min(schema.maxLength ?? 300, 300)));
    case "array": {
      const length = random.size(Math.min(schema.maxItems ?? 6, 6));
      return Array.from({ length }, () => schemaValue(schema.items ?? {}, random, name, depth + 1));
    }
    case "object": {
      const members = Object.entries(schema.properties ?? {}).filter(
        ([member]) => schema.required?.includes(member) === true || random.chance(depth === 0 ? 0.2 : 0.4),
      );
      return Object.fromEntries(
        members.map(([member, inner]) => [member, schemaValue(inner, random, member, depth + 1)]),
      );
    }
    default:
      return random.pick([1, "x", null, true, [], {}]);
  }
}

function numberOf({ minimum = -10, maximum = 100 }: FieldSchema, random: Random): number {
  const high = Math.min(maximum, 1e6);
  if (random.chance(0.3)) return random.pick([minimum, high, minimum - 1, high + 1]);
  return minimum + (random.uint32() / 2 ** 32) * (high - minimum);
}
