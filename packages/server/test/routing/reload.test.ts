/** The configuration is replaced while calls run. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { routingFixture, scripted, streamedText, type SomeConfig } from "./routing-fixture.ts";
import { answer, chatCall, fail, failed, hang } from "./scripted-engine.ts";

const toOne: SomeConfig = { engines: { a: scripted(1) }, models: { m: { targets: [{ engine: "a" }] } } };

describe("a reload", () => {
  test("lets running streams finish on their original engine, and closes it after the last", async () => {
    await using routing = await routingFixture(toOne);
    const old = routing.engine("a");
    old.always = answer("one ", "two ", "three");
    const early = routing.chat("m").stream(chatCall())[Symbol.asyncIterator]();
    const late = routing.chat("m").stream(chatCall())[Symbol.asyncIterator]();
    await early.next();
    await late.next();
    await routing.reload({ ...toOne, engines: { a: scripted(2) } });
    const replacement = routing.engine("a");
    assert.notEqual(replacement, old);
    assert.equal(await streamedText(routing.chat("m")), "hello");
    assert.deepEqual([old.calls.length, replacement.calls.length], [2, 1]);
    for (const _step of [1, 2]) assert.equal((await early.next()).done, false);
    assert.equal((await early.next()).done, true);
    assert.equal(old.closed, false);
    await late.return?.();
    assert.equal(old.closed, true);
    assert.equal(replacement.closed, false);
  });

  test("keeps engines whose settings are the same, with their state", async () => {
    const some: SomeConfig = {
      engines: { a: scripted(1), b: scripted(1) },
      models: { m: { targets: [{ engine: "a" }], retries: { attempts: 0 } } },
      routing: { failure_threshold: 1 },
    };
    await using routing = await routingFixture(some);
    routing.engine("a").always = fail(failed());
    await assert.rejects(routing.chat("m").complete(chatCall()), { code: "upstream_failed" });
    await routing.reload({ ...some, engines: { a: scripted(1), c: scripted(1) }, aliases: { n: "m" } });
    assert.deepEqual(
      routing.engines.map(({ name, closed }) => [name, closed]),
      [
        ["a", false],
        ["b", true],
        ["c", false],
      ],
    );
    await assert.rejects(routing.chat("n").complete(chatCall()), { code: "overloaded" });
  });

  test("counts calls of both configurations against a target's concurrency limit", async () => {
    const some: SomeConfig = {
      engines: { a: scripted(1) },
      models: { m: { targets: [{ engine: "a", max_concurrent: 2 }] } },
    };
    await using routing = await routingFixture(some);
    routing.engine("a").always = hang("first");
    const before = routing.chat("m").stream(chatCall())[Symbol.asyncIterator]();
    await before.next();
    await routing.reload({ ...some, models: { m: { targets: [{ engine: "a", max_concurrent: 1 }] } } });
    await assert.rejects(routing.chat("m").complete(chatCall()), { code: "overloaded" });
    await before.return?.();
    routing.engine("a").always = answer("fine");
    await routing.chat("m").complete(chatCall());
  });

  test("that fails changes nothing and leaks no engine", async () => {
    await using routing = await routingFixture(toOne);
    await assert.rejects(
      routing.reload({
        engines: { a: scripted(1), b: scripted(1) },
        models: { m: { targets: [{ engine: "absent" }] } },
      }),
      { code: "invalid_request", message: 'models.m.targets[0].engine is "absent", which does not exist.' },
    );
    assert.equal(routing.engine("b").closed, true);
    assert.equal(routing.engine("a").closed, false);
    assert.equal(await streamedText(routing.chat("m")), "hello");
  });

  test("between finding a model and calling it sends the call to the new configuration", async () => {
    await using routing = await routingFixture(toOne);
    const found = routing.chat("m");
    await routing.reload({ ...toOne, engines: { a: scripted(2) } });
    assert.equal(await streamedText(found), "hello");
    await routing.reload({ engines: { a: scripted(2) } });
    await assert.rejects(found.complete(chatCall()), { code: "model_not_found" });
  });

  test("keeps the fallback open for a call that is about to fall back", async () => {
    const some: SomeConfig = {
      engines: { a: scripted(1), b: scripted(1) },
      models: {
        m: { targets: [{ engine: "a" }], fallbacks: ["n"], retries: { attempts: 0 } },
        n: { targets: [{ engine: "b" }] },
      },
    };
    await using routing = await routingFixture(some);
    const fallback = routing.engine("b");
    let release = (): void => {};
    routing.engine("a").steps = [
      { kind: "wait", until: new Promise<void>((_resolve, reject) => (release = () => reject(failed()))) },
    ];
    const running = routing.chat("m").complete(chatCall());
    await routing.reload({});
    assert.equal(fallback.closed, false);
    release();
    assert.equal((await running).model, "n");
    assert.equal(fallback.closed, true);
  });

  test("may be repeated concurrently, and the last one wins", async () => {
    await using routing = await routingFixture(toOne);
    await Promise.all([2, 3, 4, 5].map((version) => routing.reload({ ...toOne, engines: { a: scripted(version) } })));
    assert.deepEqual(
      routing.engines.map(({ closed }) => closed),
      [true, true, true, true, false],
    );
    assert.equal(await streamedText(routing.chat("m")), "hello");
  });
});

test("closing ends every engine, and no call begins after it", async () => {
  const routing = await routingFixture(toOne);
  const found = routing.chat("m");
  await routing.registry.close();
  assert.equal(routing.engine("a").closed, true);
  await routing.registry.close();
  assert.throws(() => routing.chat("m"), { code: "overloaded" });
  await assert.rejects(found.complete(chatCall()), { code: "overloaded" });
});
