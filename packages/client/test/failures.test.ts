import assert from "node:assert/strict";
import { createServer, type AddressInfo } from "node:net";
import { describe, test } from "node:test";
import {
  AbortError,
  ApiStatusError,
  AsyncSounding,
  AuthenticationError,
  BadRequestError,
  ConflictError,
  ConnectionError,
  isSoundingError,
  NotFoundError,
  PermissionDeniedError,
  RateLimitError,
  ServerError,
  TimeoutError,
  UnprocessableEntityError,
} from "@sounding/client";
import { chunk, completion, events, failure, json, startScriptedServer } from "./scripted-server.ts";

const server = await startScriptedServer();
const sounding = new AsyncSounding({ apiKey: "sk-test", baseUrl: server.url });
const question = { model: "m", messages: [{ role: "user" as const, content: "Hello?" }] };
const streamed = { ...question, stream: true as const };
const stall = (): void => undefined;
const soon = { "retry-after-ms": "1" };

describe("an answer with an error status", () => {
  for (const [status, errorClass] of [
    [400, BadRequestError],
    [401, AuthenticationError],
    [403, PermissionDeniedError],
    [404, NotFoundError],
    [409, ConflictError],
    [413, ApiStatusError],
    [422, UnprocessableEntityError],
    [429, RateLimitError],
    [500, ServerError],
    [503, ServerError],
  ] as const) {
    test(`${status} throws ${errorClass.name} with everything that the server reported`, async () => {
      const error = { message: "No.", type: "a_type", param: "model", code: "a_code" };
      server.answer(failure(status, { "x-request-id": "request-3" }, error));
      await assert.rejects(sounding.chat.completions.create(question, { maxRetries: 0 }), (thrown) => {
        assert.ok(thrown instanceof errorClass && thrown instanceof ApiStatusError);
        assert.equal(thrown.name, errorClass.name);
        assert.ok(isSoundingError(thrown) && thrown.kind === "status");
        const { message, type, param, code, requestId } = thrown;
        assert.deepEqual({ status: thrown.status, message, type, param, code }, { status, ...error });
        assert.equal(requestId, "request-3");
        assert.equal(thrown.headers.get("content-type"), "application/json");
        assert.deepEqual(thrown.body, { error });
        return true;
      });
    });
  }

  test("that is not JSON exposes its text", async () => {
    server.answer((response) => {
      response.writeHead(502, { "content-type": "text/html" });
      response.end("<h1>Bad  gateway</h1>");
    });
    await assert.rejects(sounding.models.list({ maxRetries: 0 }), (thrown) => {
      assert.ok(thrown instanceof ServerError);
      assert.equal(thrown.message, "The server responded with status 502: <h1>Bad gateway</h1>");
      assert.equal(thrown.body, "<h1>Bad  gateway</h1>");
      return true;
    });
  });

  test("that never ends is read up to one mebibyte", async () => {
    server.answer((response) => {
      response.writeHead(400);
      const more = (): void => {
        if (!response.destroyed && response.write(Buffer.alloc(65_536, 120))) setImmediate(more);
        else response.once("drain", more);
      };
      more();
    });
    await assert.rejects(sounding.models.list(), BadRequestError);
    await server.requests[0]!.closed;
  });

  test("before a stream throws as it does before a batch answer", async () => {
    server.answer(failure(404, {}, { code: "model_not_found" }));
    await assert.rejects(sounding.chat.completions.create(streamed), NotFoundError);
  });
});

