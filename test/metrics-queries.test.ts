/** A chat call appears in the metrics: by name, in PromQL, and in the CLI. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { AsyncSounding } from "@sounding/client";
import { startScriptedUpstream, type ScriptedUpstream } from "../packages/server/test/support/scripted-upstream.ts";
import { startServer, untilTelemetryReady, type RunningServer } from "./support/running-server.ts";
import { command } from "./support/command.ts";
import { beforeTests } from "./support/hooks.ts";

let upstream: ScriptedUpstream;
let server: RunningServer;
let client: AsyncSounding;

beforeTests(async (stack) => {
  upstream = await startScriptedUpstream((exchange) =>
    exchange.answer({
      id: "chatcmpl-7",
      object: "chat.completion",
      created: 1,
      model: "m-2026",
      choices: [{ index: 0, message: { role: "assistant", content: "Six feet." }, finish_reason: "stop" }],
      usage: { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17 },
    }),
  );
  stack.defer(() => upstream.close());
  server = stack.use(
    await startServer(
      `
engines:
  first: { type: openai_compatible, base_url: "${upstream.url}/v1" }
models:
  one: { targets: [{ engine: first, model: m }] }
telemetry:
  metric_presets:
    calls: { query: 'sum by (operation) (increase(inference_requests_total{model_key="$model_key"}[range()]))' }
`,
      { telemetry: true },
    ),
  );
  await untilTelemetryReady(server);
  client = new AsyncSounding({ apiKey: server.key, baseUrl: server.url, maxRetries: 0 });
  await client.chat.completions.create({ model: "one", messages: [{ role: "user", content: "What is a fathom?" }] });
  // Telemetry is written asynchronously.
  for (;;) {
    const { samples } = await client.metrics.query({ metric: "inference_requests_total" });
    if (samples.length > 0) break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
});

async function sounding(...args: string[]): Promise<string> {
  const env = { ...process.env, SOUNDING_API_KEY: server.key, SOUNDING_BASE_URL: server.url };
  const { stdout } = await promisify(execFile)(process.execPath, [command, ...args], { env });
  return stdout;
}

describe("one chat call", () => {
  test("is one request of one model, and its tokens", async () => {
    const requests = await client.metrics.query({ metric: "inference_requests_total" });
    assert.deepEqual(
      [requests.status, requests.query, requests.result_type, requests.samples.map(({ value }) => value?.[1])],
      ["success", "sum(increase(inference_requests_total[1h]))", "vector", ["1"]],
    );
    const tokens = await client.metrics.query({ metric: "token_consumption", model_key: "one" });
    assert.deepEqual(
      tokens.samples.map(({ metric, value }) => [metric, value?.[1]]),
      [
        [{ model_key: "one", token_type: "input" }, "12"],
        [{ model_key: "one", token_type: "output" }, "5"],
      ],
    );
  });

  test("appears over time in a configured preset", async () => {
    const { result_type, samples } = await client.metrics.query({ metric: "calls", step: null, time_window: "2h" });
    assert.equal(result_type, "matrix");
    assert.deepEqual(
      samples.map(({ metric, values }) => [metric, values.map(([, value]) => value)]),
      [[{ operation: "chat" }, ["0", "1"]]],
    );
    assert.ok((await client.metrics.list()).data.some(({ name }) => name === "calls"));
  });

  test("is visible to the synchronous client, in its own process", async () => {
    const script = `
      import { Sounding } from "@sounding/client/sync";
      const sounding = new Sounding({ apiKey: process.env.SOUNDING_API_KEY, baseUrl: process.env.SOUNDING_BASE_URL });
      const vector = sounding.metrics.query({ metric: "token_consumption", model_key: "one" });
      const matrix = sounding.metrics.query({ metric: "inference_requests_total", step: "30m" });
      const raw = sounding.metrics.promql({ query: "sum(increase(inference_requests_total[1h]))" });
      const known = sounding.metrics.list().data.some(({ name }) => name === "calls");
      let refused;
      try { sounding.metrics.query({ metric: "nothing" }); } catch (error) { refused = [error.name, error.status]; }
      console.log(JSON.stringify([
        vector.samples.map(({ metric, value }) => [metric.token_type, value[1]]),
        matrix.result_type, matrix.samples.map(({ values }) => values.map(([, value]) => value)),
        raw.data.result.map(({ value }) => value[1]), known, refused,
      ]));`;
    const env = { ...process.env, SOUNDING_API_KEY: server.key, SOUNDING_BASE_URL: server.url };
    const cwd = fileURLToPath(new URL("..", import.meta.url));
    const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", script], { env, cwd });
    const tokens = [
      ["input", "12"],
      ["output", "5"],
    ];
    assert.deepEqual(JSON.parse(stdout), [tokens, "matrix", [["0", "1"]], ["1"], true, ["BadRequestError", 400]]);
  });

  test("has the same numbers when the response's query runs again", async () => {
    const first = await client.metrics.query({ metric: "inference_model_usage" });
    const [timestamp] = first.samples[0]!.value!;
    const again = await client.metrics.promql({ query: first.query, time: timestamp });
    assert.deepEqual(again.data.result, first.data.result);
  });

  test("is shown by the command: as a table, as bars and in the list", async () => {
    assert.match(
      await sounding("metrics", "token_consumption"),
      /^MODEL_KEY +TOKEN_TYPE +VALUE \(TOKENS\)\none +input +12\none +output +5\n$/,
    );
    assert.match(
      await sounding("metrics", "inference_requests_total", "--step", "20m"),
      /^inference_requests_total \(calls\)\n1 ┤ +█+\n[^]*\n0 ┤▁+█+\n/,
    );
    assert.match(await sounding("metrics", "--promql", "sum(inference_requests_total) or vector(7)"), /VALUE\n +\d\n$/);
    assert.match(await sounding("metrics", "--list"), /inference_latency +seconds +Duration of model calls/);
    await assert.rejects(sounding("metrics"), /specify exactly one of a metric's name, --list and --promql/);
  });
});
