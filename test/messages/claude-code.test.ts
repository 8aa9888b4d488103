/**
 * Claude Code, unchanged, performs a task with tool calls: it writes a file, reads it, and answers. Once over an upstream of
 * Anthropic, once over one that speaks only chat completions.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, test } from "node:test";
import type { JsonObject } from "../../packages/server/src/json-object.ts";
import type { ScriptedExchange, Script } from "../../packages/server/test/support/scripted-upstream.ts";
import { beforeTests } from "../support/hooks.ts";
import {
  anthropicMessage,
  chatChunk,
  chatUsage,
  startMessagesServer,
  startUsage,
  toChatWire,
  toWire,
  type MessagesServer,
} from "../support/messages-server.ts";
import { agentProgram, needs } from "../support/needs.ts";
import { repository } from "../support/served-process.ts";

/** One step of the task: a tool call, or the last words. */
interface Step {
  readonly tool?: { readonly name: string; readonly input: object };
  readonly text: string;
}

function stepsIn(folder: string): Step[] {
  const path = join(folder, "fathom.txt");
  return [
    { text: "I write the file.", tool: { name: "Write", input: { file_path: path, content: "Six feet.\n" } } },
    { text: "I read it.", tool: { name: "Read", input: { file_path: path } } },
    { text: "The file says: Six feet." },
  ];
}

function anthropicEventsOf({ text: said, tool }: Step, index: number): Parameters<typeof toWire>[0] {
  const whole = anthropicMessage([]);
  const delta = (at: number, value: object) => ({ type: "content_block_delta", index: at, delta: value });
  const start = (at: number, block: object) => ({ type: "content_block_start", index: at, content_block: block });
  const stop = (at: number) => ({ type: "content_block_stop", index: at });
  return [
    { type: "message_start", message: { ...whole, id: `msg_${index}`, stop_reason: null, usage: startUsage } },
    start(0, { type: "thinking", thinking: "", signature: "" }),
    delta(0, { type: "thinking_delta", thinking: `Step ${index}.` }),
    delta(0, { type: "signature_delta", signature: `c2lnbmF0dXJl${index}` }),
    stop(0),
    start(1, { type: "text", text: "" }),
    delta(1, { type: "text_delta", text: said }),
    stop(1),
    ...(tool === undefined
      ? []
      : [
          start(2, { type: "tool_use", id: `toolu_${index}`, name: tool.name, input: {} }),
          delta(2, { type: "input_json_delta", partial_json: JSON.stringify(tool.input) }),
          stop(2),
        ]),
    {
      type: "message_delta",
      delta: { stop_reason: tool === undefined ? "end_turn" : "tool_use", stop_sequence: null },
      usage: { output_tokens: 25 },
    },
    { type: "message_stop" },
  ];
}

function chatChunksOf({ text: said, tool }: Step, index: number): (object | string)[] {
  const called = tool && { name: tool.name, arguments: JSON.stringify(tool.input) };
  return [
    chatChunk({ role: "assistant", reasoning_content: `Step ${index}.` }),
    chatChunk({ content: said }),
    ...(called === undefined
      ? [chatChunk({}, "stop")]
      : [
          chatChunk({ tool_calls: [{ index: 0, id: `call_${index}`, type: "function", function: called }] }),
          chatChunk({}, "tool_calls"),
        ]),
    { ...chatChunk({}), choices: [], usage: chatUsage },
    "[DONE]",
  ];
}

/** Answers the agent's calls, which have tools, step by step. */
function scriptOf(folder: string, answer: (step: Step, index: number) => string): Script {
  const steps = stepsIn(folder);
  let next = 0;
  return async (exchange) => {
    const { tools } = exchange.json as { tools?: unknown[] };
    const isStep = (tools?.length ?? 0) > 0;
    const index = isStep ? next++ : steps.length - 1;
    exchange.beginEvents();
    await exchange.send(answer(steps[Math.min(index, steps.length - 1)]!, index));
    exchange.end();
  };
}

interface Outcome extends JsonObject {
  readonly result: string;
  readonly usage: JsonObject;
}

