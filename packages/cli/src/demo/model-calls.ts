/** The models of the sample support desk, and calls of them. */
import { inputAttributes, outputAttributes, type Message } from "./messages.ts";
import type { Random } from "./random.ts";
import type { ActiveSpan } from "./recording.ts";
import { instructions } from "./stories.ts";

/** One model answers most questions; another is slow, and the one for complaints is costly. */
const models = {
  "gpt-4o-mini": { provider: "openai", medianMs: 600 },
  "gpt-4o": { provider: "openai", medianMs: 1400 },
  "claude-opus-4-1": { provider: "anthropic", medianMs: 3200 },
  "llama-3.3-70b": { provider: "vllm", medianMs: 7500 },
} as const;
export type Model = keyof typeof models;

export interface ModelCall {
  readonly service: string;
  readonly model: Model;
  readonly session: string;
  readonly customer: string;
  readonly turn: number;
  /** What the model is given. */
  readonly history: readonly Message[];
  readonly purpose: "plan" | "answer";
  /** What the model answers. */
  readonly message: Message;
  /** About how many. */
  readonly outputTokens: number;
}

/** One call of a model; a rate limit is met by another try. */
export function callModel(agent: ActiveSpan, random: Random, call: ModelCall): ActiveSpan {
  let attempt = tryModel(agent, random, call);
  if (attempt.span.attributes["error.type"] !== "429") return attempt;
  agent.log("warn", `${call.model} is rate limited; retrying`, { "gen_ai.request.model": call.model });
  agent.pass(800);
  attempt = tryModel(agent, random, call);
  return attempt;
}

function tryModel(agent: ActiveSpan, random: Random, call: ModelCall): ActiveSpan {
  const { provider, medianMs } = models[call.model];
  const attributes = {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": provider,
    "gen_ai.request.model": call.model,
    "gen_ai.conversation.id": call.session,
    "user.id": call.customer,
    "gen_ai.request.temperature": call.purpose === "plan" ? 0 : 0.7,
    ...inputAttributes(call.history, instructions),
  };
  return agent.child({ service: call.service, name: `chat ${call.model}`, kind: "client", attributes }, (span) => {
    const fate = random.next();
    if (fate < 0.03) {
      span.pass(90);
      span.fail("the model's rate limit was reached", "429");
      return;
    }
    const calledMs = span.nowMs;
    span.pass(medianMs);
    if (fate < 0.036) {
      span.fail("the model's server failed", "503");
      span.log("error", `${call.model}: the model's server failed`, { "gen_ai.request.model": call.model });
      return;
    }
    const rejected = fate > 0.985;
    const inputTokens = Math.round(random.durationMs(700 + 300 * call.turn));
    span.add({
      "gen_ai.response.model": call.model,
      "gen_ai.usage.input_tokens": inputTokens,
      // Later turns repeat what the provider has cached.
      "gen_ai.usage.cache_read.input_tokens": call.turn > 1 ? Math.round(inputTokens * 0.6) : undefined,
      "gen_ai.usage.output_tokens": rejected ? 0 : Math.round(random.durationMs(call.outputTokens)),
      "gen_ai.response.finish_reason": rejected ? "content_filter" : "stop",
    });
    if (!rejected) span.add(outputAttributes(call.message, call.purpose === "plan" ? "tool_call" : "stop"));
    // Customers read answers while they are generated.
    if (call.purpose === "answer") {
      span.add({ "gen_ai.response.time_to_first_chunk": ((span.nowMs - calledMs) * 0.15) / 1000 });
    }
    if (rejected) span.log("warn", "the response was blocked by the content filter");
  });
}