describe("retries", () => {
  test("send the same request again until it succeeds", async () => {
    server.answer(failure(429, soon), failure(503, soon), json(completion("Hi.")));
    const answer = await sounding.chat.completions.create(question);
    assert.equal(answer.choices[0]?.message.content, "Hi.");
    assert.equal(server.requests.length, 3);
    assert.equal(new Set(server.requests.map(({ body }) => body)).size, 1);
  });

  test("restart a stream that has not begun", async () => {
    server.answer(failure(503, soon), events([chunk("one"), "data: [DONE]\n\n"]));
    const stream = await sounding.chat.completions.create(streamed);
    for await (const { choices } of stream) assert.equal(choices[0]?.delta.content, "one");
    assert.equal(server.requests.length, 2);
  });

  test("stop after maxRetries, of the client or of the call, and throw the last error", async () => {
    server.answer(failure(503, soon), failure(503, soon), failure(429, soon), json(completion("too late")));
    await assert.rejects(sounding.chat.completions.create(question), RateLimitError);
    assert.equal(server.requests.length, 3);
    server.answer(failure(503, soon));
    await assert.rejects(sounding.chat.completions.create(question, { maxRetries: 1 }), ServerError);
    assert.equal(server.requests.length, 2);
  });

  test("do not repeat a request that the server refuses", async () => {
    server.answer(failure(400));
    await assert.rejects(sounding.chat.completions.create(question), BadRequestError);
    assert.equal(server.requests.length, 1);
  });

  test("do not repeat a stream that failed after its first chunk", async () => {
    server.answer((response, request) => {
      void events([chunk("one")], true)(response, request);
      setImmediate(() => response.destroy());
    });
    const stream = await sounding.chat.completions.create(streamed);
    await assert.rejects(async () => {
      for await (const event of stream) assert.ok(event);
    }, ConnectionError);
    assert.equal(server.requests.length, 1);
  });

  test("repeat a call whose connection fails before or within a batch answer", async () => {
    server.answer(
      (response) => void response.destroy(),
      (response) => {
        response.writeHead(200, { "content-length": "1000" });
        response.write("{");
        setImmediate(() => response.destroy());
      },
      json(completion("Hi.")),
    );
    const answer = await sounding.chat.completions.create(question);
    assert.equal(answer.choices[0]?.message.content, "Hi.");
    assert.equal(server.requests.length, 3);
  });

  test("ask for a fresh key each time", async () => {
    const keys = ["sk-first", "sk-second"];
    const client = new AsyncSounding({ apiKey: async () => keys.shift()!, baseUrl: server.url });
    server.answer(failure(503, soon), json({ object: "list", data: [] }));
    await client.models.list();
    assert.deepEqual(
      server.requests.map(({ headers }) => headers.authorization),
      ["Bearer sk-first", "Bearer sk-second"],
    );
  });
});

describe("a connection that fails", () => {
  test("throws ConnectionError that names the cause", async () => {
    const closed = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => closed.once("listening", resolve));
    const { port } = closed.address() as AddressInfo;
    await new Promise((resolve) => closed.close(resolve));
    const client = new AsyncSounding({ apiKey: "sk-test", baseUrl: `http://127.0.0.1:${port}`, maxRetries: 0 });
    await assert.rejects(client.models.list(), (error) => {
      assert.ok(error instanceof ConnectionError && !(error instanceof TimeoutError));
      assert.match(error.message, /ECONNREFUSED/);
      assert.equal(error.kind, "connection");
      return true;
    });
  });

  test("with TLS to a port that speaks HTTP says so", async () => {
    const client = new AsyncSounding({ apiKey: "sk", baseUrl: server.url.replace("http:", "https:"), maxRetries: 0 });
    await assert.rejects(client.models.list(), { name: "ConnectionError", message: /Use http:\/\/ instead/ });
  });

  test("in a web page of another origin says how to allow that origin", async (context) => {
    Object.assign(globalThis, { location: { origin: "https://app.example" } });
    context.after(() => Reflect.deleteProperty(globalThis, "location"));
    // What Chromium throws if a preflight is refused; the reason is only in its console.
    const fetch = () => Promise.reject(new TypeError("Failed to fetch"));
    const client = new AsyncSounding({ apiKey: "sk-test", baseUrl: "https://ai.example", maxRetries: 0, fetch });
    await assert.rejects(client.models.list(), {
      name: "ConnectionError",
      message: /https:\/\/ai\.example.*add "https:\/\/app\.example" to the server's setting server\.cors_origins/,
    });
    const sameOrigin = new AsyncSounding({ apiKey: "sk", baseUrl: "https://app.example", maxRetries: 0, fetch });
    await assert.rejects(sameOrigin.models.list(), { message: "The connection failed: Failed to fetch" });
  });
});

