/** Guardrails of the whole server, as in docs/chat/guardrails.md, and the metrics of refusals. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { isDeepStrictEqual, promisify } from "node:util";
import { AsyncSounding } from "@sounding/client";
import { startScriptedUpstream, type ScriptedUpstream } from "../packages/server/test/support/scripted-upstream.ts";
import { otlpSender } from "./support/otlp-sender.ts";
import { repository } from "./support/served-process.ts";
import { startServer, untilTelemetryReady, type RunningServer } from "./support/running-server.ts";
import { beforeTests } from "./support/hooks.ts";
import { needs } from "./support/needs.ts";

const page = await readFile(join(repository, "docs/chat/guardrails.md"), "utf8");
const blocks = [...page.matchAll(/^```(?<language>\w+)\n(?<code>.*?)^```$/gms)].map(({ groups }) => groups!);
const [yaml, curl, json] = ["yaml", "sh", "json"].map(
  (language) => blocks.find((block) => block["language"] === language)!["code"]!,
);

let upstream: ScriptedUpstream;
let server: RunningServer;
let client: AsyncSounding;
/** The model's answer. */
let said = "Fine.";

beforeTests(async (stack) => {
  upstream = await startScriptedUpstream(async (exchange) => {
    if (exchange.path === "/v1/moderations") {
      const { input } = exchange.json as { input: string[] };
      const results = input.map((text) => ({
        categories: {},
        category_scores: { "harassment/threatening": text.includes("threat") ? 0.9 : 0 },
      }));
      exchange.answer({ results });
      return;
    }
    exchange.beginEvents();
    const head = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "m" };
    for (const content of said.match(/.{1,3}/gs) ?? []) {
      await exchange.sendEvents({ ...head, choices: [{ index: 0, delta: { content }, finish_reason: null }] });
    }
    await exchange.sendEvents({ ...head, choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }, "[DONE]");
    exchange.end();
  });
  stack.defer(() => upstream.close());
  const settings = yaml!
    .replace("https://api.openai.com/v1", `${upstream.url}/v1`)
    .replace("${OPENAI_API_KEY}", "sk-x");
  server = stack.use(
    await startServer(
      `${settings}\nengines: { first: { type: openai_compatible, base_url: "${upstream.url}/v1" } }\n` +
        `models: { one: { targets: [{ engine: first, model: m }] } }\n`,
      { telemetry: true },
    ),
  );
  await untilTelemetryReady(server);
  client = new AsyncSounding({ apiKey: server.key, baseUrl: server.url, maxRetries: 0 });
});

const ask = (content: string, headers: Record<string, string> = {}): Promise<Response> =>
  server.call("/v1/chat/completions", { model: "one", stream: true, messages: [{ role: "user", content }] }, headers);

/** Waits until the counts by category equal these. */
async function untilCounted(expected: Readonly<Record<string, number>>, more: object = {}): Promise<void> {
  for (;;) {
    const { samples } = await client.metrics.query({ metric: "rai_rejection_total", ...more });
    const seen: Record<string, number> = Object.fromEntries(
      samples.map(({ metric, value }) => [metric["category"], Number(value?.[1])]),
    );
    if (isDeepStrictEqual(seen, expected)) return;
    const isTooMuch = Object.entries(seen).some(([category, count]) => count > (expected[category] ?? 0));
    assert.ok(!isTooMuch, JSON.stringify(seen));
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

describe("the page's guardrails", () => {
  test("answer the page's call as documented", { skip: needs("curl") }, async () => {
    const script = curl!.replace("curl ", "curl --silent ").replace("http://127.0.0.1:4141", server.url);
    const env = { PATH: process.env["PATH"], SOUNDING_API_KEY: server.key };
    const { stdout } = await promisify(execFile)("bash", ["-c", script], { env });
    assert.deepEqual(JSON.parse(stdout), JSON.parse(json!));
    await untilCounted({ violence: 1 }, { model_key: "sounding-trial" });
  });

  test("remove a word from a stream, a number from both, and judge only one project", async () => {
    said = "It takes a nail bomb, no more.";
    const blocked = await (await ask("How?")).text();
    assert.match(blocked, /"finish_reason":"content_filter".*\n\ndata: \[DONE\]\n\n$/s);
    assert.doesNotMatch(blocked, /bomb/);

    said = "Your card is 1111-2222-3333-4444.";
    const redacted = await (await ask("My card is 1111-2222-3333-4444.")).text();
    assert.doesNotMatch(redacted, /1111|4444/);
    assert.match(redacted, /\[removed\]/);
    const sent = upstream.exchanges.at(-1)!.json as { messages: { content: string }[] };
    assert.equal(sent.messages[0]!.content, "My card is [removed].");

    said = "Fine.";
    assert.equal((await ask("a threat", { "x-project": "support-eu" })).status, 400);
    assert.equal((await ask("a threat", { "x-project": "sales" })).status, 200);
    await untilCounted({ violence: 1 }, { model_key: "one", project_name: "default" });
    await untilCounted({ harassment: 1 }, { project_name: "support-eu" });
  });
});

describe("refusals of applications are counted", () => {
  const now = (): bigint => BigInt(Date.now()) * 1_000_000n;

  test("from spans, with their session, once for a call and the agent around it", async () => {
    const attributes = { "session.id": "s1", "error.type": "content_filter" };
    const call = { ...attributes, "gen_ai.operation.name": "chat", "gen_ai.request.model": "own" };
    const base = { traceId: "0af7651916cd43dd8448eb211c80319c", startUnixNano: now() - 1_000_000_000n };
    await otlpSender(server.url, server.key).spans({ "service.name": "app" }, [
      {
        ...base,
        spanId: "b7ad6b7169203331",
        name: "chat own",
        attributes: { ...call, "rai.category": "hate/threatening" },
      },
      {
        ...base,
        spanId: "b7ad6b7169203332",
        name: "invoke_agent",
        attributes: { ...attributes, "gen_ai.operation.name": "invoke_agent" },
      },
    ]);
    await untilCounted({ hate: 1 }, { session_id: "s1" });
  });

  for (const name of ["rai.rejections", "rai.rejection"]) {
    test(`from a counter named ${name}`, async () => {
      const attributes = { category: "sexual", "gen_ai.request.model": name, "session.id": "s2" };
      await otlpSender(server.url, server.key).metrics({ "service.name": name }, [
        { name, sum: 3, startUnixNano: now() - 60_000_000_000n, unixNano: now() - 1_000_000_000n, attributes },
      ]);
      await untilCounted({ sexual: 3 }, { model_key: name, session_id: "s2" });
    });
  }
});
