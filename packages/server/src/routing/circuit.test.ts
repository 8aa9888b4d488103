/** The circuit breaker in isolation, with a clock that the tests control. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Circuit } from "./circuit.ts";

const settings = { failure_threshold: 3, window_ms: 10_000, open_ms: 5_000 };

function failTimes(circuit: Circuit, times: number, nowMs: number): void {
  for (let each = 0; each < times; each++) circuit.fail(nowMs, circuit.enter());
}

describe("a circuit", () => {
  test("opens at the threshold and not before", () => {
    const circuit = new Circuit(settings);
    failTimes(circuit, 2, 1_000);
    assert.equal(circuit.admits(1_000), true);
    failTimes(circuit, 1, 1_000);
    assert.equal(circuit.admits(1_000), false);
    assert.equal(circuit.state, "open");
    assert.equal(circuit.retryAfterMs(2_000), 4_000);
  });

  test("forgets failures that are older than the window", () => {
    const circuit = new Circuit(settings);
    failTimes(circuit, 2, 1_000);
    failTimes(circuit, 2, 12_500);
    assert.equal(circuit.admits(12_500), true);
    failTimes(circuit, 1, 13_000);
    assert.equal(circuit.admits(13_000), false);
  });

  test("stays closed while most calls succeed, however many fail", () => {
    const circuit = new Circuit(settings);
    for (let call = 0; call < 1_000; call++) {
      const nowMs = 1_000 + call * 10;
      if (call % 3 === 0) circuit.fail(nowMs, circuit.enter());
      else circuit.succeed(nowMs, circuit.enter());
    }
    assert.equal(circuit.state, "closed");
  });

  test("admits one probe after the pause, and no second one", () => {
    const circuit = new Circuit(settings);
    failTimes(circuit, 3, 1_000);
    assert.equal(circuit.admits(5_999), false);
    assert.equal(circuit.admits(6_000), true);
    assert.equal(circuit.enter(), true);
    assert.equal(circuit.state, "half_open");
    assert.equal(circuit.admits(6_000), false);
  });

  test("opens for another pause when the probe fails", () => {
    const circuit = new Circuit(settings);
    failTimes(circuit, 3, 1_000);
    circuit.fail(7_000, circuit.enter());
    assert.equal(circuit.admits(11_999), false);
    assert.equal(circuit.admits(12_000), true);
  });

  test("closes when the probe succeeds, and restores the target's share gradually", () => {
    const circuit = new Circuit(settings);
    failTimes(circuit, 3, 1_000);
    circuit.succeed(7_000, circuit.enter());
    assert.equal(circuit.state, "closed");
    assert.equal(circuit.share(7_000), 0.1);
    assert.equal(circuit.share(9_500), 0.55);
    assert.equal(circuit.share(12_000), 1);
    failTimes(circuit, 2, 12_000);
    assert.equal(circuit.admits(12_000), true, "failures before the outage do not count again");
  });

  test("admits another probe when the first one is inconclusive", () => {
    const circuit = new Circuit(settings);
    failTimes(circuit, 3, 1_000);
    circuit.release(circuit.enter());
    assert.equal(circuit.admits(6_000), true);
  });

  test("is not closed by a call that began before it opened", () => {
    const circuit = new Circuit(settings);
    const before = circuit.enter();
    failTimes(circuit, 3, 1_000);
    circuit.succeed(1_500, before);
    assert.equal(circuit.state, "open");
  });

  test("stays open across new settings, and applies them", () => {
    const circuit = new Circuit(settings);
    failTimes(circuit, 3, 1_000);
    circuit.configure({ failure_threshold: 1, window_ms: 1_000, open_ms: 2_000 });
    assert.equal(circuit.admits(2_999), false);
    assert.equal(circuit.admits(3_000), true);
    circuit.succeed(3_000, circuit.enter());
    failTimes(circuit, 1, 3_000);
    assert.equal(circuit.state, "open");
  });
});
