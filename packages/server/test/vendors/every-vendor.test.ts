/** Invariants of every vendor: answers, refusals, failures, cancellation, time limits, several choices. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { inspect } from "node:util";
import { apiKey, assemble, collect, complete, modelOf, openEngine, toCall, type VendorType } from "./vendor-call.ts";
import { bytes, json, silent, startVendorServer } from "./vendor-server.ts";
import { wires } from "./wires.ts";

const usage = { prompt_tokens: 7, completion_tokens: 2, total_tokens: 9 };

for (const type of Object.keys(wires) as VendorType[]) {
  const wire = wires[type];
  const chatOf = (engine: ReturnType<typeof openEngine>) => engine.chat(modelOf[type]);

  describe(type, () => {
    test("answers with text and usage", async () => {
      await using server = await startVendorServer();
      server.play(wire.batch);
      const engine = openEngine(type, server.url);
      const completion = await complete(engine, type);
      await engine.close();
      const [choice] = completion.choices;
      assert.equal(choice?.message.content, "Hello there");
      assert.equal(choice?.message.refusal, null);
      assert.equal(choice?.finish_reason, "stop");
      assert.equal(completion.object, "chat.completion");
      assert.ok(completion.id.length > 0 && Number.isInteger(completion.created));
      const { prompt_tokens, completion_tokens, total_tokens } = completion.usage ?? {};
      assert.deepEqual({ prompt_tokens, completion_tokens, total_tokens }, usage);
    });

    test("streams text, the finish and usage, in this order", async () => {
      await using server = await startVendorServer();
      server.play(wire.stream("end", true));
      const engine = openEngine(type, server.url);
      const chunks = await collect(engine, type);
      await engine.close();
      const { content, finishReasons } = assemble(chunks);
      assert.equal(content, "Hello there");
      assert.deepEqual(finishReasons, ["stop"]);
      assert.deepEqual(chunks.at(-1)?.choices, []);
      assert.equal(chunks.at(-2)?.choices[0]?.finish_reason, "stop");
      const { prompt_tokens, completion_tokens, total_tokens } = chunks.at(-1)?.usage ?? {};
      assert.deepEqual({ prompt_tokens, completion_tokens, total_tokens }, usage);
    });

    test("passes on a first piece before the answer is complete", async () => {
      await using server = await startVendorServer();
      server.play(wire.stream("open", false));
      const engine = openEngine(type, server.url);
      let content = "";
      for await (const chunk of chatOf(engine).stream(toCall({ stream: true }))) {
        content += chunk.choices[0]?.delta.content ?? "";
        if (content === "Hello there") break;
      }
      await server.requests[0]?.aborted;
      await engine.close();
    });

    const failures = [
      { status: 400, code: "invalid_request", says: /messages: wrong/ },
      { status: 404, code: "model_not_found", says: /messages: wrong/ },
      { status: 422, code: "invalid_request", says: /messages: wrong/ },
      { status: 429, code: "rate_limited", says: /messages: wrong/ },
      { status: 500, code: "upstream_failed", says: /messages: wrong/ },
      { status: 503, code: "overloaded", says: /messages: wrong/ },
      { status: 529, code: "overloaded", says: /messages: wrong/ },
      { status: 504, code: "upstream_timeout", says: /messages: wrong/ },
      { status: 401, code: "upstream_failed", says: /credentials/ },
      { status: 403, code: "upstream_failed", says: /credentials/ },
    ];
    for (const { status, code, says } of failures) {
      test(`maps the vendor's ${status} to ${code}, batch and streamed`, async () => {
        await using server = await startVendorServer();
        server.play(wire.failure(status, `messages: wrong (${apiKey})`, { "retry-after": "7" }));
        const engine = openEngine(type, server.url);
        const check = (error: Error & { code?: string; retryAfterMs?: number }) => {
          assert.equal(error.code, code);
          assert.match(error.message, says);
          assert.ok(!error.message.includes(apiKey), "the key leaked");
          if (status === 429) assert.equal(error.retryAfterMs, 7000);
          return true;
        };
        await assert.rejects(complete(engine, type), check);
        await assert.rejects(collect(engine, type), check);
        await engine.close();
        assert.equal(server.requests.length, 2, "no retries");
      });
    }

    test("distinguishes a prompt that is too long from other bad requests", async () => {
      await using server = await startVendorServer();
      server.play(wire.failure(400, "prompt is too long: 300000 tokens > 200000 maximum"));
      const engine = openEngine(type, server.url);
      await assert.rejects(complete(engine, type), { code: "context_length_exceeded" });
      await engine.close();
    });

    test("fails a stream that ends, or is cut, before its end", async () => {
      await using server = await startVendorServer();
      const engine = openEngine(type, server.url);
      for (const end of ["end", "cut"] as const) {
        server.play(wire.stream(end, false));
        const seen: string[] = [];
        await assert.rejects(
          async () => {
            for await (const chunk of chatOf(engine).stream(toCall({ stream: true }))) {
              seen.push(chunk.choices[0]?.delta.content ?? "");
            }
          },
          { code: "upstream_failed" },
        );
        assert.ok(seen.join("").startsWith("Hello"), `what came before the ${end} was passed on`);
      }
      await engine.close();
    });

    test("fails if the answer is nonsense", async () => {
      await using server = await startVendorServer();
      const engine = openEngine(type, server.url);
      server.play(json({ hello: "world" }));
      await assert.rejects(complete(engine, type), { code: "upstream_failed" });
      server.play(bytes("text/html", [Buffer.from("<html>busy</html>")]));
      await assert.rejects(complete(engine, type), { code: "upstream_failed" });
      await assert.rejects(collect(engine, type), { code: "upstream_failed" });
      await engine.close();
    });

    test("reports that the vendor cannot be reached", async () => {
      const server = await startVendorServer();
      await server[Symbol.asyncDispose]();
      const engine = openEngine(type, server.url);
      await assert.rejects(complete(engine, type), { code: "upstream_failed", message: /ECONNREFUSED/ });
      await engine.close();
    });

    test("closes the vendor's connection when the client disconnects", async () => {
      await using server = await startVendorServer();
      const engine = openEngine(type, server.url);
      for (const reply of [silent, wire.stream("open", false)]) {
        server.play(reply);
        const controller = new AbortController();
        const call = toCall({ stream: true }, controller.signal);
        const before = server.requests.length;
        const reading = (async () => {
          for await (const chunk of chatOf(engine).stream(call)) {
            if (chunk.choices[0]?.delta.content === "there") controller.abort();
          }
        })();
        const failing = assert.rejects(reading, { code: "client_closed" });
        while (server.requests.length === before) await new Promise(setImmediate);
        if (reply === silent) controller.abort();
        await failing;
        await server.requests[before]?.aborted;
      }
      server.play(silent);
      const controller = new AbortController();
      const failing = assert.rejects(chatOf(engine).complete(toCall({}, controller.signal)), { code: "client_closed" });
      while (server.requests.length < 3) await new Promise(setImmediate);
      controller.abort();
      await failing;
      await server.requests[2]?.aborted;
      await engine.close();
    });

    test("closes the vendor's connection while nobody reads", async () => {
      await using server = await startVendorServer();
      server.play(wire.stream("open", false));
      const engine = openEngine(type, server.url);
      const controller = new AbortController();
      const stream = chatOf(engine).stream(toCall({ stream: true }, controller.signal));
      const chunks = stream[Symbol.asyncIterator]();
      await chunks.next();
      controller.abort();
      await server.requests[0]?.aborted;
      const read = async () => {
        while ((await chunks.next()).done !== true);
      };
      await assert.rejects(read(), { code: "client_closed" });
      await engine.close();
    });

    test("applies the reader's back-pressure to the vendor", async () => {
      await using server = await startVendorServer();
      let written = 0;
      server.play(async (response, request) => {
        await wire.stream("open", false)(response, request);
        while (written < 256 && !response.destroyed) {
          written++;
          if (!response.write(wire.longPiece)) await Promise.race([once(response, "drain"), request.aborted]);
        }
      });
      const engine = openEngine(type, server.url);
      const stream = chatOf(engine).stream(toCall({ stream: true }));
      const chunks = stream[Symbol.asyncIterator]();
      await chunks.next();
      // Until the vendor has been held back for a while; without back-pressure it never is.
      for (let held = 0, before = -1; held < 10; held = written === before ? held + 1 : 0) {
        assert.ok(written < 64, `${written} MB were taken from the vendor while nobody read`);
        before = written;
        await delay(20);
      }
      await chunks.return?.();
      await engine.close();
    });

    test("sends the request's ID to the vendor and applies a target's own limits", async () => {
      await using server = await startVendorServer();
      server.play(wire.batch);
      const engine = openEngine(type, server.url);
      await chatOf(engine).complete({ ...toCall({}), requestId: "req-1" });
      assert.equal(server.requests[0]?.headers["x-request-id"], "req-1");
      server.play(silent);
      const limited = engine.chat(modelOf[type], { total_timeout_ms: 40, connect_timeout_ms: 1_000 });
      await assert.rejects(limited.complete(toCall({})), { code: "upstream_timeout", message: /within 40 ms/ });
      await engine.close();
    });

    test("reveals neither proxies' pages nor secrets, not even to the log", async () => {
      await using server = await startVendorServer();
      server.play((response) => {
        response.writeHead(502, { "content-type": "text/html" }).end(`<html>${apiKey}</html>`);
      });
      const engine = openEngine(type, server.url);
      await assert.rejects(complete(engine, type), (error: Error & { code?: string }) => {
        assert.equal(error.code, "upstream_failed");
        assert.ok(!error.message.includes("<html>"), error.message);
        assert.ok(!inspect(error, { depth: 10, showHidden: true }).includes(apiKey));
        return true;
      });
      await engine.close();
    });

    test("calls nobody for a client that has already disconnected", async () => {
      await using server = await startVendorServer();
      const engine = openEngine(type, server.url);
      await assert.rejects(chatOf(engine).complete(toCall({}, AbortSignal.abort())), { code: "client_closed" });
      await engine.close();
      assert.equal(server.requests.length, 0);
    });

    test("enforces its time limits", async () => {
      await using server = await startVendorServer();
      const limited = async (settings: object, reply: typeof silent, stream: boolean, says: RegExp) => {
        server.play(reply);
        const engine = openEngine(type, server.url, settings);
        const running = stream ? collect(engine, type) : complete(engine, type);
        await assert.rejects(running, { code: "upstream_timeout", message: says });
        await server.requests.at(-1)?.aborted;
        await engine.close();
      };
      await limited({ first_byte_timeout_ms: 50 }, silent, true, /did not start to respond within 50 ms/);
      await limited({ idle_timeout_ms: 60 }, wire.stream("open", false), true, /sent nothing more within 60 ms/);
      await limited({ total_timeout_ms: 70 }, wire.stream("open", false), true, /did not finish within 70 ms/);
      await limited({ total_timeout_ms: 80 }, silent, false, /did not finish within 80 ms/);
    });

    test("returns several choices by several calls", async () => {
      await using server = await startVendorServer();
      const engine = openEngine(type, server.url);
      server.play(wire.batch);
      const completion = await complete(engine, type, { n: 3 });
      assert.deepEqual(
        completion.choices.map((choice) => [choice.index, choice.message.content]),
        [0, 1, 2].map((index) => [index, "Hello there"]),
      );
      assert.equal(completion.usage?.total_tokens, 27);
      assert.equal(server.requests.length, 3);
      server.play(wire.stream("end", true));
      const chunks = await collect(engine, type, { n: 2 });
      for (const index of [0, 1]) {
        const { content, finishReasons } = assemble(chunks, index);
        assert.deepEqual([content, finishReasons], ["Hello there", ["stop"]]);
      }
      assert.equal(chunks.filter((chunk) => chunk.usage !== undefined).length, 1);
      assert.equal(chunks.at(-1)?.usage?.total_tokens, 18);
      await assert.rejects(complete(engine, type, { n: 9 }), { code: "unsupported_parameter", param: "n" });
      await engine.close();
    });

    test("ends all calls of a request when one of them fails", async () => {
      await using server = await startVendorServer();
      const engine = openEngine(type, server.url);
      server.play(silent, wire.failure(500, "broken"));
      await assert.rejects(complete(engine, type, { n: 2 }), { code: "upstream_failed" });
      server.play(wire.stream("open", false), wire.failure(500, "broken"));
      await assert.rejects(collect(engine, type, { n: 2 }), { code: "upstream_failed" });
      await engine.close();
    });

    test("ends its calls when it closes", async () => {
      await using server = await startVendorServer();
      server.play(silent);
      const engine = openEngine(type, server.url);
      const failing = assert.rejects(complete(engine, type), { code: "overloaded" });
      while (server.requests.length === 0) await new Promise(setImmediate);
      await engine.close();
      await failing;
      await assert.rejects(complete(engine, type), { code: "overloaded" });
    });

    test("offers the configured models", async () => {
      const engine = openEngine(type, "http://127.0.0.1:9", { models: ["a", "b"] });
      const models = await engine.listModels(new AbortController().signal);
      await engine.close();
      assert.deepEqual(models, [
        { id: "a", created: 0, ownedBy: type },
        { id: "b", created: 0, ownedBy: type },
      ]);
    });
  });
}
