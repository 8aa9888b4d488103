import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { runnersFor } from "./both-modes.ts";
import type { ModeCase } from "./mode-cases.ts";
import type { Expectation } from "./mode-expectation.ts";
import { chunk, completion, done, events, failure, json, startScriptedServer } from "./scripted-server.ts";
import { speechExpectations } from "./speech-expectations.ts";
import { transcriptionExpectations } from "./transcription-expectations.ts";

const server = await startScriptedServer();
const runners = await runnersFor(new URL("./mode-cases.ts", import.meta.url), { url: server.url, key: "sk-test" });

const models = { object: "list", data: [{ id: "a", object: "model", created: 1, owned_by: "x" }] };
const logsAnswer = {
  status: "success",
  data: {
    resultType: "streams",
    result: [
      { stream: { severity: "error", service_name: "shop" }, values: [["1795229418931000000", "no stock"]] },
      { stream: { severity: "error", service_name: "mail" }, values: [["1795229417000000000", "no answer"]] },
    ],
    stats: {},
  },
};
const logSamples = [
  {
    stream: { severity: "error", service_name: "shop" },
    values: [["1795229418931000000", "no stock"]],
    values_in_seconds: [[1_795_229_418.931, "no stock"]],
    entries: [{ timestamp_ns: "1795229418931000000", message: "no stock", attributes: undefined }],
  },
  {
    stream: { severity: "error", service_name: "mail" },
    values: [["1795229417000000000", "no answer"]],
    values_in_seconds: [[1_795_229_417, "no answer"]],
    entries: [{ timestamp_ns: "1795229417000000000", message: "no answer", attributes: undefined }],
  },
];
const traceHead = {
  traceID: "0af7651916cd43dd8448eb211c80319c",
  rootServiceName: "shop",
  rootTraceName: "GET /",
  startTimeUnixNano: "1795229417000000000",
  durationMs: 12,
};
const resource = { attributes: [{ key: "service.name", value: { stringValue: "shop" } }] };
const metricsAnswer = (resultType: string, series: object) => ({
  status: "success",
  query: "sum(up)",
  data: { resultType, result: [series], analysis: {} },
});
const tracesAnswer = {
  traces: [
    {
      ...traceHead,
      batches: [
        {
          resource,
          scopeSpans: [
            { scope: { name: "a" }, spans: [{ spanId: "AAAAAAAAAAE=", name: "GET /", status: {} }] },
            {
              scope: {},
              spans: [
                { spanId: "AAAAAAAAAAI=", name: "query", status: { code: "STATUS_CODE_ERROR", message: "gone" } },
              ],
            },
          ],
        },
      ],
    },
  ],
};
const refusal = { message: "No.", type: "a_type", param: "model", code: "a_code" };
const refused = failure(404, { "x-request-id": "request-3", "x-extra": "more" }, refusal);
const refusedError = {
  name: "NotFoundError",
  kind: "status",
  status: 404,
  ...refusal,
  requestId: "request-3",
  body: { error: refusal },
  header: "more",
};

/** The cases that check more than the answer. */
type CaseOnItsOwn = "shows each chunk before the next is sent" | "speaks while the audio is made";

