/** Log lines for people: short, aligned, colored, and without control characters of others. */
import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { describe, test } from "node:test";
import { renderLogLine, type LogLineStyle } from "./log-line.ts";
import { createLogger } from "./logger.ts";

const plain: LogLineStyle = { colors: false, columns: () => undefined };
const request = {
  level: "info",
  time: "2026-11-22T10:11:12.345Z",
  request_id: "req_1",
  operation: "createChatCompletion",
  method: "POST",
  path: "/v1/chat/completions",
  status: 200,
  outcome: "ok",
  duration_ms: 134.4,
  model: "sounding-trial",
  msg: "request",
};
const line = (record: object, style: LogLineStyle = plain): string => renderLogLine(JSON.stringify(record), style);

describe("a log line for people", () => {
  test("shows a request's status, path, duration and model", () => {
    assert.match(
      line(request),
      /^\d\d:\d\d:12  info   200  POST  \/v1\/chat\/completions  134 ms  model=sounding-trial\n$/,
    );
  });

  test("shows the reason of a failure, and the messages of an error without its stack", () => {
    const failed = line({ ...request, status: 429, outcome: "rate_limited" });
    assert.match(failed, /429  POST  \/v1\/chat\/completions  134 ms  rate_limited/);
    const error = { type: "Error", message: "no route", stack: "Error: no route\n    at x", cause: { message: "DNS" } };
    assert.match(
      line({ level: "error", time: request.time, msg: "failed", error }),
      /error  failed  no route \(DNS\)\n$/,
    );
  });

  test("is cut at the terminal's width, but warnings are not", () => {
    const narrow = { colors: false, columns: () => 60 };
    const long = { ...request, path: `/${"x".repeat(200)}` };
    assert.equal(line(long, narrow).length, 61);
    assert.ok(line({ ...long, level: "warn" }, narrow).length > 200);
  });

  test("is colored only if asked", () => {
    const colored = line(request, { ...plain, colors: true });
    assert.ok(colored.includes("\u001b[32minfo \u001b[39m"));
    assert.ok(!line(request).includes("\u001b"));
  });

  test("shows control characters and direction marks as escapes, in values, names and messages", () => {
    const hostile = "\u001b]0;owned\u0007\u009b31m\r\nfake\u202etxt\u2066";
    for (const record of [
      { ...request, path: hostile, model: hostile },
      { ...request, [hostile]: 1 },
      { level: "warn", time: request.time, msg: hostile, error: { message: hostile } },
    ]) {
      const shown = line(record);
      // oxlint-disable-next-line no-control-regex -- these must not be there
      assert.doesNotMatch(shown.slice(0, -1), /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
      assert.match(shown, /\\u001b\]0;owned\\u0007\\u009b31m/);
    }
  });

  test("redacts secrets", async () => {
    const destination = new PassThrough();
    const logger = createLogger("info", { destination, text: plain });
    logger.info({ note: `sk-${"a".repeat(40)}` }, "seen");
    destination.end();
    assert.match(await text(destination), /info   seen  note=sk-aaaa\[redacted\]\n$/);
  });
});
