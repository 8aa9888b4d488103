/** Limits hold for telemetry queries and exports, in each protocol's error format, independently of those for inference. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { describe, test } from "node:test";
import { startScriptedUpstream, type ScriptedUpstream } from "../packages/server/test/support/scripted-upstream.ts";
import { startServer, untilTelemetryReady, type RunningServer } from "./support/running-server.ts";
import { beforeTests } from "./support/hooks.ts";

const logExport = {
  resourceLogs: [
    { scopeLogs: [{ logRecords: [{ timeUnixNano: `${Date.now()}000000`, body: { stringValue: "hello" } }] }] },
  ],
};

describe("a key that may send two requests per minute", () => {
  let upstream: ScriptedUpstream;
  let server: RunningServer;

  beforeTests(async (stack) => {
    upstream = await startScriptedUpstream((exchange) =>
      exchange.answer({
        id: "chatcmpl-1",
        object: "chat.completion",
        created: 1,
        model: "m",
        choices: [{ index: 0, message: { role: "assistant", content: "Yes." }, finish_reason: "stop" }],
        usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
      }),
    );
    stack.defer(() => upstream.close());
    server = stack.use(
      await startServer(`
limits: { key: { requests_per_minute: 2 } }
engines:
  first: { type: openai_compatible, base_url: "${upstream.url}/v1" }
models:
  one: { targets: [{ engine: first, model: m }] }
`),
    );
  });

  test("has two of each: queries, exports and chat completions", async () => {
    const buildInfo = "/prometheus/api/v1/status/buildinfo";
    const first = await server.call(buildInfo);
    assert.deepEqual([first.status, first.headers.get("x-ratelimit-remaining-requests")], [200, "1"]);
    await server.call(buildInfo);
    const refused = await server.call(buildInfo);
    assert.equal(refused.status, 429);
    const wait = Number(refused.headers.get("retry-after"));
    assert.ok(wait > 0 && wait <= 30, `Retry-After is ${wait}`);
    const { status, errorType, error } = (await refused.json()) as Record<string, string>;
    assert.deepEqual([status, errorType], ["error", "too_many_requests"]);
    assert.match(error!, /is limited to 2 telemetry queries per minute/);
    const listed = await server.call("/observability/metrics");
    const body = (await listed.json()) as { error: { code: string } };
    assert.deepEqual([listed.status, body.error.code], [429, "rate_limit_exceeded"]);

    for (let sent = 0; sent < 2; sent++) assert.equal((await server.call("/v1/logs", {})).status, 200);
    const dropped = await server.call("/v1/traces", {});
    assert.equal(dropped.status, 429);
    assert.ok(Number(dropped.headers.get("retry-after")) > 0);
    const answer = (await dropped.json()) as { code: number; message: string; details: Record<string, string>[] };
    assert.equal(answer.code, 8);
    assert.match(answer.message, /is limited to 2 telemetry exports per minute/);
    assert.equal(answer.details[0]!["@type"], "type.googleapis.com/google.rpc.RetryInfo");

    const question = { model: "one", messages: [{ role: "user", content: "Well?" }] };
    for (let asked = 0; asked < 2; asked++) {
      assert.equal((await server.call("/v1/chat/completions", question)).status, 200);
    }
    assert.equal((await server.call("/v1/chat/completions", question)).status, 429);
  });

  test("is refused before the body of its request is read", async () => {
    for (let sent = 0; sent < 2; sent++) await server.call("/v1/logs", {});
    const headers = {
      authorization: `Bearer ${server.key}`,
      "content-type": "application/json",
      "content-length": "1000000",
    };
    const sending = request(`${server.url}/v1/logs`, { method: "POST", headers });
    sending.on("error", () => {});
    sending.flushHeaders();
    const [response] = (await once(sending, "response")) as [IncomingMessage];
    assert.equal(response.statusCode, 429);
    sending.destroy();
  });
});

describe("an organization with a budget of one compute second a minute", () => {
  let server: RunningServer;

  beforeTests(async (stack) => {
    server = stack.use(await startServer("", { telemetry: true }));
    await untilTelemetryReady(server);
  });

  test("gets the budget through the admin API, and queries and exports within it are answered", async () => {
    const asOperator = { authorization: `Bearer ${server.operatorKey}` };
    const list = await server.call("/admin/v1/organizations", undefined, asOperator);
    const { data } = (await list.json()) as { data: { id: string }[] };
    const changed = await fetch(`${server.url}/admin/v1/organizations/${data[0]!.id}`, {
      method: "PATCH",
      headers: { ...asOperator, "content-type": "application/json" },
      body: JSON.stringify({ limits: { compute_seconds_per_minute: 1 } }),
    });
    const { limits } = (await changed.json()) as { limits: Record<string, number> };
    assert.deepEqual(limits, { compute_seconds_per_minute: 1 });
    const sent = await server.call("/v1/logs", logExport);
    assert.deepEqual([sent.status, sent.headers.get("x-ratelimit-limit-compute-seconds")], [200, "1"]);
    assert.equal((await server.call("/observability/logs", { time_window: "1h" })).status, 200);
  });

  test("is refused once its queries have used it, and may still send", async () => {
    const query = `/prometheus/api/v1/query?query=${encodeURIComponent("sum_over_time(vector(1)[1h:1s])")}`;
    let refused: Response | undefined;
    for (let asked = 0; asked < 5000 && refused === undefined; asked++) {
      const response = await server.call(query);
      if (response.status === 429) refused = response;
      else
        assert.deepEqual([response.status, ((await response.json()) as { status: string }).status], [200, "success"]);
    }
    assert.ok(refused !== undefined, "no query was refused");
    assert.equal(refused.headers.get("x-ratelimit-remaining-compute-seconds"), "0");
    const { error } = (await refused.json()) as { error: string };
    assert.match(error, /is limited to 1 compute seconds per minute for telemetry queries, and 1\.\d have been used/);
    assert.equal((await server.call("/v1/logs", logExport)).status, 200);
  });

  test("sees its usage in the metrics of the process", async () => {
    const text = await (await fetch(`${server.url}/metrics`)).text();
    assert.match(text, /^sounding_request_cpu_seconds_total\{operation="prometheusQuery\w*"\} [\d.]+/m);
    assert.match(text, /^sounding_request_store_seconds_total\{operation="queryLogs"\} [\d.]+/m);
    assert.match(text, /^sounding_event_loop_delay_seconds_count [1-9]/m);
  });
});
