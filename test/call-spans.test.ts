/** Spans of one model call that applications send, in any order, through the whole server: the call counts once. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { AsyncSounding } from "@sounding/client";
import { startServer, untilTelemetryReady, type RunningServer } from "./support/running-server.ts";
import { beforeTests } from "./support/hooks.ts";

const nowMs = Date.now();
let server: RunningServer;
let client: AsyncSounding;

beforeTests(async (stack) => {
  server = stack.use(await startServer("", { telemetry: true }));
  await untilTelemetryReady(server);
  client = new AsyncSounding({ apiKey: server.key, baseUrl: server.url, maxRetries: 0 });
});

interface AppSpan {
  readonly id: string;
  readonly parent?: string;
  readonly scope?: string;
  readonly operation?: string;
  readonly responseId?: string;
  readonly isHttp?: boolean;
  /** Milliseconds before now. */
  readonly endedAgo?: number;
  readonly attributes?: Readonly<Record<string, string>>;
}

let lastTrace = 0;
const newTraceId = (): string => (lastTrace += 1).toString(16).padStart(32, "c");

/** Sends the spans of one trace in one request, grouped by scope in the given order. */
async function send(project: string, traceId: string, ...spans: readonly AppSpan[]): Promise<void> {
  const groups = Map.groupBy(spans, ({ scope = "app" }) => scope);
  const scopeSpans = [...groups].map(([name, each]) => ({
    scope: { name },
    spans: each.map(({ attributes = {}, endedAgo = 100, id, isHttp, operation, parent, responseId }) => {
      const known = {
        ...attributes,
        ...(operation === undefined ? {} : { "gen_ai.operation.name": operation }),
        ...(responseId === undefined ? {} : { "gen_ai.response.id": responseId }),
        ...(isHttp === true ? { "http.request.method": "POST" } : {}),
      };
      return {
        traceId,
        spanId: id.padStart(16, "0"),
        parentSpanId: parent?.padStart(16, "0") ?? "",
        name: "span",
        kind: 3,
        startTimeUnixNano: `${nowMs - 2000 - endedAgo}000000`,
        endTimeUnixNano: `${nowMs - endedAgo}000000`,
        attributes: Object.entries(known).map(([key, value]) => ({ key, value: { stringValue: value } })),
      };
    }),
  }));
  const attributes = [{ key: "project.name", value: { stringValue: project } }];
  const answer = await server.call("/v1/traces", { resourceSpans: [{ resource: { attributes }, scopeSpans }] });
  assert.equal(answer.status, 200, await answer.text());
}

async function requestsIn(project: string): Promise<number> {
  const { samples } = await client.metrics.query({ metric: "inference_requests_total", project_name: project });
  return Number(samples[0]?.value?.[1] ?? 0);
}

const responseId = "chatcmpl-0123456789abcdef0123456789abcdef";

describe("an application's spans of one call count once", () => {
  const outer: AppSpan = { id: "a1", scope: "framework", operation: "chat", endedAgo: 100 };
  const inner: AppSpan = { id: "a2", parent: "a1", scope: "sdk", operation: "chat", endedAgo: 110 };
  for (const [order, spans] of [
    ["the outer before the inner", [outer, inner]],
    ["the inner before the outer", [inner, outer]],
  ] as const) {
    test(`when one contains the other, ${order} in one request`, async () => {
      const project = `nested-${order.replaceAll(" ", "-")}`;
      await send(project, newTraceId(), ...spans);
      assert.equal(await requestsIn(project), 1);
    });
  }

  test("when the inner arrived in an earlier request, and is sent again", async () => {
    const traceId = newTraceId();
    await send("earlier", traceId, inner);
    await send("earlier", traceId, inner);
    await send("earlier", traceId, outer);
    assert.equal(await requestsIn("earlier"), 1);
  });

  test("when they have one response in different traces", async () => {
    const id = `${responseId}-traces`;
    await send("traces", newTraceId(), { ...outer, responseId: id });
    await send("traces", newTraceId(), { ...outer, responseId: id });
    assert.equal(await requestsIn("traces"), 1);
  });
});

