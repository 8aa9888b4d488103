/**
 * The sample application: a support desk where an agent answers customers, searches a knowledge base and looks up
 * orders. Attributes follow OpenTelemetry's GenAI conventions
 * (https://github.com/open-telemetry/semantic-conventions-genai).
 */
import {
  callingTool,
  fromAssistant,
  fromTool,
  fromUser,
  inputAttributes,
  outputAttributes,
  type Message,
  type ToolCall,
} from "./messages.ts";
import { callModel, type Model } from "./model-calls.ts";
import type { DemoCount } from "./otlp.ts";
import { recordSpeech, recordTranscription } from "./phone.ts";
import type { Random } from "./random.ts";
import { ActiveSpan, newId, type Recording } from "./recording.ts";
import { apology, stories, type Story, type StoryTurn, type ToolName } from "./stories.ts";

const web = "support-web";
const agents = "support-agents";
const knowledge = "knowledge-base";

/** How often a tool does not respond: the warehouse has a bad day. */
const toolFailures: Readonly<Record<ToolName, number>> = {
  look_up_order: 0.01,
  check_stock: 0.3,
  create_return_label: 0.02,
};
const rejections = ["harassment", "hate", "self-harm", "sexual", "violence", "illicit"] as const;

interface Conversation {
  readonly session: string;
  readonly customer: string;
  readonly topic: string;
  readonly model: Model;
  readonly isByPhone: boolean;
  /** What was said so far. */
  readonly history: Message[];
}

interface Turn extends Conversation {
  readonly turn: number;
  readonly step: StoryTurn;
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
  const story = random.pick(stories);
  const conversation: Conversation = {
    session: `session-${newId(4)}`,
    customer: `customer-${random.integer(1, 40)}`,
    topic: story.topic,
    model: modelFor(story, random),
    isByPhone: random.chance(0.15),
    history: [],
  };
  let at = startMs;
  for (const [index, step] of story.turns.entries()) {
    if (index > 0 && random.chance(0.2)) return;
    at = recordRequest(recording, random, { ...conversation, startMs: at, turn: index + 1, step });
    at += random.durationMs(12_000);
  }
}

function modelFor({ topic }: Story, random: Random): Model {
  if (topic === "vouchers") return "claude-opus-4-1";
  return random.pick(["gpt-4o-mini", "gpt-4o-mini", "gpt-4o-mini", "gpt-4o", "llama-3.3-70b"]);
}

/** One message of a customer, from the web server to the answer; gives the time when it is answered. */
function recordRequest(recording: Recording, random: Random, turn: Turn & { readonly startMs: number }): number {
  const request = ActiveSpan.root(recording, random, {
    service: web,
    name: "POST /chat",
    kind: "server",
    startMs: turn.startMs,
    attributes: {
      "http.request.method": "POST",
      "http.route": "/chat",
      "session.id": turn.session,
      "user.id": turn.customer,
    },
  });
  request.log("info", `message received: ${turn.step.question}`, { "session.id": turn.session, topic: turn.topic });
  request.pass(4);
  if (turn.isByPhone) recordTranscription(request, turn);
  const agent = request.child(agentSpan("Concierge", "ToolUseAgent", turn), (concierge) =>
    runConcierge(concierge, random, turn),
  );
  if (turn.isByPhone && !agent.failed) recordSpeech(request, turn);
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
    "user.id": turn.customer,
  };
  return { service: agents, name: `invoke_agent ${name}`, kind: "internal", attributes } as const;
}

function runConcierge(agent: ActiveSpan, random: Random, turn: Turn): void {
  const { step, history } = turn;
  history.push(fromUser(step.question));
  agent.add(inputAttributes(history.slice(-1)));
  const calls = toolCallsOf(step);
  agent.log("debug", `turn ${turn.turn}: ${calls.map(({ name }) => name).join(", ") || "no tool needed"}`);
  const modelCall = { ...turn, service: agents };
  let failed = false;
  for (const call of calls) {
    const message = callingTool(call);
    const plan = callModel(agent, random, { ...modelCall, purpose: "plan", outputTokens: 60, message });
    if (plan.failed) return agent.fail(plan.span.error ?? "", "upstream_error");
    const outcome = useTool(agent, random, turn, call);
    failed ||= outcome.failed;
    history.push(message, fromTool(call, outcome.response));
  }
  const message = fromAssistant(failed ? apology : step.answer);
  const answer = callModel(agent, random, { ...modelCall, purpose: "answer", outputTokens: 240, message });
  if (answer.failed) return agent.fail(answer.span.error ?? "", "upstream_error");
  history.push(message);
  agent.add(outputAttributes(message, "stop"));
}

function toolCallsOf({ question, passage, tool }: StoryTurn): ToolCall[] {
  const id = (): string => `call_${newId(6)}`;
  return [
    ...(passage === undefined ? [] : [{ id: id(), name: "search_knowledge_base", arguments: { query: question } }]),
    ...(tool === undefined ? [] : [{ id: id(), name: tool.name, arguments: tool.arguments }]),
  ];
}

interface ToolOutcome {
  /** What the model is told. */
  readonly response: string;
  readonly failed: boolean;
}

function useTool(agent: ActiveSpan, random: Random, turn: Turn, call: ToolCall): ToolOutcome {
  const { passage, tool } = turn.step;
  if (tool !== undefined && call.name === tool.name) return callTool(agent, random, { ...turn, tool, id: call.id });
  agent.child(agentSpan("Librarian", "SearchAgent", turn), (librarian) => runLibrarian(librarian, random, turn));
  return { response: passage ?? "", failed: false };
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
    request.log("debug", `${random.integer(1, 8)} passages found`);
  });
}

interface RunningTool extends Conversation {
  readonly tool: NonNullable<StoryTurn["tool"]>;
  readonly id: string;
}

function callTool(agent: ActiveSpan, random: Random, { tool, id, session }: RunningTool): ToolOutcome {
  const attributes = {
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": tool.name,
    "gen_ai.tool.call.id": id,
    "gen_ai.tool.call.arguments": JSON.stringify(tool.arguments),
    "gen_ai.conversation.id": session,
  };
  const { span, failed } = agent.child(
    { service: agents, name: `execute_tool ${tool.name}`, kind: "internal", attributes },
    (call) => {
      call.pass(120);
      if (!random.chance(toolFailures[tool.name])) return call.add({ "gen_ai.tool.call.result": tool.result });
      call.nowMs += 5000;
      call.fail(`${tool.name} did not respond within 5 s`, "timeout");
      call.log("error", `${tool.name} did not respond within 5 s`, { "gen_ai.tool.name": tool.name });
    },
  );
  return { response: span.error ?? tool.result, failed };
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