const expectations: Record<Exclude<ModeCase, CaseOnItsOwn>, Expectation> = {
  "gives a whole answer and what came with it": {
    answers: [json(completion("Hi."), 200, { "x-request-id": "request-1" })],
    outcome: ["Hi.", "request-1", 200],
    requests: 1,
  },
  "lists models": { answers: [json(models)], outcome: ["a"], requests: 1 },
  "queries logs": {
    answers: [json(logsAnswer)],
    outcome: ["success", "streams", "streams", logSamples, false],
    requests: 1,
    sent: ["/observability/logs", { severity: "error", limit: 2 }],
  },
  "reads all pages of logs": {
    answers: [
      json({ ...logsAnswer, next_cursor: "second" }),
      json({ ...logsAnswer, next_cursor: "third" }),
      json({ ...logsAnswer, next_cursor: null }),
    ],
    outcome: [2, 2, 2],
    requests: 3,
    sent: ["/observability/logs", { severity: "error", cursor: "" }],
  },
  "requests no further pages of logs than are read": {
    answers: [json({ ...logsAnswer, next_cursor: "second" })],
    outcome: "second",
    requests: 1,
    sent: ["/observability/logs", { cursor: "" }],
  },
  "queries logs without parameters": {
    answers: [json(logsAnswer)],
    outcome: 2,
    requests: 1,
    sent: ["/observability/logs", {}],
  },
  "queries metrics": {
    answers: [json(metricsAnswer("vector", { metric: { model_key: "gpt" }, value: [5.5, "3"] }))],
    outcome: [
      "success",
      "sum(up)",
      "vector",
      [{ metric: { model_key: "gpt" }, value: [5.5, "3"], values: [[5.5, "3"]] }],
      false,
    ],
    requests: 1,
    sent: ["/observability/metrics", { metric: "token_consumption" }],
  },
  "queries metrics over time": {
    answers: [json(metricsAnswer("matrix", { metric: {}, values: [[5, "NaN"]] }))],
    outcome: ["matrix", [["none", [[5, "NaN"]]]]],
    requests: 1,
    sent: ["/observability/metrics", { metric: "session_total", step: null }],
  },
  "queries PromQL": {
    answers: [json({ status: "success", data: { resultType: "vector", result: [] } })],
    outcome: "vector",
    requests: 1,
  },
  "queries traces": {
    answers: [json(tracesAnswer)],
    outcome: [
      "success",
      1,
      resource,
      [
        [{ name: "a" }, 1],
        [{}, 1],
      ],
      [
        ["GET /", {}],
        ["query", { code: "STATUS_CODE_ERROR", message: "gone" }],
      ],
      200,
    ],
    requests: 1,
    sent: ["/observability/traces", { trace: "all_traces", trace_id: "0af7651916cd43dd8448eb211c80319c" }],
  },
  "queries traces without their spans": {
    answers: [json({ traces: [traceHead] })],
    outcome: ["0af7651916cd43dd8448eb211c80319c", [], []],
    requests: 1,
    sent: ["/observability/traces", { trace: "all_traces", detail: false }],
  },
  "reads all pages of traces": {
    answers: [json({ ...tracesAnswer, next_cursor: "second" }), json({ traces: [], next_cursor: null })],
    outcome: [
      [2, "second"],
      [0, null],
    ],
    requests: 2,
    sent: ["/observability/traces", { trace: "all_traces", cursor: "" }],
  },
  "counts logs over time": {
    answers: [json({ step_seconds: 300, total: 0, buckets: [] })],
    outcome: 300,
    requests: 1,
    sent: ["/observability/logs/histogram", { step: "5m" }],
  },
  "counts traces over time": {
    answers: [json({ step_seconds: 300, buckets: [] })],
    outcome: 300,
    requests: 1,
    sent: ["/observability/traces/histogram", { step: "5m" }],
  },
  "lists conversations": {
    answers: [json({ data: [], next_cursor: null })],
    outcome: 0,
    requests: 1,
    sent: ["/observability/conversations", {}],
  },
  "tells status and request ID of a stream": {
    answers: [events([chunk("one")], true)],
    outcome: [200, "request-7"],
    requests: 1,
    cancelled: true,
  },
  "reads two streams in turns": {
    answers: [events([chunk("a"), chunk("b"), done]), events([chunk("1"), done]), events([chunk("2"), done])],
    outcome: ["a1", "b2"],
    requests: 3,
  },
  "throws an error status with all that the server said": { answers: [refused], outcome: refusedError, requests: 1 },
  "throws an error status before a stream": { answers: [refused], outcome: refusedError, requests: 1 },
  "throws an error inside a stream after its chunks": {
    answers: [events([chunk("one"), { error: refusal }], true)],
    outcome: {
      ...refusedError,
      name: "StreamError",
      kind: "stream",
      status: 200,
      requestId: "request-7",
      header: null,
    },
    requests: 1,
    cancelled: true,
  },
  "throws when a stream ends too early": {
    answers: [events([chunk("one")])],
    outcome: {
      name: "IncompleteStreamError",
      kind: "incomplete_stream",
      code: "incomplete_stream",
      message: "The stream ended before its end marker; the response is incomplete.",
      cause: undefined,
    },
    requests: 1,
  },
  "throws when a stream is cut": {
    answers: [
      (response, request) => {
        void events([chunk("one")], true)(response, request);
        setImmediate(() => response.destroy());
      },
    ],
    outcome: { name: "IncompleteStreamError", kind: "incomplete_stream" },
    requests: 1,
  },
  "throws when an answer makes no sense": {
    answers: [(response) => void response.writeHead(200, { "content-type": "text/html" }).end("<p>Sign in</p>")],
    outcome: {
      name: "InvalidAnswerError",
      kind: "invalid_answer",
      code: "invalid_answer",
      message: "The response is not a JSON object (text/html): <p>Sign in</p>",
      cause: undefined,
    },
    requests: 1,
  },
  "throws when a whole answer comes for a stream": {
    answers: [json(completion("Hi."))],
    outcome: {
      name: "InvalidAnswerError",
      kind: "invalid_answer",
      code: "invalid_answer",
      message: "The response is application/json; expected a stream of events.",
      cause: undefined,
    },
    requests: 1,
  },
  "repeats what may be repeated, with a fresh key each time": {
    answers: [failure(503, { "retry-after-ms": "1" }), (response) => void response.destroy(), json(models)],
    outcome: "list",
    requests: 3,
  },
  "throws when there is no fresh key": {
    answers: [json(models)],
    outcome: {
      name: "ConfigurationError",
      kind: "configuration",
      code: "configuration",
      message: "The function `apiKey` failed.",
      cause: "vault closed",
    },
    requests: 0,
  },
  "cancels a stream by leaving the loop": {
    answers: [events([chunk("one"), chunk("two")], true)],
    outcome: "one",
    requests: 1,
    cancelled: true,
  },
  "cancels a stream by a signal": {
    answers: [events([chunk("one"), chunk("two")], true)],
    outcome: {
      name: "AbortError",
      kind: "aborted",
      code: "aborted",
      message: "The call was aborted.",
      cause: "after one",
    },
    requests: 1,
    cancelled: true,
  },
  "sends nothing for a signal that is aborted": {
    answers: [json(models)],
    outcome: {
      name: "AbortError",
      kind: "aborted",
      code: "aborted",
      message: "The call was aborted.",
      cause: "before",
    },
    requests: 0,
  },
  "ends a whole answer at its time limit": {
    answers: [() => undefined],
    outcome: {
      name: "TimeoutError",
      kind: "timeout",
      code: "timeout",
      message: "The call was not complete after 0.2 s; the request was cancelled.",
      cause: undefined,
    },
    requests: 1,
    cancelled: true,
  },
  "ends a stream at its time limit": {
    answers: [events([chunk("one")], true)],
    outcome: {
      name: "TimeoutError",
      kind: "timeout",
      code: "timeout",
      message: "The call was not complete after 0.3 s; the request was cancelled.",
      cause: undefined,
    },
    requests: 1,
    cancelled: true,
  },
  "iterates a stream once": {
    answers: [events([chunk("one"), done])],
    outcome: {
      name: "ConfigurationError",
      kind: "configuration",
      code: "configuration",
      message: "The stream has already been iterated; its events are delivered only once.",
      cause: undefined,
    },
    requests: 1,
  },
  "refuses an option that is wrong": {
    answers: [json(models)],
    outcome: {
      name: "ConfigurationError",
      kind: "configuration",
      code: "configuration",
      message: "`apiKey` and `api_key` are the same option; pass only one of them.",
      cause: undefined,
    },
    requests: 0,
  },
  ...speechExpectations,
  ...transcriptionExpectations,
};

