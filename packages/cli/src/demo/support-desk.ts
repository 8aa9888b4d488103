/**
 * The sample application: a support desk where an agent answers customers, searches a knowledge base and looks up
 * orders. Attributes follow OpenTelemetry's GenAI conventions
 * (https://github.com/open-telemetry/semantic-conventions-genai).
 */
import type { DemoCount } from "./otlp.ts";
import type { Random } from "./random.ts";
import { ActiveSpan, newId, type Recording } from "./recording.ts";

const web = "support-web";
const agents = "support-agents";
const knowledge = "knowledge-base";

const models = {
  "gpt-4o": { provider: "openai", medianMs: 1400 },
  "gpt-4o-mini": { provider: "openai", medianMs: 600 },
  "claude-sonnet-4-5": { provider: "anthropic", medianMs: 1900 },
} as const;
type Model = keyof typeof models;

const questions = [
  "Where is my order?",
  "I want to return a pair of shoes.",
  "The invoice has the wrong address.",
  "Can I change my delivery date?",
  "My voucher does not work.",
  "How do I reset my password?",
] as const;
const rejections = ["harassment", "hate", "self-harm", "sexual", "violence", "illicit"] as const;

interface Turn {
  readonly session: string;
  readonly turn: number;
  readonly model: Model;
}

/** An hour of the support desk up to `endMs`. */
export function recordHour(random: Random, endMs: number): Recording {
  const recording: Recording = { spans: [], logs: [], counts: [] };
  const startMs = endMs - 3_600_000;
  for (let at = startMs; ;) {
    at += random.durationMs(30_000);
    if (at > endMs - 90_000) break;
    recordConversation(recording, random, at);
  }
  recording.counts.push(...countMinutes(recording, random, startMs));
  return recording;
}

function recordConversation(recording: Recording, random: Random, startMs: number): void {
  const session = `session-${newId(4)}`;
  const model = random.pick(["gpt-4o", "gpt-4o", "gpt-4o-mini", "claude-sonnet-4-5"] as const);
  let at = startMs;
  for (let turn = 1; turn <= random.integer(1, 4); turn += 1) {
    at = recordRequest(recording, random, { startMs: at, session, turn, model });
    at += random.durationMs(12_000);
  }
}

/** One message of a customer, from the web server to the answer; gives the time when it is answered. */
function recordRequest(recording: Recording, random: Random, turn: Turn & { readonly startMs: number }): number {
  const request = ActiveSpan.root(recording, random, {
    service: web,
    name: "POST /chat",
    kind: "server",
    startMs: turn.startMs,
    attributes: { "http.request.method": "POST", "http.route": "/chat", "session.id": turn.session },
  });
  request.log("info", `message received: ${random.pick(questions)}`, { "session.id": turn.session });
  request.pass(4);
  const agent = request.child(agentSpan("Concierge", "ToolUseAgent", turn), (concierge) =>
    runConcierge(concierge, random, turn),
  );
  request.pass(3);
  const status = agent.failed ? 502 : 200;
  request.add({ "http.response.status_code": status });
  if (agent.failed) {
    request.fail(`the agent failed: ${agent.span.error ?? ""}`, String(status));
    request.log("error", `answered with ${status}: ${agent.span.error ?? ""}`);
  } else {
    request.log("info", `answered in ${Math.round(request.nowMs - turn.startMs)} ms`, { "session.id": turn.session });
  }
  request.end();
  return request.nowMs;
}

function agentSpan(name: string, agentClass: string, turn: Turn) {
  const attributes = {
    "gen_ai.operation.name": "invoke_agent",
    "gen_ai.agent.name": name,
    "agent.class": agentClass,
    "gen_ai.conversation.id": turn.session,
  };
  return { service: agents, name: `invoke_agent ${name}`, kind: "internal", attributes } as const;
}

function runConcierge(agent: ActiveSpan, random: Random, turn: Turn): void {
  agent.log("debug", `turn ${turn.turn}: choosing tools`);
  const plan = callModel(agent, random, { ...turn, purpose: "plan", outputTokens: 60 });
  if (plan.failed) {
    agent.fail(plan.span.error ?? "", "upstream_error");
    return;
  }
  if (random.chance(0.7)) {
    agent.child(agentSpan("Librarian", "SearchAgent", turn), (librarian) => runLibrarian(librarian, random, turn));
  }
  if (random.chance(0.45)) callTool(agent, random, turn);
  const answer = callModel(agent, random, { ...turn, purpose: "answer", outputTokens: 240 });
  if (answer.failed) agent.fail(answer.span.error ?? "", "upstream_error");
}