const page = await readFile(join(repository, "docs/use/coding-agents.md"), "utf8");
const quiet = { DISABLE_TELEMETRY: "1", CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1" };

/** The page's variables of the shell, with this server's address and key. */
function shellVariables({ server }: MessagesServer): Record<string, string> {
  const lines = page.matchAll(/^export (?<name>\w+)=(?<value>.*)$/gm);
  const given = Object.fromEntries([...lines].map(({ groups }) => [groups!["name"]!, groups!["value"]!]));
  assert.deepEqual(Object.keys(given), ["ANTHROPIC_BASE_URL", "ANTHROPIC_AUTH_TOKEN"]);
  return { ...given, ANTHROPIC_BASE_URL: server.url, ANTHROPIC_AUTH_TOKEN: server.key };
}

/** The page's settings, likewise. */
function settingsFile({ server }: MessagesServer): string {
  const { json } = /^```json\n(?<json>.*?)^```$/ms.exec(page)!.groups!;
  return json!.replace("http://127.0.0.1:4141", server.url).replace("sk-…", server.key);
}

interface AgentRun {
  readonly args?: readonly string[];
  readonly variables?: Readonly<Record<string, string>>;
  readonly folder: string;
  readonly home: string;
}

/** Runs Claude Code with nothing of this machine's user. */
async function runAgent({ args = [], folder, home, variables = {} }: AgentRun): Promise<Outcome> {
  const asked = ["-p", "Write fathom.txt, and read it.", "--permission-mode", "acceptEdits", "--output-format", "json"];
  const child = spawn(agentProgram("claude")!, [...asked, ...args], {
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: process.env["PATH"], HOME: home, ...quiet, ...variables },
  });
  const [output, complaints] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  assert.equal(child.exitCode, 0, output + complaints);
  return JSON.parse(output) as Outcome;
}

type Message = { readonly role: string; readonly content: unknown } & JsonObject;

const messagesOf = (exchange: ScriptedExchange | undefined): Message[] =>
  (exchange!.json as { messages: Message[] }).messages;

describe("Claude Code", { skip: needs("claude-code"), timeout: 240_000 }, () => {
  let setting: MessagesServer;
  let home: string;
  beforeTests(async (stack) => {
    home = await mkdtemp(join(tmpdir(), "sounding-home-"));
    stack.defer(() => rm(home, { recursive: true, force: true }));
    setting = stack.use(await startMessagesServer());
  });

  async function perform(
    model: "claude" | "assistant",
    configured: Partial<AgentRun>,
  ): Promise<{ outcome: Outcome; exchanges: ScriptedExchange[] }> {
    const folder = await mkdtemp(join(tmpdir(), "sounding-task-"));
    const upstream = model === "claude" ? setting.anthropic : setting.chat;
    upstream.script = scriptOf(folder, (step, index) =>
      model === "claude" ? toWire(anthropicEventsOf(step, index)) : toChatWire(chatChunksOf(step, index)),
    );
    try {
      const outcome = await runAgent({ folder, home, ...configured });
      assert.equal(await readFile(join(folder, "fathom.txt"), "utf8"), "Six feet.\n");
      assert.deepEqual(upstream.faults, []);
      return { outcome, exchanges: upstream.exchanges.filter(({ body }) => body.includes('"tools"')) };
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  test("performs a task over an upstream of Anthropic, which gets its calls unchanged, with the page's variables", async () => {
    const { exchanges, outcome } = await perform("claude", {
      args: ["--model", "claude"],
      variables: shellVariables(setting),
    });
    assert.deepEqual([outcome["subtype"], outcome.result], ["success", "The file says: Six feet."]);
    assert.equal(exchanges.length, 3);
    const { headers, json } = exchanges[2]!;
    assert.match(String(headers["anthropic-beta"]), /claude-code/);
    const { model, system } = json as { model: string; system: JsonObject[] };
    assert.equal(model, "claude-upstream");
    assert.ok(
      system.some((block) => "cache_control" in block),
      "the marks of the prompt cache",
    );
    const assistants = messagesOf(exchanges[2]).filter(({ role }) => role === "assistant");
    const signatures = assistants.map(({ content }) => (content as JsonObject[])[0]?.["signature"]);
    assert.deepEqual(signatures, ["c2lnbmF0dXJl0", "c2lnbmF0dXJl1"]);
    assert.equal(outcome.usage["cache_read_input_tokens"], 3 * startUsage.cache_read_input_tokens);
  });

  test("performs a task over an upstream of chat completions, with the page's settings", async () => {
    await mkdir(join(home, ".claude"), { recursive: true });
    await writeFile(join(home, ".claude/settings.json"), settingsFile(setting));
    const { exchanges, outcome } = await perform("assistant", {});
    assert.deepEqual([outcome["subtype"], outcome.result], ["success", "The file says: Six feet."]);
    assert.equal(exchanges.length, 3);
    const messages = messagesOf(exchanges[2]);
    assert.equal(messages[0]?.role, "system");
    const assistants = messages.filter(({ role }) => role === "assistant");
    assert.deepEqual(
      assistants.map((message) => message["reasoning_content"]),
      ["Step 0.", "Step 1."],
      "the reasoning comes back",
    );
    const results = messages.filter(({ role }) => role === "tool");
    assert.deepEqual(
      results.map((message) => message["tool_call_id"]),
      ["call_0", "call_1"],
    );
    assert.match(String(results[1]?.content), /Six feet\./);
    // What was sent before is the beginning of what is sent now: the upstream's prompt cache depends on it.
    const before = messagesOf(exchanges[1]);
    assert.deepEqual(messages.slice(0, before.length), before);
    assert.deepEqual(
      [outcome.usage["input_tokens"], outcome.usage["cache_read_input_tokens"], outcome.usage["output_tokens"]],
      [3 * 40, 3 * 60, 3 * 25],
    );
  });
});
