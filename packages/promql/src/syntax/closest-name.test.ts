import assert from "node:assert/strict";
import { test } from "node:test";
import { closestName, suggestion } from "./closest-name.ts";

const names = ["host", "port", "log_level", "shutdown_timeout_ms", "keep_alive_timeout_ms"];

const cases: readonly [name: string, meant: string | undefined][] = [
  ["prot", "port"],
  ["hots", "host"],
  ["Port", "port"],
  ["loglevel", "log_level"],
  ["shutdown_timeout", "shutdown_timeout_ms"],
  ["keepalive_timeout_ms", "keep_alive_timeout_ms"],
  ["colour", undefined],
  ["x", undefined],
  ["", undefined],
  ["p".repeat(10_000), undefined],
];

for (const [name, meant] of cases) {
  test(`${JSON.stringify(name.slice(0, 30))} was meant to be ${meant ?? "nothing known"}`, () => {
    assert.equal(closestName(name, names), meant);
  });
}

test("a suggestion is a question, or nothing", () => {
  assert.equal(suggestion("prot", names), ' Did you mean "port"?');
  assert.equal(suggestion("zzz", names), "");
});
