/**
 * Codex, unchanged, performs a task with a tool call: it writes a file and reads it, and answers. Once over an upstream that
 * speaks the Responses API, once over one that speaks only chat completions.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, test } from "node:test";
import type { JsonObject } from "../../packages/server/src/json-object.ts";
import type { Script } from "../../packages/server/test/support/scripted-upstream.ts";
import { beforeTests } from "../support/hooks.ts";
import { chatChunk, chatUsage, toChatWire } from "../support/messages-server.ts";
import { agentProgram, needs } from "../support/needs.ts";
import {
  openAiResponse,
  startResponsesServer,
  toResponsesWire,
  type ResponsesServer,
} from "../support/responses-server.ts";

const command = JSON.stringify({ cmd: "echo 'Six feet.' > fathom.txt && cat fathom.txt" });
const answer = "The file says: Six feet.";
/** The configuration of docs/chat/coding-agents.md. */
const configuration = (url: string, model: string): string => `
model = "${model}"
model_provider = "sounding"
web_search = "disabled"

[model_providers.sounding]
name = "Sounding"
base_url = "${url}/v1"
env_key = "SOUNDING_API_KEY"
wire_api = "responses"
`;

function chatScript(): Script {
  let next = 0;
  return async (exchange) => {
    const call = { index: 0, id: "call_0", type: "function", function: { name: "exec_command", arguments: command } };
    const isFirst = next++ === 0;
    exchange.beginEvents();
    await exchange.send(
      toChatWire([
        chatChunk({ role: "assistant", reasoning_content: "Hm." }),
        chatChunk(isFirst ? { content: "I write it." } : { content: answer }),
        ...(isFirst ? [chatChunk({ tool_calls: [call] })] : []),
        chatChunk({}, isFirst ? "tool_calls" : "stop"),
        { ...chatChunk({}), choices: [], usage: chatUsage },
        "[DONE]",
      ]),
    );
    exchange.end();
  };
}

function responsesScript(): Script {
  let next = 0;
  return async (exchange) => {
    const isFirst = next++ === 0;
    const content = [{ type: "output_text", text: answer, annotations: [], logprobs: [] }];
    const item = isFirst
      ? {
          id: "fc_0",
          type: "function_call",
          status: "completed",
          call_id: "call_0",
          name: "exec_command",
          arguments: command,
        }
      : { id: "msg_0", type: "message", status: "completed", role: "assistant", content };
    const response = openAiResponse({ id: `resp_upstream_${next}`, output: [item] });
    const events = [
      { type: "response.created", response: { ...response, status: "in_progress", output: [], usage: null } },
      { type: "response.output_item.added", output_index: 0, item: { ...item, status: "in_progress" } },
      { type: "response.output_item.done", output_index: 0, item },
      { type: "response.completed", response },
    ];
    exchange.beginEvents();
    await exchange.send(toResponsesWire(events.map((event, sequence_number) => ({ ...event, sequence_number }))));
    exchange.end();
  };
}

describe("Codex", { skip: needs("codex"), timeout: 240_000 }, () => {
  let setting: ResponsesServer;
  beforeTests(async (stack) => {
    setting = stack.use(await startResponsesServer());
    setting.chat.script = chatScript();
    setting.responses.script = responsesScript();
  });

  for (const [model, name] of [
    ["native", "an upstream of the Responses API"],
    ["assistant", "an upstream of chat completions"],
  ] as const) {
    test(`performs a task over ${name}`, async () => {
      const folder = await mkdtemp(join(tmpdir(), "sounding-task-"));
      const home = await mkdtemp(join(tmpdir(), "sounding-home-"));
      try {
        await writeFile(join(home, "config.toml"), configuration(setting.server.url, model));
        const args = [
          "exec",
          "--skip-git-repo-check",
          "--sandbox",
          "danger-full-access",
          "--json",
          "Write fathom.txt, and read it.",
        ];
        const child = spawn(agentProgram("codex")!, args, {
          cwd: folder,
          stdio: ["ignore", "pipe", "pipe"],
          env: { PATH: process.env["PATH"], HOME: home, CODEX_HOME: home, SOUNDING_API_KEY: setting.server.key },
        });
        const [output, complaints] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
        assert.equal(child.exitCode, 0, output + complaints);
        assert.equal(await readFile(join(folder, "fathom.txt"), "utf8"), "Six feet.\n");
        const events = output
          .trim()
          .split("\n")
          .map((line) => JSON.parse(line) as JsonObject);
        const said = events
          .map(({ item }) => item as JsonObject | undefined)
          .findLast((item) => item?.["type"] === "agent_message");
        assert.equal(said!["text"], answer);
        const { usage } = events.at(-1) as { usage: JsonObject };
        assert.deepEqual([usage["input_tokens"], usage["cached_input_tokens"], usage["output_tokens"]], [200, 120, 50]);
      } finally {
        for (const each of [folder, home]) await rm(each, { recursive: true, force: true });
      }
    });
  }

  test("gets the results of its tools to the model, and its session to telemetry", async () => {
    const { messages } = setting.chat.exchanges.at(-1)!.json as { messages: JsonObject[] };
    const [call, result] = messages.slice(-2);
    assert.deepEqual([call!["role"], call!["reasoning_content"], result!["role"]], ["assistant", "Hm.", "tool"]);
    assert.match(String(result!["content"]), /Six feet\./);
    const { input } = setting.responses.exchanges.at(-1)!.json as { input: JsonObject[] };
    assert.equal(input.at(-1)!["type"], "function_call_output");
  });
});