/** The search agent: embeds the question and asks the knowledge base, another service. */
function runLibrarian(agent: ActiveSpan, random: Random, turn: Turn): void {
  const embedding = {
    "gen_ai.operation.name": "embeddings",
    "gen_ai.provider.name": "openai",
    "gen_ai.request.model": "text-embedding-3-small",
    "gen_ai.usage.input_tokens": random.integer(8, 40),
    "gen_ai.conversation.id": turn.session,
  };
  agent.child(
    { service: agents, name: "embeddings text-embedding-3-small", kind: "client", attributes: embedding },
    (call) => call.pass(70),
  );
  const search = {
    service: knowledge,
    name: "POST /search",
    kind: "server",
    attributes: { "http.route": "/search" },
  } as const;
  agent.child(search, (request) => {
    const query = { "db.system.name": "postgresql", "db.query.summary": "SELECT passages" };
    request.child({ service: knowledge, name: "SELECT passages", kind: "client", attributes: query }, (statement) => {
      statement.pass(18);
      if (random.chance(0.04)) statement.nowMs += random.durationMs(6000);
    });
    const found = random.integer(0, 8);
    if (found === 0) request.log("warn", "no passage matches the question");
    else request.log("debug", `${found} passages found`);
  });
}

function callTool(agent: ActiveSpan, random: Random, turn: Turn): void {
  const tool = random.pick(["look_up_order", "check_stock", "create_return_label"] as const);
  const attributes = {
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": tool,
    "gen_ai.tool.call.id": `call_${newId(6)}`,
    "gen_ai.conversation.id": turn.session,
  };
  agent.child({ service: agents, name: `execute_tool ${tool}`, kind: "internal", attributes }, (call) => {
    call.pass(120);
    if (!random.chance(0.03)) return;
    call.nowMs += 5000;
    call.fail(`${tool} did not respond within 5 s`, "timeout");
    call.log("error", `${tool} did not respond within 5 s`, { "gen_ai.tool.name": tool });
  });
}

interface ModelCall extends Turn {
  readonly purpose: string;
  /** About how many. */
  readonly outputTokens: number;
}

/** One call of a model; a rate limit is met by another try. */
function callModel(agent: ActiveSpan, random: Random, call: ModelCall): ActiveSpan {
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
    "gen_ai.request.temperature": call.purpose === "plan" ? 0 : 0.7,
  };
  return agent.child({ service: agents, name: `chat ${call.model}`, kind: "client", attributes }, (span) => {
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
    span.add({
      "gen_ai.response.model": call.model,
      "gen_ai.usage.input_tokens": Math.round(random.durationMs(700 + 300 * call.turn)),
      "gen_ai.usage.output_tokens": rejected ? 0 : Math.round(random.durationMs(call.outputTokens)),
      "gen_ai.response.finish_reason": rejected ? "content_filter" : "stop",
    });
    // Customers read answers while they are generated.
    if (call.purpose === "answer") {
      span.add({ "gen_ai.response.time_to_first_chunk": ((span.nowMs - calledMs) * 0.15) / 1000 });
    }
    if (rejected) span.log("warn", "the response was blocked by the content filter");
  });
}

/** Counters as the application's own metrics, a point a minute. */
function countMinutes(recording: Recording, random: Random, startMs: number): DemoCount[] {
  const requests = recording.spans.filter(({ name }) => name === "POST /chat");
  const rejected = recording.spans.filter(
    (span) => span.attributes["gen_ai.response.finish_reason"] === "content_filter",
  );
  const counts: DemoCount[] = [];
  for (let minute = 0; minute < 60; minute += 1) {
    const from = startMs + minute * 60_000;
    const to = from + 60_000;
    const within = ({ endMs }: { endMs: number }): boolean => endMs >= from && endMs < to;
    const common = { startMs: from, endMs: to, unit: "1" };
    const answered = requests.filter(within);
    for (const outcome of ["success", "failure"] as const) {
      const count = answered.filter(({ error }) => (error === undefined) === (outcome === "success")).length;
      counts.push({ ...common, service: web, name: "support.messages", count, attributes: { outcome } });
    }
    for (const span of rejected.filter(within)) {
      const attributes = {
        category: random.pick(rejections),
        model_key: String(span.attributes["gen_ai.request.model"]),
      };
      counts.push({ ...common, service: agents, name: "rai_rejection", count: 1, attributes });
    }
  }
  return counts;
}
