import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { AppError } from "../../errors.ts";
import { WaitingLines } from "./waiting-lines.ts";

const name = { model: "m", organizationId: "o" };
const never = new AbortController().signal;
const refusal = new AppError("overloaded", "full", { full: true });

test("the first of a line asks once a second, and each only until its longest wait is over", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout", "setInterval"] });
  const lines = new WaitingLines();
  const asked: string[] = [];
  const ask = async (who: string): Promise<void> => {
    const turn = lines.turn(name, never);
    await turn.begin();
    for (;;) {
      asked.push(who);
      await turn.awaitRoom(refusal);
    }
  };
  const first = ask("a");
  await setImmediate();
  const failed = Promise.allSettled([first, ask("b")]);
  assert.deepEqual(asked, ["a"]);
  for (let second = 1; second <= 3; second += 1) {
    context.mock.timers.tick(1_000);
    await setImmediate();
  }
  assert.deepEqual(asked.slice(0, 4), ["a", "a", "a", "a"]);
  context.mock.timers.tick(3_600_000);
  for (const { status } of await failed) assert.equal(status, "rejected");
  assert.ok(asked.includes("b"));
  assert.equal(lines.isEmpty(name), true);
});

test("a response that is cancelled leaves the line at once", async () => {
  const lines = new WaitingLines();
  const [first, second] = [new AbortController(), new AbortController()];
  const waiting = lines.turn(name, first.signal).awaitRoom(refusal);
  const behind = lines.turn(name, second.signal).begin();
  first.abort();
  await waiting;
  assert.equal(lines.isEmpty(name), false);
  second.abort();
  await behind;
  assert.equal(lines.isEmpty(name), true);
});
