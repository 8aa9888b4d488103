import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { describe, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { Type } from "typebox";
import { gzipSync } from "node:zlib";
import { operation } from "../../src/api/operation.ts";
import { schema } from "../../src/api/schema.ts";
import { AppError } from "../../src/errors.ts";
import { route, type Route, type RouteResponse, type RouteInput } from "../../src/http/route.ts";
import { startTestHttp, testSecret } from "../support/test-http.ts";

const Greeting = schema(Type.Object({ name: Type.String({ minLength: 1 }) }, { additionalProperties: false }));

function greet(serve: (input: RouteInput<{ name: string }>) => Promise<RouteResponse> | RouteResponse): Route {
  return route(
    operation({
      id: "greet",
      method: "POST",
      path: "/v1/greet",
      tag: "Test",
      summary: "Greet",
      permission: "inference",
      body: Greeting,
      answer: { type: "application/json", description: "A greeting." },
    }),
    serve,
  );
}

const echo = greet((input) => ({ kind: "json", value: { hello: input.body.name, project: input.scope.projectName } }));

function post(url: string, body: string | Uint8Array, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${url}/v1/greet`, {
    method: "POST",
    body,
    headers: { authorization: `Bearer ${testSecret}`, "content-type": "application/json", ...headers },
  });
}

describe("a request", () => {
  test("gets a response with its body's value, its scope and a request ID", async () => {
    await using server = await startTestHttp({ routes: [echo] });
    const response = await post(server.url, '{"name":"Ada"}', { "x-project": "team one" });
    assert.equal(response.status, 200);
    assert.deepEqual(await response.json(), { hello: "Ada", project: "team one" });
    assert.match(response.headers.get("x-request-id") ?? "", /^req_/);
  });

  test("keeps the client's request ID, unless it could break a log line", async () => {
    await using server = await startTestHttp({ routes: [echo] });
    assert.equal(
      (await post(server.url, '{"name":"x"}', { "x-request-id": "abc-1" })).headers.get("x-request-id"),
      "abc-1",
    );
    assert.match(
      (await post(server.url, '{"name":"x"}', { "x-request-id": 'a"b c' })).headers.get("x-request-id") ?? "",
      /^req_/,
    );
  });

  test("is logged with its client's address, which a trusted proxy reports", async () => {
    for (const [trusted_proxies, address] of [
      [[], "127.0.0.1"],
      [["loopback"], "203.0.113.9"],
    ] as const) {
      await using server = await startTestHttp({ routes: [echo], settings: { trusted_proxies } });
      await post(server.url, '{"name":"Ada"}', { "x-forwarded-for": "203.0.113.9" });
      await server.untilFinished(1);
      assert.equal(server.logged.find(({ message }) => message === "request")?.["client_address"], address);
    }
  });

  test("may be compressed with gzip", async () => {
    await using server = await startTestHttp({ routes: [echo] });
    const response = await post(server.url, gzipSync('{"name":"Ada"}'), { "content-encoding": "gzip" });
    assert.equal(response.status, 200);
  });

  test("with GET may have a JSON body, which is ignored, and the connection stays open", async () => {
    const list = route(
      operation({
        id: "list",
        method: "GET",
        path: "/v1/things",
        tag: "Test",
        summary: "List",
        permission: "any",
        answer: { type: "application/json", description: "Things." },
      }),
      () => ({ kind: "json", value: [] }),
    );
    await using server = await startTestHttp({ routes: [list] });
    const socket = connect(server.port, "127.0.0.1");
    const request = `GET /v1/things HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${testSecret}\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}`;
    let text = "";
    socket.on("data", (chunk: Buffer) => (text += chunk.toString()));
    socket.write(request + request);
    while (text.split("HTTP/1.1 200").length < 3) await once(socket, "data");
    socket.destroy();
  });
});

interface Refusal {
  readonly name: string;
  readonly request: (url: string) => Promise<Response>;
  readonly status: number;
  readonly code: string | null;
  readonly message: RegExp;
}

const refusals: Refusal[] = [
  {
    name: "without a key",
    request: (url) => fetch(`${url}/v1/greet`, { method: "POST", body: "{}" }),
    status: 401,
    code: "invalid_api_key",
    message: /no API key; send it as "Authorization: Bearer/,
  },
  {
    name: "with an unknown key",
    request: (url) => post(url, "{}", { authorization: "Bearer sk-wrong" }),
    status: 401,
    code: "invalid_api_key",
    message: /./,
  },
  {
    name: "with a key in the wrong form",
    request: (url) => post(url, "{}", { authorization: "Digest abc" }),
    status: 401,
    code: "invalid_api_key",
    message: /does not have the expected form/,
  },
  {
    name: "for another account",
    request: (url) => post(url, "{}", { "x-account": "rivals" }),
    status: 403,
    code: "organization_mismatch",
    message: /"rivals"/,
  },
  {
    name: "for a project with an impossible name",
    request: (url) => post(url, "{}", { "x-project": "<b>" }),
    status: 400,
    code: null,
    message: /x-project is "<b>"/,
  },
  {
    name: "that is not JSON",
    request: (url) => post(url, '{"name":'),
    status: 400,
    code: "invalid_json",
    message: /not valid JSON/,
  },
  { name: "that is empty", request: (url) => post(url, ""), status: 400, code: "invalid_json", message: /empty/ },
  {
    name: "of another media type",
    request: (url) => post(url, "name=x", { "content-type": "application/x-www-form-urlencoded" }),
    status: 415,
    code: "unsupported_media_type",
    message: /expected "application\/json"/,
  },
  {
    name: "in an unknown encoding",
    request: (url) => post(url, "{}", { "content-encoding": "br" }),
    status: 415,
    code: "unsupported_media_type",
    message: /Content-Encoding is "br"/,
  },
  {
    name: "with garbled compression",
    request: (url) => post(url, "not gzip", { "content-encoding": "gzip" }),
    status: 400,
    code: null,
    message: /decompressed/,
  },
  {
    name: "that declares too many bytes",
    request: (url) => post(url, `{"name":"${"x".repeat(5000)}"}`),
    status: 413,
    code: "payload_too_large",
    message: /more than 4096 bytes/,
  },
  {
    name: "that is too large once decompressed",
    request: (url) => post(url, gzipSync(`{"name":"${"x".repeat(5000)}"}`), { "content-encoding": "gzip" }),
    status: 413,
    code: "payload_too_large",
    message: /4096/,
  },
  {
    name: "with a wrong field",
    request: (url) => post(url, '{"name":""}'),
    status: 400,
    code: null,
    message: /^name is ""; expected a non-empty string/,
  },
  {
    name: "with an unknown field",
    request: (url) => post(url, '{"name":"x","nmae":1}'),
    status: 400,
    code: null,
    message: /nmae is not a known field; known are name/,
  },
  {
    name: "for an unknown path",
    request: (url) => fetch(`${url}/v2/greet?key=secret`),
    status: 404,
    code: "not_found",
    message: /The path \/v2\/greet does not exist \(GET\)\.$/,
  },
  ...(
    [
      ["/greet", /The base URL of OpenAI's clients must end in \/v1\.$/],
      ["//v1/greet", /It has two slashes in a row; remove the one at the end of the base URL\.$/],
      ["/v1/v1/greet", /The base URL has \/v1 twice\.$/],
      ["/v1/greet/", /Remove the slash at its end\.$/],
      ["/api/chat", /Sounding does not serve Ollama's API/],
      ["/openai/deployments/gpt/chat/completions?api-version=1", /does not serve Azure OpenAI's API/],
      ["/v1beta/models/gemini:generateContent", /does not serve Gemini's API/],
      ["/v1/conversations", /does not serve this part of OpenAI's API/],
      ["/v1/messages/batches", /does not serve Anthropic's batches/],
    ] as const
  ).map(([path, message]) => ({
    name: `for ${path}, which is probably a wrong base URL or another API`,
    request: (url: string) => fetch(`${url}${path}`, { method: "POST", body: "{}" }),
    status: 404,
    code: "not_found",
    message,
  })),
  {
    name: "with the wrong method",
    request: (url) => fetch(`${url}/v1/greet`),
    status: 405,
    code: "method_not_allowed",
    message: /allowed: POST/,
  },
];

describe("a request is refused in OpenAI's form", () => {
  for (const { name, request, status, code, message } of refusals) {
    test(name, async () => {
      await using server = await startTestHttp({ routes: [echo], settings: { max_json_body_bytes: 4096 } });
      const response = await request(server.url);
      const body = (await response.json()) as {
        error: { message: string; type: string; param: string | null; code: string | null };
      };
      assert.equal(response.status, status, body.error.message);
      assert.match(body.error.message, message);
      assert.equal(body.error.code, code);
      assert.deepEqual(Object.keys(body), ["error"]);
      assert.deepEqual(Object.keys(body.error), ["message", "type", "param", "code"]);
      assert.ok(response.headers.get("x-request-id"));
      if (status === 401) assert.equal(response.headers.get("www-authenticate"), "Bearer");
      if (status === 405) assert.equal(response.headers.get("allow"), "POST");
    });
  }

  test("when its headers are too large", async () => {
    await using server = await startTestHttp({ routes: [echo] });
    const response = await post(server.url, "{}", { "x-long": "x".repeat(20_000) });
    assert.equal(response.status, 431);
    assert.equal(((await response.json()) as { error: { code: string } }).error.code, "headers_too_large");
  });

  test("when its body does not arrive in time", async () => {
    await using server = await startTestHttp({
      routes: [echo],
      settings: { body_timeout_ms: 200, header_timeout_ms: 200 },
    });
    const socket = connect(server.port, "127.0.0.1");
    socket.write(
      `POST /v1/greet HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${testSecret}\r\ncontent-length: 10\r\n\r\n{`,
    );
    let text = "";
    socket.on("data", (chunk: Buffer) => (text += chunk.toString()));
    await once(socket, "close");
    assert.match(text, /^HTTP\/1\.1 408 /);
  });
});

describe("a failure", () => {
  test("caused by the server reveals no internals, but is logged in full", async () => {
    await using server = await startTestHttp({
      routes: [
        greet(() => {
          throw new Error("the password is hunter2");
        }),
      ],
    });
    const response = await post(server.url, '{"name":"x"}');
    const text = await response.text();
    assert.equal(response.status, 500);
    assert.doesNotMatch(text, /hunter2/);
    assert.match(JSON.stringify(server.logged), /hunter2/);
  });

  test("that is temporary says when to retry", async () => {
    await using server = await startTestHttp({
      routes: [
        greet(() => {
          throw new AppError("rate_limited", "Too many.", { retryAfterMs: 1500 });
        }),
      ],
    });
    const response = await post(server.url, '{"name":"x"}');
    assert.equal(response.status, 429);
    assert.equal(response.headers.get("retry-after"), "2");
    assert.equal(response.headers.get("retry-after-ms"), "1500");
    assert.equal(response.headers.get("x-should-retry"), "true");
  });
});

async function* frames(...texts: (string | AppError)[]): AsyncGenerator<string> {
  for (const text of texts) {
    if (text instanceof AppError) throw text;
    yield text;
  }
}

describe("a stream of events", () => {
  test("ends with [DONE] when it is complete", async () => {
    await using server = await startTestHttp({
      routes: [greet(() => ({ kind: "events", events: frames('{"a":1}', '{"a":2}') }))],
    });
    const response = await post(server.url, '{"name":"x"}');
    assert.equal(response.headers.get("content-type"), "text/event-stream; charset=utf-8");
    assert.equal(await response.text(), 'data: {"a":1}\n\ndata: {"a":2}\n\ndata: [DONE]\n\n');
  });

  test("that fails before its first event is an ordinary error", async () => {
    await using server = await startTestHttp({
      routes: [greet(() => ({ kind: "events", events: frames(new AppError("upstream_failed", "Gone.")) }))],
    });
    const response = await post(server.url, '{"name":"x"}');
    assert.equal(response.status, 502);
  });

  test("that fails later carries the error and no [DONE]", async () => {
    await using server = await startTestHttp({
      routes: [greet(() => ({ kind: "events", events: frames('{"a":1}', new AppError("upstream_failed", "Gone.")) }))],
    });
    const text = await (await post(server.url, '{"name":"x"}')).text();
    assert.equal(
      text,
      'data: {"a":1}\n\ndata: {"error":{"message":"Gone.","type":"upstream_error","param":null,"code":"upstream_error"}}\n\n',
    );
    assert.equal(server.finished[0]?.outcome, "upstream_failed");
  });

  test("that is silent gets keep-alives that are merged into the next event", async () => {
    let release = (): void => {};
    const silence = new Promise<void>((resolve) => (release = resolve));
    async function* slow(): AsyncGenerator<string> {
      yield "1";
      await silence;
      yield "2";
    }
    await using server = await startTestHttp({
      routes: [greet(() => ({ kind: "events", events: slow() }))],
      settings: { heartbeat_interval_ms: 20 },
    });
    const response = await post(server.url, '{"name":"x"}');
    let text = "";
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      if (text.includes(": ping\n")) release();
    }
    assert.match(text, /^data: 1\n\n(: ping\n)+data: 2\n\ndata: \[DONE\]\n\n$/);
  });

  test("whose first event is late starts with its status after the holding time", async () => {
    let release = (): void => {};
    const silence = new Promise<void>((resolve) => (release = resolve));
    async function* late(): AsyncGenerator<string> {
      await silence;
      yield "1";
    }
    await using server = await startTestHttp({
      routes: [greet(() => ({ kind: "events", events: late() }))],
      settings: { status_hold_ms: 20 },
    });
    const response = await post(server.url, '{"name":"x"}');
    assert.equal(response.status, 200);
    release();
    assert.match(await response.text(), /data: 1\n\ndata: \[DONE\]/);
  });

  test("stops its source when the client disconnects", async () => {
    let stopped = (): void => {};
    const stop = new Promise<void>((resolve) => (stopped = resolve));
    async function* endless(signal: AbortSignal): AsyncGenerator<string> {
      try {
        for (;;) {
          yield "1";
          await setImmediate(undefined, { signal });
        }
      } finally {
        stopped();
      }
    }
    await using server = await startTestHttp({
      routes: [greet((input) => ({ kind: "events", events: endless(input.signal) }))],
    });
    const controller = new AbortController();
    const response = await fetch(`${server.url}/v1/greet`, {
      method: "POST",
      body: '{"name":"x"}',
      headers: { authorization: `Bearer ${testSecret}`, "content-type": "application/json" },
      signal: controller.signal,
    });
    await response.body!.getReader().read();
    controller.abort();
    await stop;
    await server.untilFinished(1);
    assert.deepEqual([server.finished[0]?.outcome, server.finished[0]?.status], ["client_closed", 499]);
  });

  test("waits for a client that does not read, with bounded memory", async () => {
    const firehose = { produced: 0 };
    const big = "x".repeat(64 * 1024);
    async function* pour(signal: AbortSignal): AsyncGenerator<string> {
      while (!signal.aborted) {
        firehose.produced += 1;
        yield big;
        await setImmediate();
      }
    }
    await using server = await startTestHttp({
      routes: [greet((input) => ({ kind: "events", events: pour(input.signal) }))],
    });
    const socket = connect(server.port, "127.0.0.1");
    socket.pause();
    socket.write(
      `POST /v1/greet HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${testSecret}\r\ncontent-type: application/json\r\ncontent-length: 12\r\n\r\n{"name":"x"}`,
    );
    while (firehose.produced === 0) await setImmediate();
    // Without back-pressure, each turn of the event loop would produce another event.
    for (let turn = 0; turn < 2_048; turn++) await setImmediate();
    assert.ok(
      firehose.produced * big.length < 32 * 1024 * 1024,
      `${firehose.produced} events were produced for a client that reads nothing`,
    );
    socket.destroy();
    await server.untilFinished(1);
  });
});

describe("closing", () => {
  test("lets a running stream end and refuses new connections", async () => {
    let release = (): void => {};
    const pause = new Promise<void>((resolve) => (release = resolve));
    async function* events(): AsyncGenerator<string> {
      yield "1";
      await pause;
      yield "2";
    }
    const server = await startTestHttp({ routes: [greet(() => ({ kind: "events", events: events() }))] });
    const response = await post(server.url, '{"name":"x"}');
    const closed = server.close();
    await assert.rejects(async () => {
      for (;;) await (await post(server.url, '{"name":"x"}')).body?.cancel();
    });
    release();
    assert.match(await response.text(), /data: 2\n\ndata: \[DONE\]/);
    await closed;
  });

  test("accepts requests for the shutdown delay, and asks their clients to close the connection", async () => {
    const server = await startTestHttp({ routes: [echo], settings: { shutdown_delay_ms: 2000 } });
    const before = await post(server.url, '{"name":"x"}');
    assert.equal(before.headers.get("connection"), "keep-alive");
    const closed = server.close();
    const meanwhile = await post(server.url, '{"name":"x"}');
    assert.deepEqual([meanwhile.status, meanwhile.headers.get("connection")], [200, "close"]);
    await closed;
    await assert.rejects(post(server.url, '{"name":"x"}'));
  });

  test("ends with an error for requests that do not end in time", async () => {
    async function* endless(signal: AbortSignal): AsyncGenerator<string> {
      yield "1";
      await once(signal, "abort");
      throw signal.reason;
    }
    const server = await startTestHttp({
      routes: [greet((input) => ({ kind: "events", events: endless(input.signal) }))],
      settings: { shutdown_timeout_ms: 20 },
    });
    const response = await post(server.url, '{"name":"x"}');
    await server.close();
    assert.match(await response.text(), /data: 1\n\ndata: \{"error":.*shutting down/);
  });
});

test("web pages may call only from allowed origins", async () => {
  await using server = await startTestHttp({ routes: [echo], settings: { cors_origins: ["https://app.example"] } });
  const preflight = await fetch(`${server.url}/v1/greet`, {
    method: "OPTIONS",
    headers: {
      origin: "https://app.example",
      "access-control-request-method": "POST",
      "access-control-request-headers": "authorization",
    },
  });
  assert.equal(preflight.status, 204);
  assert.equal(preflight.headers.get("access-control-allow-origin"), "https://app.example");
  assert.equal(preflight.headers.get("access-control-allow-headers"), "authorization");
  const stranger = await post(server.url, '{"name":"x"}', { origin: "https://evil.example" });
  assert.equal(stranger.headers.get("access-control-allow-origin"), null);
});
