/**
 * The AI Refinery SDK (`airefinery-sdk`), unchanged, against the complete server.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { describe, test } from "node:test";
import { promisify } from "node:util";
import { startScriptedUpstream } from "../packages/server/test/support/scripted-upstream.ts";
import { embedNumbers } from "./support/embedding-upstream.ts";
import { beforeTests } from "./support/hooks.ts";
import { needs, python } from "./support/needs.ts";
import { startServer, type RunningServer } from "./support/running-server.ts";

const run = promisify(execFile);
const skip = needs("python");

/**
 * Runs each case with a client and variables of its own, and prints the last line that each one printed, or its error. One
 * process runs all of them: importing the SDK takes seconds.
 */
const program = `
import asyncio, contextlib, io, json, sys, traceback
from air import AIRefinery, AsyncAIRefinery
key, url, cases = sys.argv[1:]
outcomes = {}
for name, code in json.loads(cases).items():
    printed = io.StringIO()
    variables = dict(asyncio=asyncio, json=json, AsyncAIRefinery=AsyncAIRefinery, key=key, url=url)
    variables["messages"] = [{"role": "user", "content": "Hello"}]
    try:
        variables["client"] = AIRefinery(api_key=key, base_url=url)
        with contextlib.redirect_stdout(printed):
            exec(code, variables)
        outcomes[name] = {"result": json.loads(printed.getvalue().strip().split("\\n")[-1])}
    except BaseException:
        outcomes[name] = {"error": traceback.format_exc()}
print(json.dumps(outcomes))
`;

interface Outcome {
  readonly result?: unknown;
  readonly error?: string;
}

async function runCases(server: RunningServer): Promise<Record<string, Outcome>> {
  const env = { ...process.env, AIR_SILENT: "1" };
  const codes = JSON.stringify(Object.fromEntries(cases.map(([name, code]) => [name, code])));
  const { stdout } = await run(python, ["-c", program, server.key, server.url, codes], { env });
  return JSON.parse(stdout.trim().split("\n").at(-1)!) as Record<string, Outcome>;
}

const cases: [name: string, code: string, expected: unknown][] = [
  [
    "embeds texts",
    'answer = client.embeddings.create(model="embedder", input=["text 1", "text 2"])\nprint(json.dumps([[each.embedding[0] for each in answer.data], answer.usage.prompt_tokens]))',
    [[1, 2], 2],
  ],
  [
    "lists the models",
    'print(json.dumps("sounding-trial" in [model.id for model in client.models.list().data]))',
    true,
  ],
  [
    "gets a batch answer, with extra_body nested",
    'answer = client.chat.completions.create(model="sounding-trial", messages=messages, max_tokens=4, extra_body={"top_k": 1})\nprint(json.dumps([answer.object, answer.usage.completion_tokens, answer.choices[0].finish_reason]))',
    ["chat.completion", 4, "length"],
  ],
  [
    "gets a stream to its end",
    'chunks = list(client.chat.completions.create(model="sounding-trial", messages=messages, stream=True, stream_options={"include_usage": True}))\nprint(json.dumps([chunks[0].choices[0].delta.role, chunks[-2].choices[0].finish_reason, chunks[-1].usage.total_tokens > 0]))',
    ["assistant", "stop", true],
  ],
  [
    "gets answers and streams asynchronously",
    `async def main():
    client = AsyncAIRefinery(api_key=key, base_url=url)
    answer = await client.chat.completions.create(model="sounding-trial", messages=messages)
    words = ""
    async for chunk in await client.chat.completions.create(model="sounding-trial", messages=messages, stream=True):
        words += (chunk.choices[0].delta.content or "") if chunk.choices else ""
    print(json.dumps(["sounding-trial" in answer.choices[0].message.content, "sounding-trial" in words]))
asyncio.run(main())`,
    [true, true],
  ],
  [
    "gets tool calls",
    'tool = {"type": "function", "function": {"name": "add", "parameters": {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}}}\nanswer = client.chat.completions.create(model="sounding-trial", messages=messages, tools=[tool], tool_choice="required")\nprint(json.dumps([answer.choices[0].finish_reason, answer.choices[0].message.tool_calls[0].function.name]))',
    ["tool_calls", "add"],
  ],
  [
    "raises an HTTP status error when a parameter is wrong",
    'try:\n    client.chat.completions.create(model="sounding-trial", messages=messages, temperature=9)\nexcept Exception as error:\n    print(json.dumps([type(error).__name__, "400" in str(error)]))',
    ["HTTPError", true],
  ],
];

let server: RunningServer;
beforeTests(async (stack) => {
  const upstream = await startScriptedUpstream(embedNumbers("base64"));
  stack.defer(() => upstream.close());
  const engine = `{ type: openai_compatible, base_url: "${upstream.url}/v1", models: [embedder] }`;
  server = stack.use(await startServer(`engines: { gpu: ${engine} }`));
});

describe("the AI Refinery SDK", { skip }, () => {
  let outcomes: Record<string, Outcome>;
  beforeTests(async () => {
    outcomes = await runCases(server);
  });
  for (const [name, , expected] of cases) {
    test(name, () => assert.deepEqual(outcomes[name], { result: expected }));
  }
});

test("a key is told whose it is", async () => {
  const response = await server.call("/authentication/validate", "");
  const identity = (await response.json()) as {
    organization_id: string;
    organization: string;
    permissions: string[];
    key_id: string;
    key_name: string;
    operator: boolean;
  };
  assert.match(identity.key_id, /^key_/);
  assert.deepEqual([identity.key_name, identity.operator], ["first key", false]);
  assert.match(identity.organization_id, /^org_/);
  assert.equal(identity.organization, "default");
  assert.ok(identity.permissions.includes("inference"));
  assert.equal((await server.call("/authentication/validate", "", { authorization: "Bearer sk-wrong" })).status, 401);
});
