/** The time limit of a transcription. */
import assert from "node:assert/strict";
import { describe, mock, test } from "node:test";
import type { AppError } from "../errors.ts";
import { callTimeLimit } from "./time-limit.ts";
import { beforeEachTest } from "../../../../test/support/hooks.ts";

const defaultTimeout = { timeout_seconds: 60, timeout_per_audio_second: 3 };

describe("the time limit of a transcription", () => {
  let elapsed: AppError[];
  let seconds: number;
  const limitOf = (timeoutMs?: number) =>
    callTimeLimit({
      timeoutMs,
      defaultTimeout,
      audioSeconds: () => seconds,
      onElapsed: (error) => elapsed.push(error),
    });
  beforeEachTest(() => {
    elapsed = [];
    seconds = 0;
    mock.timers.reset();
    mock.timers.enable({ apis: ["setTimeout"] });
  });

  test("is the request's own, if it has one", () => {
    seconds = 3_600;
    limitOf(1_000).start();
    mock.timers.tick(999);
    assert.equal(elapsed.length, 0);
    mock.timers.tick(1);
    assert.equal(elapsed[0]!.code, "timeout");
    assert.equal(elapsed[0]!.headers!["x-should-retry"], "false");
  });

  test("follows the length of the recording, also as more of it is read", () => {
    limitOf().start();
    mock.timers.tick(50_000);
    seconds = 300;
    mock.timers.tick(10_000);
    mock.timers.tick(899_999);
    assert.equal(elapsed.length, 0);
    mock.timers.tick(1);
    assert.match(
      elapsed[0]!.message,
      /longer than 960 s, the default for a recording of 300 s.*timeout_per_audio_second/,
    );
  });

  test("may be longer than a timer of Node", () => {
    seconds = 86_400 * 20;
    limitOf().start();
    const longestMs = 2 ** 31 - 1;
    mock.timers.tick(longestMs);
    mock.timers.tick(longestMs);
    assert.equal(elapsed.length, 0);
    mock.timers.tick(60_000 + 3_000 * seconds - 2 * longestMs);
    assert.equal(elapsed.length, 1);
  });

  test("does nothing once it is stopped", () => {
    const limit = limitOf(1_000);
    limit.start();
    limit.stop();
    mock.timers.tick(10_000);
    assert.equal(elapsed.length, 0);
  });
});
