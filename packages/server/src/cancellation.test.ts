import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Cancellation } from "./cancellation.ts";
import { AppError } from "./errors.ts";

const reason = new AppError("client_closed", "The client closed the connection.");

describe("a cancellation", () => {
  test("notifies its listeners and its signal once, with the first reason", () => {
    const cancellation = new Cancellation();
    const { signal } = cancellation;
    let notified = 0;
    cancellation.addEventListener("abort", { handleEvent: () => void (notified += 1) });
    cancellation.abort(reason);
    cancellation.abort(new AppError("overloaded", "The server is shutting down."));
    assert.equal(notified, 1);
    assert.equal(cancellation.reason, reason);
    assert.equal(signal.reason, reason);
  });

  test("has an aborted signal also for code that asks for it afterwards", () => {
    const cancellation = new Cancellation();
    cancellation.abort(reason);
    assert.ok(cancellation.aborted);
    assert.equal(cancellation.signal.aborted, true);
    assert.equal(cancellation.signal.reason, reason);
  });

  test("forgets a listener that was removed", () => {
    const cancellation = new Cancellation();
    const listener = { handleEvent: () => assert.fail("The listener was removed.") };
    cancellation.addEventListener("abort", listener);
    cancellation.removeEventListener("abort", listener);
    cancellation.abort(reason);
  });
});
