import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { toLogLine } from "./log-record.ts";

function parse(fields: Record<string, unknown>, message = "request"): Record<string, unknown> {
  return JSON.parse(toLogLine("info", fields, message)) as Record<string, unknown>;
}

describe("a log record", () => {
  test("has its level, its time, its fields and its message", () => {
    const line = toLogLine("info", { request_id: "req_1", status: 200, path: "/v1/models", stream: false }, "request");
    assert.match(
      line,
      /^\{"level":"info","time":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z","request_id":"req_1","status":200,"path":"\/v1\/models","stream":false,"msg":"request"\}\n$/,
    );
  });

  test("has the current time", () => {
    const before = Date.now();
    const { time } = parse({});
    const ms = Date.parse(String(time));
    assert.ok(before <= ms && ms <= Date.now());
  });

  test("leaves out fields without a value, and writes null for numbers that JSON does not have", () => {
    const record = parse({ absent: undefined, function: () => {}, none: null, infinite: Infinity });
    assert.deepEqual(Object.keys(record), ["level", "time", "none", "infinite", "msg"]);
    assert.equal(record["infinite"], null);
  });

  test("escapes text, and describes errors with their causes", () => {
    const error = new Error('quote " and\nline', { cause: new TypeError("why") });
    const record = parse({ path: '/a"b\n', error }, 'a "message"');
    assert.equal(record["path"], '/a"b\n');
    assert.equal(record["msg"], 'a "message"');
    const { message, cause, type } = record["error"] as { message: string; cause: { type: string }; type: string };
    assert.deepEqual([type, message, cause.type], ["Error", 'quote " and\nline', "TypeError"]);
  });

  test("is written even if a value cannot be serialized", () => {
    const circular: Record<string, unknown> = {};
    circular["self"] = circular;
    assert.equal(parse({ circular })["circular"], "[not serializable]");
  });

  test("keeps no secret in any field that a client can choose", () => {
    const secret = "sk-AAAAplantedsecretplantedsecretplanted";
    for (const name of ["path", "model", "project", "engine", "error"]) {
      assert.equal(parse({ [name]: `/v1/${secret}` })[name], "/v1/sk-AAAA[redacted]");
      assert.equal(parse({ [name]: `/v1/${secret}` })[name], "/v1/sk-AAAA[redacted]", "the second time");
    }
    assert.equal(parse({ password: "planted" })["password"], "[redacted]");
  });
});