for (const { mode, run } of runners) {
  describe(`the ${mode} client`, { timeout: 120_000 }, () => {
    for (const [name, expectation] of Object.entries(expectations)) {
      test(name, async () => {
        server.answer(...expectation.answers);
        assert.deepEqual(await run(name), expectation.outcome);
        assert.equal(server.requests.length, expectation.requests);
        const [first] = server.requests;
        if (expectation.sent !== undefined) {
          const [path, body] = expectation.sent;
          assert.deepEqual([first!.url, first!.body === "" ? undefined : JSON.parse(first!.body)], [path, body]);
        }
        if (expectation.cancelled === true) await server.requests[0]!.closed;
      });
    }

    test("shows each chunk before the next is sent", async () => {
      const reached = new Map<string, () => void>();
      const after = (point: string): Promise<void> => new Promise((resolve) => void reached.set(point, resolve));
      server.answer(async (response, request) => {
        const [one, two] = [after("one"), after("two")];
        void events([chunk("one")], true)(response, request);
        await one;
        response.write(`data: ${JSON.stringify(chunk("two"))}\n\n`);
        await two;
        response.end(done);
      });
      const seen = await run("shows each chunk before the next is sent", (point) => reached.get(point)?.());
      assert.deepEqual(seen, ["one", "two"]);
    });

    test("speaks while the audio is made", async () => {
      let release = (): void => undefined;
      const first = new Promise<void>((resolve) => {
        release = resolve;
      });
      server.answer(async (response) => {
        response.writeHead(200, { "content-type": "audio/mpeg" });
        response.write("one ");
        await first;
        response.end("two");
      });
      assert.deepEqual(await run("speaks while the audio is made", () => release()), ["one ", "two"]);
    });
  });
}

describe("the synchronous client's fresh keys", () => {
  test("reach the server one by one", async () => {
    server.answer(failure(503, { "retry-after-ms": "1" }), failure(503, { "retry-after-ms": "1" }), json(models));
    await runners[1]!.run("repeats what may be repeated, with a fresh key each time");
    assert.deepEqual(
      server.requests.map(({ headers }) => headers.authorization),
      ["Bearer sk-1", "Bearer sk-2", "Bearer sk-3"],
    );
  });
});
