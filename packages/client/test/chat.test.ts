import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  ApiStatusError,
  AsyncSounding,
  ConfigurationError,
  IncompleteStreamError,
  InvalidAnswerError,
  responseOf,
  StreamError,
  type ChatCompletionChunk,
} from "@sounding/client";
import { chunk, completion, done, events, json, startScriptedServer } from "./scripted-server.ts";

const server = await startScriptedServer();
const sounding = new AsyncSounding({ apiKey: "sk-test", baseUrl: server.url, maxRetries: 0 });
const question = { model: "m", messages: [{ role: "user" as const, content: "Hello?" }] };

async function contents(stream: AsyncIterable<ChatCompletionChunk>, into: string[] = []): Promise<string[]> {
  for await (const { choices } of stream) into.push(choices[0]?.delta.content ?? "");
  return into;
}

describe("chat.completions.create", () => {
  test("sends the parameters and returns the completion", async () => {
    server.answer(json(completion("Hi."), 200, { "x-request-id": "request-1" }));
    const answer = await sounding.chat.completions.create({ ...question, temperature: 0.5, user: undefined });
    assert.equal(answer.choices[0]?.message.content, "Hi.");
    assert.equal(responseOf(answer)?.requestId, "request-1");
    const request = server.requests[0]!;
    assert.equal(`${request.method} ${request.url}`, "POST /v1/chat/completions");
    assert.equal(request.headers["content-type"], "application/json");
    assert.deepEqual(JSON.parse(request.body), { ...question, temperature: 0.5 });
  });

  test("accepts an answer's message as a message of the next request", async () => {
    server.answer(json(completion("Hi.")));
    const answer = await sounding.chat.completions.create(question);
    const messages = [...question.messages, answer.choices[0]!.message, { role: "user" as const, content: "And?" }];
    await sounding.chat.completions.create({ model: "m", messages });
    assert.equal(JSON.parse(server.requests[1]!.body).messages[1].content, "Hi.");
  });

  test("merges extra_body under the parameters and keeps the client's own parameters to itself", async () => {
    server.answer(json(completion("Hi.")));
    await sounding.chat.completions.create({
      ...question,
      seed: 1,
      top_p: undefined,
      timeout: 20,
      extra_body: { top_k: 40, seed: 2, top_p: 0.5 },
      extra_headers: { "X-Extra": "yes" },
    });
    assert.deepEqual(JSON.parse(server.requests[0]!.body), { ...question, seed: 1, top_k: 40, top_p: 0.5 });
    assert.equal(server.requests[0]!.headers["x-extra"], "yes");
  });

  test("refuses an HTML answer and quotes its beginning", async () => {
    server.answer((response) => {
      response.writeHead(200, { "content-type": "text/html" });
      response.end("<html><body>Sign in</body></html>");
    });
    await assert.rejects(sounding.chat.completions.create(question), (error) => {
      assert.ok(error instanceof InvalidAnswerError);
      assert.match(error.message, /text\/html.*Sign in/);
      return true;
    });
  });
});