describe("the time limit", () => {
  test("of a call ends it with TimeoutError and cancels the request", async () => {
    server.answer(stall);
    await assert.rejects(sounding.chat.completions.create({ ...question, timeout: 0.1 }), (error) => {
      assert.ok(error instanceof TimeoutError && error.kind === "timeout");
      assert.match(error.message, /0\.1 s/);
      return true;
    });
    await server.requests[0]!.closed;
    assert.equal(server.requests.length, 1);
  });

  test("applies in the middle of a batch answer", async () => {
    server.answer((response) => void response.writeHead(200).write("{"));
    await assert.rejects(sounding.models.list({ timeout: 0.1 }), TimeoutError);
    await server.requests[0]!.closed;
  });

  test("applies to an endless stream", async () => {
    server.answer(async (response, request) => {
      void events([], true)(response, request);
      while (!response.destroyed) {
        response.write(`data: ${JSON.stringify(chunk("more"))}\n\n`);
        await new Promise((resolve) => {
          setTimeout(resolve, 5);
        });
      }
    });
    const client = new AsyncSounding({ apiKey: "sk-test", baseUrl: server.url, timeout: 0.2 });
    const stream = await client.chat.completions.create(streamed);
    let count = 0;
    await assert.rejects(async () => {
      for await (const event of stream) count += event.choices.length;
    }, TimeoutError);
    assert.ok(count > 0);
    await server.requests[0]!.closed;
  });

  test("skips a retry that could not finish in time and throws the last error", async () => {
    server.answer(failure(503, { "retry-after": "30" }));
    await assert.rejects(sounding.models.list({ timeout: 5 }), ServerError);
    assert.equal(server.requests.length, 1);
  });

  test("applies to a `fetch` that ignores signals", async () => {
    const client = new AsyncSounding({ apiKey: "sk-test", fetch: () => new Promise<Response>(() => undefined) });
    await assert.rejects(client.models.list({ timeout: 0.05 }), TimeoutError);
    const body = new ReadableStream<Uint8Array>({ pull: () => new Promise(() => undefined) });
    const silent = new AsyncSounding({ apiKey: "sk-test", fetch: async () => new Response(body) });
    await assert.rejects(silent.models.list({ timeout: 0.05 }), TimeoutError);
  });
});

describe("the caller's signal", () => {
  test("ends a call with AbortError that carries the reason, and cancels the request", async () => {
    const controller = new AbortController();
    server.answer(() => controller.abort(new Error("enough")));
    await assert.rejects(sounding.chat.completions.create(question, { signal: controller.signal }), (error) => {
      assert.ok(error instanceof AbortError && error.name === "AbortError");
      assert.equal((error.cause as Error).message, "enough");
      return true;
    });
    await server.requests[0]!.closed;
  });

  test("aborted in advance sends nothing", async () => {
    server.answer(json({}));
    await assert.rejects(sounding.models.list({ signal: AbortSignal.abort() }), AbortError);
    assert.equal(server.requests.length, 0);
  });

  test("ends a stream between chunks and while it waits", async () => {
    for (const frames of [[chunk("one"), chunk("two")], [chunk("one")]]) {
      server.answer(events(frames, true));
      const controller = new AbortController();
      const stream = await sounding.chat.completions.create(streamed, { signal: controller.signal });
      let count = 0;
      await assert.rejects(async () => {
        for await (const event of stream) {
          count += event.choices.length;
          if (frames.length === 1) setImmediate(() => controller.abort());
          else controller.abort();
        }
      }, AbortError);
      assert.equal(count, 1);
      await server.requests[0]!.closed;
    }
  });

  test("ends the wait before a retry", async () => {
    const controller = new AbortController();
    server.answer((response, request) => {
      response.once("close", () => setImmediate(() => controller.abort()));
      return failure(503, { "retry-after": "50" })(response, request);
    });
    await assert.rejects(sounding.models.list({ signal: controller.signal }), AbortError);
  });

  test("has no listeners left after the call", async () => {
    const { signal } = new AbortController();
    let listeners = 0;
    const watched = new Proxy(signal, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name, target);
        if (name === "addEventListener") listeners += 1;
        if (name === "removeEventListener") listeners -= 1;
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    server.answer(json({ object: "list", data: [] }), events([chunk("one"), "data: [DONE]\n\n"]));
    await sounding.models.list({ signal: watched });
    for await (const event of await sounding.chat.completions.create(streamed, { signal: watched })) assert.ok(event);
    assert.equal(listeners, 0);
  });
});
