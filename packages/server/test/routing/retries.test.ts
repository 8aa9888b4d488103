/** Which failures are retried, on which target, and which error the caller finally gets. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { AppError, type ErrorCode } from "../../src/errors.ts";
import { routingFixture, streamedChunks, streamedText } from "./routing-fixture.ts";
import { answer, chatCall, fail, failed, rateLimited } from "./scripted-engine.ts";

const one = { engines: ["a"], models: { m: { targets: [{ engine: "a" }] } } };
const two = { engines: ["a", "b"], models: { m: { targets: [{ engine: "a" }, { engine: "b" }] } } };

function codeIs(code: ErrorCode): (error: unknown) => boolean {
  return (error) => error instanceof AppError && error.code === code;
}

describe("a failing target", () => {
  test("that returns a 429 and then an answer succeeds, with both attempts reported", async () => {
    await using routing = await routingFixture(one);
    routing.engine("a").steps = [fail(rateLimited()), answer("fine")];
    const call = chatCall();
    const completion = await routing.chat("m").complete(call);
    assert.equal(completion.choices[0]?.message.content, "fine");
    assert.deepEqual(
      call.attempts.map(({ engine, model, outcome }) => [engine, model, outcome]),
      [
        ["a", "m-upstream", "rate_limited"],
        ["a", "m-upstream", "ok"],
      ],
    );
  });

  for (const code of ["rate_limited", "overloaded", "upstream_failed", "upstream_timeout"] as const) {
    test(`${code} is retried twice and no more`, async () => {
      await using routing = await routingFixture(one);
      routing.engine("a").always = fail(new AppError(code, "no"));
      await assert.rejects(routing.chat("m").complete(chatCall()), codeIs(code));
      assert.equal(routing.engine("a").calls.length, 3);
    });
  }

  for (const code of ["invalid_request", "unsupported_parameter", "context_length_exceeded"] as const) {
    test(`${code} is the caller's mistake: tried once, on no other target`, async () => {
      await using routing = await routingFixture(two);
      for (const engine of routing.engines) engine.always = fail(new AppError(code, "no"));
      await assert.rejects(routing.chat("m").complete(chatCall()), codeIs(code));
      assert.equal(routing.engine("a").calls.length + routing.engine("b").calls.length, 1);
    });
  }

  test("an engine's error that is not an AppError is internal, and another target is tried", async () => {
    await using routing = await routingFixture(two);
    for (const engine of routing.engines) engine.steps = [fail(new TypeError("x is not a function")), answer("late")];
    await assert.rejects(routing.chat("m").complete(chatCall()), codeIs("internal"));
    assert.deepEqual([routing.engine("a").calls.length, routing.engine("b").calls.length], [1, 1]);
  });

  test("pauses grow exponentially, have jitter of at most half, and are capped", async () => {
    await using routing = await routingFixture({
      engines: ["a"],
      models: { m: { targets: [{ engine: "a" }], retries: { attempts: 6, backoff_ms: 100, max_backoff_ms: 1_000 } } },
    });
    routing.engine("a").always = fail(rateLimited());
    await assert.rejects(routing.chat("m").complete(chatCall()), codeIs("rate_limited"));
    const longest = [100, 200, 400, 800, 1_000, 1_000];
    assert.equal(routing.pauses.length, longest.length);
    for (const [index, pause] of routing.pauses.entries()) {
      assert.ok(pause <= longest[index]! && pause >= longest[index]! / 2, `pause ${index} is ${pause} ms`);
    }
  });

  test("a Retry-After up to the longest pause is waited for", async () => {
    await using routing = await routingFixture(one);
    routing.engine("a").steps = [fail(rateLimited(3_000)), answer("fine")];
    await routing.chat("m").complete(chatCall());
    assert.deepEqual(routing.pauses, [3_000]);
  });

  test("a longer Retry-After is passed on to the caller", async () => {
    await using routing = await routingFixture(one);
    routing.engine("a").steps = [fail(rateLimited(30_000))];
    await assert.rejects(routing.chat("m").complete(chatCall()), { code: "rate_limited", retryAfterMs: 30_000 });
    assert.deepEqual(routing.pauses, []);
    assert.equal(routing.engine("a").calls.length, 1);
  });

  test("a target that asked for a longer pause is not tried again, however often others fail", async () => {
    await using routing = await routingFixture({
      ...two,
      models: { m: { ...two.models.m, retries: { attempts: 6 } } },
    });
    routing.engine("a").always = fail(rateLimited(30_000));
    routing.engine("b").always = fail(failed());
    await assert.rejects(routing.chat("m").complete(chatCall()), codeIs("rate_limited"));
    assert.deepEqual([routing.engine("a").calls.length, routing.engine("b").calls.length], [1, 5]);
  });

  test("another target is tried immediately, without a pause", async () => {
    await using routing = await routingFixture(two);
    routing.engine("a").always = fail(failed());
    for (let call = 0; call < 4; call++) await routing.chat("m").complete(chatCall());
    assert.deepEqual(routing.pauses, []);
    assert.equal(routing.engine("b").calls.length, 4);
  });

  test("other calls avoid a target that asked for a pause while another is available", async () => {
    await using routing = await routingFixture(two);
    routing.engine("a").steps = [fail(rateLimited(20_000))];
    for (let call = 0; call < 30; call++) await routing.chat("m").complete(chatCall());
    assert.equal(routing.engine("a").calls.length, 1);
    routing.clock.nowMs += 20_001;
    for (let call = 0; call < 30; call++) await routing.chat("m").complete(chatCall());
    assert.ok(routing.engine("a").calls.length > 5);
  });

  test("an engine that does not know the model is not tried again", async () => {
    await using routing = await routingFixture(one);
    routing.engine("a").always = fail(new AppError("model_not_found", "no"));
    await assert.rejects(routing.chat("m").complete(chatCall()), codeIs("model_not_found"));
    assert.equal(routing.engine("a").calls.length, 1);
  });

  test("nothing is retried when retries are disabled", async () => {
    await using routing = await routingFixture({
      ...two,
      models: { m: { ...two.models.m, retries: { attempts: 0 } } },
    });
    for (const engine of routing.engines) engine.always = fail(failed());
    await assert.rejects(routing.chat("m").complete(chatCall()), codeIs("upstream_failed"));
    assert.equal(routing.engine("a").calls.length + routing.engine("b").calls.length, 1);
  });

  test("of a 502 and a 429 with Retry-After the caller gets the latter", async () => {
    await using routing = await routingFixture({
      ...two,
      models: { m: { ...two.models.m, retries: { attempts: 1 } } },
    });
    routing.engine("a").always = fail(failed());
    routing.engine("b").always = fail(rateLimited(40_000));
    for (let round = 0; round < 5; round++) {
      await assert.rejects(routing.chat("m").complete(chatCall()), { code: "rate_limited", retryAfterMs: 40_000 });
    }
  });
});

describe("fallbacks", () => {
  const chain = {
    engines: ["a", "b", "c"],
    models: {
      m: { targets: [{ engine: "a" }], fallbacks: ["second", "third"], retries: { attempts: 1 } },
      second: { targets: [{ engine: "b" }], retries: { attempts: 0 } },
      third: { targets: [{ engine: "c" }] },
    },
  };

  test("answer in order when the model cannot, and report which model answered", async () => {
    await using routing = await routingFixture(chain);
    routing.engine("a").always = fail(failed());
    routing.engine("b").always = fail(failed());
    const call = chatCall();
    const completion = await routing.chat("m").complete(call);
    assert.equal(completion.model, "third");
    assert.deepEqual(
      call.attempts.map(({ engine }) => engine),
      ["a", "a", "b", "c"],
    );
  });

  test("answer requests that the model cannot honor or fit", async () => {
    for (const code of ["unsupported_parameter", "context_length_exceeded"] as const) {
      await using routing = await routingFixture(chain);
      routing.engine("a").always = fail(new AppError(code, "no"));
      const completion = await routing.chat("m").complete(chatCall());
      assert.equal(completion.model, "second");
      assert.equal(routing.engine("a").calls.length, 1);
    }
  });

  test("do not receive an invalid request", async () => {
    await using routing = await routingFixture(chain);
    routing.engine("a").always = fail(new AppError("invalid_request", "no"));
    await assert.rejects(routing.chat("m").complete(chatCall()), codeIs("invalid_request"));
    assert.equal(routing.engine("b").calls.length, 0);
  });

  test("that also fail leave the caller with the model's error", async () => {
    await using routing = await routingFixture(chain);
    const refused = new AppError("unsupported_parameter", "no logit_bias", { param: "logit_bias" });
    routing.engine("a").always = fail(refused);
    routing.engine("b").always = fail(failed());
    routing.engine("c").always = fail(rateLimited(9_000));
    await assert.rejects(routing.chat("m").complete(chatCall()), refused);
  });

  test("report the soonest Retry-After of all to the caller", async () => {
    await using routing = await routingFixture(chain);
    routing.engine("a").always = fail(rateLimited(50_000));
    routing.engine("b").always = fail(rateLimited(8_000));
    routing.engine("c").always = fail(rateLimited(20_000));
    await assert.rejects(routing.chat("m").complete(chatCall()), { code: "rate_limited", retryAfterMs: 8_000 });
  });

  test("that the organization may not call are skipped", async () => {
    await using routing = await routingFixture(chain);
    routing.engine("a").always = fail(failed());
    const completion = await routing.chat("m", { allowedModels: ["m", "third"] }).complete(chatCall());
    assert.equal(completion.model, "third");
    assert.equal(routing.engine("b").calls.length, 0);
  });
});

describe("streams", () => {
  test("that fail before the first chunk are retried", async () => {
    await using routing = await routingFixture(two);
    routing.engine("a").always = fail(failed());
    routing.engine("b").always = answer("one ", "two");
    for (let round = 0; round < 4; round++) assert.equal(await streamedText(routing.chat("m")), "one two");
  });

  test("that fail after the first chunk are not, and the caller gets the failure", async () => {
    await using routing = await routingFixture(two);
    for (const engine of routing.engines) engine.always = fail(failed(), "one ");
    const seen: string[] = [];
    await assert.rejects(async () => {
      for await (const chunk of routing.chat("m").stream(chatCall())) seen.push(chunk.choices[0]!.delta.content!);
    }, codeIs("upstream_failed"));
    assert.deepEqual(seen, ["one "]);
    assert.equal(routing.engine("a").calls.length + routing.engine("b").calls.length, 1);
  });

  test("that end without a chunk count as failed", async () => {
    await using routing = await routingFixture(one);
    routing.engine("a").steps = [{ kind: "empty" }, answer("fine")];
    assert.equal(await streamedText(routing.chat("m")), "fine");
  });

  test("carry the model ID of the route in every chunk, and attempts end with the first", async () => {
    await using routing = await routingFixture({ ...two, aliases: { fast: "m" } });
    const call = chatCall();
    const chunks = await streamedChunks(routing.chat("fast"), call);
    assert.deepEqual(new Set(chunks.map(({ model }) => model)), new Set(["m"]));
    assert.deepEqual(
      call.attempts.map(({ outcome }) => outcome),
      ["ok"],
    );
  });
});
