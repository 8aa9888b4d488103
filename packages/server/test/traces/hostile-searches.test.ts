/** Hostile values in every parameter of searches: refused, or found nowhere. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { resourceSpans } from "./otlp-spans.ts";
import { startTempoServer, type TempoServer } from "./tempo-server.ts";
import { beforeTests } from "../../../../test/support/hooks.ts";

const nowSeconds = Math.floor(Date.now() / 1000);
/** A search of a longer time that finds nothing runs a statement for each of several ranges. */
const minute = { start: String(nowSeconds - 30), end: String(nowSeconds + 30) };

let server: TempoServer;
beforeTests(async (stack) => {
  server = stack.use(await startTempoServer());
  const span = { traceId: "a".repeat(32), spanId: "b".repeat(16), startNano: BigInt(nowSeconds) * 1_000_000_000n };
  const attributes = { a: "x" };
  const scope = { name: "lib", attributes };
  const events = [{ name: "e", afterNano: 1n, attributes }];
  await server.send([
    resourceSpans({ "service.name": "shop", a: "x" }, { scope, spans: [{ ...span, attributes, events }] }),
  ]);
});

function encoded(parameters: Record<string, string>): string {
  return new URLSearchParams(parameters).toString();
}

describe("hostile parameters", () => {
  const hostile = [
    "' OR 1=1 --",
    "\\",
    "\0",
    "%",
    "é\u2028",
    "{p0:String}",
    "x".repeat(2000),
    "${1}",
    "`",
    "a'b\"c",
    "-1",
    "1e999",
    "99999999999",
  ];
  test("in place of numbers and times are refused", async () => {
    for (const text of hostile) {
      for (const name of ["limit", "spss", "start", "end", "minDuration", "maxDuration", "tags"]) {
        if (name === "tags" && !/[\\"\s]/.test(text)) continue;
        const { status, text: message } = await server.get(`/api/search?${encoded({ [name]: text })}`);
        assert.equal(status, 400, `${name}=${text}: ${message}`);
      }
    }
  });

  test("in place of queries are refused with a position, and values in queries find nothing", async () => {
    for (const text of hostile) {
      const answer = await server.get(`/api/search?${encoded({ q: text })}`);
      assert.equal(answer.status, 400, text);
      assert.match(answer.type, /^text\/plain/);
      const quoted = JSON.stringify(text).replaceAll("\\u0000", "\\x00");
      for (const field of [
        "name",
        "span.a",
        "resource.a",
        ".a",
        "event.a",
        "instrumentation:name",
        "resource.service.name",
      ]) {
        const { json } = await server.get(`/api/search?${encoded({ ...minute, q: `{ ${field} = ${quoted} }` })}`);
        assert.deepEqual(json?.traces, [], `${field} = ${quoted}`);
      }
    }
    const found = await server.get(`/api/search?${encoded({ ...minute, q: '{ name != "y" }' })}`);
    assert.equal(found.json.traces.length, 1, "there is a span to find");
  });

  test("metrics queries are no searches", async () => {
    const { status, text } = await server.get(`/api/search?${encoded({ q: "{} | rate()" })}`);
    assert.equal(status, 400);
    assert.match(text, /metrics/);
  });
});