describe("an application's calls count each", () => {
  test("when a call contains one of another kind", async () => {
    const search: AppSpan = { id: "b2", parent: "b1", operation: "embeddings" };
    await send("kinds", newTraceId(), { id: "b1", operation: "chat" }, search);
    assert.equal(await requestsIn("kinds"), 2);
  });

  test("when their server gives all responses the same short ID", async () => {
    for (let call = 0; call < 3; call += 1) {
      await send("short", newTraceId(), { id: "c1", operation: "chat", responseId: "chatcmpl-123" });
    }
    assert.equal(await requestsIn("short"), 3);
  });

  test("when another organization sent the same response", async () => {
    const admin = async (path: string, body: unknown) => {
      const answer = await server.call(`/admin/v1${path}`, body, { authorization: `Bearer ${server.operatorKey}` });
      return (await answer.json()) as Record<string, string>;
    };
    const { id } = await admin("/organizations", { name: "others" });
    const key = await admin("/keys", { organization_id: id, name: "all", permissions: ["telemetry_write"] });
    const shared = { id: "d1", operation: "chat", responseId: `${responseId}-shared` };
    const traceId = newTraceId();
    const theirs = {
      traceId,
      spanId: "00000000000000d1",
      name: "chat",
      startTimeUnixNano: `${Date.now() - 500}000000`,
    };
    const attributes = Object.entries({ "gen_ai.operation.name": "chat", "gen_ai.response.id": shared.responseId }).map(
      ([name, value]) => ({ key: name, value: { stringValue: value } }),
    );
    const spans = [{ ...theirs, endTimeUnixNano: `${Date.now() - 400}000000`, attributes }];
    const answer = await server.call(
      "/v1/traces",
      { resourceSpans: [{ scopeSpans: [{ spans }] }] },
      { authorization: `Bearer ${key["secret"]}` },
    );
    assert.equal(answer.status, 200);
    await send("shared", newTraceId(), shared);
    assert.equal(await requestsIn("shared"), 1);
  });
});

test("the summary of a trace counts a call through Sounding once, with and without its spans", async () => {
  const traceId = newTraceId();
  const caller: AppSpan = {
    id: "f1",
    scope: "sdk",
    operation: "chat",
    attributes: { "gen_ai.request.model": "sounding-trial" },
  };
  const headers = { traceparent: `00-${traceId}-${"f1".padStart(16, "0")}-01`, "x-project": "summed" };
  const body = { model: "sounding-trial", messages: [{ role: "user", content: "Hello?" }], max_completion_tokens: 5 };
  const answer = await server.call("/v1/chat/completions", body, headers);
  const { id } = (await answer.json()) as { id: string };
  await send("summed", traceId, { ...caller, responseId: id });
  for (const detail of [true, false]) {
    for (;;) {
      const { traces } = await client.traces.query({ trace: "all_traces", trace_id: traceId, detail });
      const { spanCount, models } = traces[0]!.summary;
      if (spanCount < 2) continue;
      assert.deepEqual(
        models.map(({ model, calls }) => [model, calls]),
        [["sounding-trial", 1]],
      );
      break;
    }
  }
});

test("a failed call through Sounding counts once, with its HTTP request in any place of the export", async () => {
  const requestSpan: AppSpan = { id: "e2", parent: "e1", scope: "http", isHttp: true, endedAgo: 110 };
  const callSpan: AppSpan = { id: "e1", scope: "sdk", operation: "chat", endedAgo: 100 };
  for (const [index, order] of [
    [requestSpan, callSpan],
    [callSpan, requestSpan],
  ].entries()) {
    const project = `failed-${index}`;
    const traceId = newTraceId();
    const traceparent = `00-${traceId}-${"e2".padStart(16, "0")}-01`;
    const body = { model: "nobody", messages: [{ role: "user", content: "Hello?" }] };
    const answer = await server.call("/v1/chat/completions", body, { traceparent, "x-project": project });
    assert.equal(answer.status, 404);
    await answer.arrayBuffer();
    for (let calls = 0; calls < 1; calls = await requestsIn(project)) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    await send(project, traceId, ...order);
    assert.equal(await requestsIn(project), 1);
  }
});
