import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { abortable, abortReason, onAbort, sleep } from "./abort.ts";
import { AppError } from "./errors.ts";

function abortedSignal(reason: unknown): AbortSignal {
  const controller = new AbortController();
  controller.abort(reason);
  return controller.signal;
}

describe("onAbort", () => {
  test("calls back once, when the signal aborts", () => {
    const controller = new AbortController();
    let calls = 0;
    onAbort(controller.signal, () => void (calls += 1));
    assert.equal(calls, 0);
    controller.abort();
    assert.equal(calls, 1);
  });

  test("calls back immediately if the signal has aborted before", () => {
    let calls = 0;
    onAbort(abortedSignal(undefined), () => void (calls += 1));
    assert.equal(calls, 1);
  });

  test("does not call back after it was disposed", () => {
    const controller = new AbortController();
    let calls = 0;
    onAbort(controller.signal, () => void (calls += 1))[Symbol.dispose]();
    controller.abort();
    assert.equal(calls, 0);
  });
});

describe("abortable", () => {
  test("passes on the promise's result or failure", async () => {
    const { signal } = new AbortController();
    assert.equal(await abortable(Promise.resolve(1), signal), 1);
    const failure = new Error("failed");
    await assert.rejects(abortable(Promise.reject(failure), signal), failure);
  });

  test("rejects with the signal's reason while the promise is pending", async () => {
    const controller = new AbortController();
    const waiting = abortable(new Promise(() => {}), controller.signal);
    const reason = new Error("stop");
    controller.abort(reason);
    await assert.rejects(waiting, reason);
  });

  test("lets an earlier abort win over a settled promise", async () => {
    const reason = new Error("stop");
    await assert.rejects(abortable(Promise.resolve(1), abortedSignal(reason)), reason);
    await assert.rejects(abortable(Promise.reject(new Error("failed")), abortedSignal(reason)), reason);
  });
});

test("a sleep ends without an error when its signal aborts", async () => {
  const controller = new AbortController();
  const sleeping = sleep(600_000, controller.signal);
  controller.abort();
  await sleeping;
});

describe("abortReason", () => {
  test("is the signal's reason if that is an AppError", () => {
    const reason = new AppError("timeout", "Too late.");
    assert.equal(abortReason(abortedSignal(reason)), reason);
  });

  test("is client_closed, caused by the reason, for any other", () => {
    const reason = new Error("gone");
    const { code, cause } = abortReason(abortedSignal(reason));
    assert.equal(code, "client_closed");
    assert.equal(cause, reason);
  });
});
