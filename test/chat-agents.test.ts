/**
 * Coding agents that speak chat completions, unchanged and with the configuration of docs/use/coding-agents.md: each performs a
 * task with a tool call, that is, it writes a file, reads it, and answers.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, test } from "node:test";
import type { JsonObject } from "../packages/server/src/json-object.ts";
import type { Script } from "../packages/server/test/support/scripted-upstream.ts";
import { beforeTests } from "./support/hooks.ts";
import {
  chatChunk,
  chatUsage,
  startMessagesServer,
  toChatWire,
  type MessagesServer,
} from "./support/messages-server.ts";
import { agentProgram, needs } from "./support/needs.ts";
import { repository } from "./support/served-process.ts";

const page = await readFile(join(repository, "docs/use/coding-agents.md"), "utf8");

/** The configuration under a heading of the page. */
function configurationOf(heading: string, url: string): string {
  const section = page.slice(page.indexOf(`\n## ${heading}\n`));
  const [, code] = /\n```(?:yaml|json)\n(.*?)\n```/s.exec(section)!;
  return code!.replaceAll("http://127.0.0.1:4141", url);
}

const command = "echo 'Six feet.' > fathom.txt && cat fathom.txt";
const answer = "The file says: Six feet.";

interface Asked {
  readonly messages: readonly JsonObject[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
}

/** Calls the agent's tool for commands once, then answers. */
const performTask: Script = async (exchange) => {
  const { messages, tools = [] } = exchange.json as Asked;
  const shell = tools.find(({ function: { name } }) => /^bash$/i.test(name));
  const isFirst = shell !== undefined && messages.at(-1)?.["role"] !== "tool";
  const called = { name: shell?.function.name, arguments: JSON.stringify({ command, description: "Write and read" }) };
  exchange.beginEvents();
  await exchange.send(
    toChatWire([
      chatChunk({ role: "assistant", content: isFirst ? "I write it." : answer }),
      ...(isFirst ? [chatChunk({ tool_calls: [{ index: 0, id: "call_0", type: "function", function: called }] })] : []),
      chatChunk({}, isFirst ? "tool_calls" : "stop"),
      { ...chatChunk({}), choices: [], usage: chatUsage },
      "[DONE]",
    ]),
  );
  exchange.end();
};

interface Agent {
  readonly name: "continue" | "opencode";
  readonly heading: string;
  readonly program: string;
  /** @param file the configuration's */
  readonly arguments: (file: string) => readonly string[];
  /** In the folder of the task, which it reads. */
  readonly file: string;
}

const task = "Write fathom.txt, and read it.";
const agents: readonly Agent[] = [
  {
    name: "continue",
    heading: "Continue",
    program: "cn",
    arguments: (file) => ["--print", "--auto", "--config", file, task],
    file: "config.yaml",
  },
  {
    name: "opencode",
    heading: "OpenCode",
    program: "opencode",
    arguments: () => ["run", "--model", "sounding/assistant", task],
    file: "opencode.json",
  },
];

describe("an agent of chat completions", () => {
  let setting: MessagesServer;
  beforeTests(async (stack) => {
    setting = stack.use(await startMessagesServer({ chat: performTask }));
  });

  for (const agent of agents) {
    test(`performs a task: ${agent.heading}`, { skip: needs(agent.name), timeout: 240_000 }, async () => {
      const folder = await mkdtemp(join(tmpdir(), "sounding-task-"));
      const home = await mkdtemp(join(tmpdir(), "sounding-home-"));
      try {
        const { server } = setting;
        const file = join(folder, agent.file);
        const configuration = configurationOf(agent.heading, server.url);
        await writeFile(file, configuration);
        await mkdir(join(home, ".continue"));
        await writeFile(join(home, ".continue/.env"), `SOUNDING_API_KEY=${server.key}\n`);
        const child = spawn(agentProgram(agent.program)!, agent.arguments(file), {
          cwd: folder,
          stdio: ["ignore", "pipe", "pipe"],
          env: {
            PATH: process.env["PATH"],
            HOME: home,
            ...(agent.name === "opencode" ? { SOUNDING_API_KEY: server.key } : {}),
          },
        });
        const [output, complaints] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
        assert.equal(child.exitCode, 0, output + complaints);
        assert.equal(await readFile(join(folder, "fathom.txt"), "utf8"), "Six feet.\n");
        assert.ok(output.includes(answer), output);
        const { messages } = setting.chat.exchanges.at(-1)!.json as Asked;
        assert.match(JSON.stringify(messages.at(-1)), /"role":"tool".*Six feet\./);
      } finally {
        for (const each of [folder, home]) await rm(each, { recursive: true, force: true });
      }
    });
  }
});