describe("a streamed chat completion", () => {
  test("yields each chunk before the next is sent", async () => {
    let release = (): void => undefined;
    const wait = new Promise<void>((resolve) => {
      release = resolve;
    });
    server.answer(async (response) => {
      response.writeHead(200, { "content-type": "text/event-stream", "x-request-id": "request-7" });
      response.write(`data: ${JSON.stringify(chunk("one"))}\n\n`);
      await wait;
      response.end(`: ping\ndata: ${JSON.stringify(chunk("two"))}\n\n${done}`);
    });
    const stream = await sounding.chat.completions.create({ ...question, stream: true });
    assert.equal(stream.head.requestId, "request-7");
    const seen: string[] = [];
    for await (const { choices } of stream) {
      seen.push(choices[0]?.delta.content ?? "");
      release();
    }
    assert.deepEqual(seen, ["one", "two"]);
    assert.equal(server.requests[0]!.headers.accept, "text/event-stream");
  });

  test("ends at its end marker even if the server leaves the connection open", async () => {
    server.answer(events([chunk("one"), done], true));
    const stream = await sounding.chat.completions.create({ ...question, stream: true });
    assert.deepEqual(await contents(stream), ["one"]);
    await server.requests[0]!.closed;
  });

  test("frees the connection for the next call once it is read to the end", async () => {
    const ports: unknown[] = [];
    server.answer((response, request) => {
      ports.push(response.socket?.remotePort);
      return events([chunk("one"), done])(response, request);
    });
    // The end of an answer may reach the client after its end marker, when the next call would not find the connection free yet.
    while (new Set(ports).size === ports.length && ports.length < 50) {
      await contents(await sounding.chat.completions.create({ ...question, stream: true }));
      await server.requests.at(-1)!.closed;
    }
    assert.ok(ports.length < 50, "every call opened a connection of its own");
  });

  test("that ends without its end marker throws IncompleteStreamError after its chunks", async () => {
    server.answer(events([chunk("one")]));
    const seen: string[] = [];
    const stream = await sounding.chat.completions.create({ ...question, stream: true });
    await assert.rejects(contents(stream, seen), IncompleteStreamError);
    assert.deepEqual(seen, ["one"]);
  });

  test("whose connection is cut throws IncompleteStreamError with the cause", async () => {
    server.answer((response, request) => {
      void events([chunk("one"), 'data: {"id"'], true)(response, request);
      setImmediate(() => response.destroy());
    });
    const stream = await sounding.chat.completions.create({ ...question, stream: true });
    await assert.rejects(contents(stream), (error) => {
      assert.ok(error instanceof IncompleteStreamError && error.kind === "incomplete_stream");
      assert.ok(error.cause instanceof Error);
      return true;
    });
  });

  test("that contains an error throws StreamError after its chunks and cancels the request", async () => {
    const error = { message: "The engine failed.", type: "upstream_error", param: null, code: "upstream_error" };
    server.answer(events([chunk("one"), { error }], true));
    const seen: string[] = [];
    const stream = await sounding.chat.completions.create({ ...question, stream: true });
    await assert.rejects(contents(stream, seen), (thrown) => {
      assert.ok(thrown instanceof StreamError && thrown instanceof ApiStatusError);
      assert.equal(thrown.message, "The engine failed.");
      assert.equal(thrown.code, "upstream_error");
      assert.equal(thrown.type, "upstream_error");
      assert.equal(thrown.requestId, "request-7");
      return true;
    });
    assert.deepEqual(seen, ["one"]);
    await server.requests[0]!.closed;
  });

  test("with an event that is not JSON throws InvalidAnswerError", async () => {
    server.answer(events([chunk("one"), "data: {oops\n\n", done]));
    const stream = await sounding.chat.completions.create({ ...question, stream: true });
    await assert.rejects(contents(stream), InvalidAnswerError);
  });

  test("that is answered with a batch response throws InvalidAnswerError", async () => {
    server.answer(json(completion("Hi.")));
    await assert.rejects(sounding.chat.completions.create({ ...question, stream: true }), /application\/json/);
  });

  test("left by break cancels the request", async () => {
    server.answer(events([chunk("one"), chunk("two")], true));
    const stream = await sounding.chat.completions.create({ ...question, stream: true });
    for await (const { choices } of stream) {
      assert.equal(choices[0]?.delta.content, "one");
      break;
    }
    await server.requests[0]!.closed;
  });

  test("closed before it is read cancels the request", async () => {
    server.answer(events([chunk("one")], true));
    const stream = await sounding.chat.completions.create({ ...question, stream: true });
    await stream.close();
    await server.requests[0]!.closed;
    assert.deepEqual(await contents(stream), []);
  });

  test("closed while it waits ends the loop without an error", async () => {
    server.answer(events([chunk("one")], true));
    const stream = await sounding.chat.completions.create({ ...question, stream: true });
    const seen: string[] = [];
    for await (const { choices } of stream) {
      seen.push(choices[0]?.delta.content ?? "");
      setImmediate(() => void stream.close());
    }
    assert.deepEqual(seen, ["one"]);
    await server.requests[0]!.closed;
  });

  test("can be iterated once", async () => {
    server.answer(events([chunk("one"), done]));
    const stream = await sounding.chat.completions.create({ ...question, stream: true });
    await contents(stream);
    assert.throws(() => stream[Symbol.asyncIterator](), ConfigurationError);
  });

  test("survives being cut at every byte", async () => {
    const whole = Buffer.from(`data: ${JSON.stringify(chunk("naïve 😀"))}\r\n\r\n: ping\n${done}`);
    server.answer(async (response) => {
      response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
      for (const byte of whole) {
        response.write(Uint8Array.of(byte));
        await new Promise(setImmediate);
      }
      response.end();
    });
    const stream = await sounding.chat.completions.create({ ...question, stream: true });
    assert.deepEqual(await contents(stream), ["naïve 😀"]);
  });
});

describe("models", () => {
  test("are listed and retrieved, with a slash in the ID kept and the rest escaped", async () => {
    const model = { id: "vendor/model?", object: "model", created: 1, owned_by: "vendor" };
    server.answer(json({ object: "list", data: [model] }), json(model));
    assert.deepEqual(await sounding.models.list(), { object: "list", data: [model] });
    assert.deepEqual(await sounding.models.retrieve("vendor/model?"), model);
    assert.deepEqual(
      server.requests.map(({ method, url, body }) => [method, url, body]),
      [
        ["GET", "/v1/models", ""],
        ["GET", "/v1/models/vendor/model%3F", ""],
      ],
    );
  });
});
