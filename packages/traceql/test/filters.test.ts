/** Conditions on single spans: each case has the query, a span, and whether the span matches. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { searchTraces } from "../src/engine.ts";
import { parseQuery } from "../src/syntax/parse-query.ts";
import { MemoryTraces } from "../src/memory-storage.ts";
import { toTrace, type ShortSpan } from "./support/traces.ts";

async function matches(query: string, span: Omit<ShortSpan, "id">, traceId = "0a"): Promise<boolean> {
  const tree = parseQuery(query);
  assert.ok(tree.kind === "search-query");
  const storage = new MemoryTraces([toTrace(traceId, [{ id: "01", ...span }])]);
  const found = await searchTraces(storage, { query: tree, startUnixNano: 0n, endUnixNano: 1n });
  return found.traces.length === 1;
}

type Case = readonly [query: string, span: Omit<ShortSpan, "id">, isMatch: boolean];

const tables: Readonly<Record<string, readonly Case[]>> = {
  "attributes and their scopes": [
    ["{ .a = `x` }", { is: { a: "x" } }, true],
    ["{ .a = `x` }", { resource: { a: "x" } }, true],
    ["{ .a = `y` }", { is: { a: "x" }, resource: { a: "y" } }, false],
    ["{ span.a = `x` }", { resource: { a: "x" } }, false],
    ["{ resource.a = `x` }", { is: { a: "x" } }, false],
    ["{ resource.a = `y` }", { is: { a: "x" }, resource: { a: "y" } }, true],
    ["{ instrumentation.a = `x` }", { scope: { is: { a: "x" } } }, true],
    ["{ .a = `x` }", { scope: { is: { a: "x" } } }, false],
    ["{ .a }", { is: { a: true } }, true],
    ["{ .a }", { is: { a: false } }, false],
    ["{ .a }", { is: { a: "true" } }, false],
  ],
  "missing attributes": [
    ["{ .a = `x` }", {}, false],
    ["{ .a != `x` }", {}, false],
    ["{ .a != `x` }", { is: { a: "y" } }, true],
    ["{ .a !~ `x` }", {}, false],
    ["{ .a != nil }", { is: { a: "y" } }, true],
    ["{ .a != nil }", {}, false],
    ["{ .a = nil }", {}, true],
    ["{ .a = nil }", { resource: { a: "y" } }, false],
    ["{ span.a = nil }", { resource: { a: "y" } }, true],
    ["{ nil = nil }", {}, false],
    ["{ nil != nil }", {}, false],
    ["{ .a = .b }", {}, false],
    ["{ .a != .b }", { is: { a: 1n } }, false],
    ["{ .a + 1 != nil }", {}, false],
    ["{ .a || .b }", { is: { b: true } }, true],
    ["{ !(.a = `x`) }", {}, true],
    ["{ !.a }", {}, false],
    ["{ !.a }", { is: { a: false } }, true],
  ],
  "mismatched types": [
    ["{ .a = `1` }", { is: { a: 1n } }, false],
    ["{ .a != `1` }", { is: { a: 1n } }, false],
    ["{ .a = .b }", { is: { a: "x", b: 5n } }, false],
    ["{ .a =~ `.*` }", { is: { a: 3n } }, false],
  ],
  numbers: [
    ["{ .a > 0 }", { is: { a: 1n } }, true],
    ["{ .a > 0 }", { is: { a: 1 } }, true],
    ["{ .a > 0 }", { is: { a: { ms: 1 } } }, true],
    ["{ .a = 1. }", { is: { a: 1n } }, true],
    ["{ .a = 1000000ns }", { is: { a: { ms: 1 } } }, true],
    ["{ .a = 1000000 }", { is: { a: { ms: 1 } } }, true],
    ["{ .a = 9007199254740993 }", { is: { a: 9_007_199_254_740_992n } }, false],
    ["{ 2 < .a }", { is: { a: 3n } }, true],
    ["{ .a >= 3.5 && .a < 5 && .a <= 3.5 }", { is: { a: 3.5 } }, true],
    ["{ .a < .b }", { is: { a: 1n, b: 2 } }, true],
    ["{ .a = .b }", { is: { a: 2n, b: 2 } }, true],
    ["{ 1 / 10 = 0 }", {}, true],
    ["{ 1 / 10. = .1 }", {}, true],
    ["{ 10 % 3 = 1 }", {}, true],
    ["{ 2 ^ 10 = 1024 }", {}, true],
    ["{ .a ^ 10 = 1024 }", { is: { a: 2n } }, true],
    ["{ .a ^ -1 = 0 }", { is: { a: 10n } }, true],
    ["{ 2m * 2 = 4m }", {}, true],
    ["{ .a * 3ms = 3ms }", { is: { a: 1n } }, true],
    ["{ (2 - .b) * .a = -15 }", { is: { a: 3n, b: 7 } }, true],
    ["{ 2 - .b * .a = -19 }", { is: { a: 3n, b: 7 } }, true],
    ["{ .b % 2 < .a - 2 }", { is: { a: 3n, b: 7 } }, false],
    ["{ -.a = -1 }", { is: { a: 1n } }, true],
    ["{ .a / .b > 0 }", { is: { a: 1n, b: 0n } }, false],
    ["{ 5.0 / 0.0 = 1.0 }", {}, false],
    ["{ .a + 9223372036854775807 < 0 }", { is: { a: 1n } }, true],
  ],
  "strings and regular expressions": [
    ["{ .a > `a` }", { is: { a: "b" } }, true],
    ["{ .a =~ `hello w.*` }", { is: { a: "hello world" } }, true],
    ["{ .a =~ `ello` }", { is: { a: "hello" } }, false],
    ["{ .a !~ `ello` }", { is: { a: "hello" } }, true],
    ["{ .a =~ `a|b` }", { is: { a: "b" } }, true],
    ["{ name =~ `GET /.*` }", { name: "GET /cart" }, true],
    ["{ .a =~ `x.*y` }", { is: { a: "x\ny" } }, true],
  ],
  arrays: [
    ["{ .a = `x` }", { is: { a: ["w", "x"] } }, true],
    ["{ .a != `x` }", { is: { a: ["w", "x"] } }, false],
    ["{ .a != `x` }", { is: { a: ["w", "v"] } }, true],
    ["{ .a =~ `x.*` }", { is: { a: ["w", "xx"] } }, true],
    ["{ .a !~ `x.*` }", { is: { a: ["w", "xx"] } }, false],
    ["{ .a > 1 }", { is: { a: [1n, 2n] } }, true],
    ["{ 2 < .a }", { is: { a: [1n, 2n] } }, false],
    ["{ 3 > .a }", { is: { a: [1n, 4n] } }, true],
    ["{ .a = true && .a = false }", { is: { a: [true, false] } }, true],
    ["{ .a = 1 }", { is: { a: [] } }, false],
    ["{ .a = .b }", { is: { a: [1n, 2n], b: [2n, 3n] } }, true],
    ["{ .a + 3 = 4 }", { is: { a: [1n] } }, false],
  ],
  intrinsics: [
    ["{ name = `GET` }", { name: "GET" }, true],
    ["{ status = error }", { status: "error" }, true],
    ["{ status != ok }", { status: "unset" }, true],
    ["{ kind = server }", { kind: "server" }, true],
    ["{ statusMessage = `no` }", { message: "no" }, true],
    ["{ duration > 1s }", { ms: 1001 }, true],
    ["{ duration > 1s }", { ms: 1000 }, false],
    ["{ duration >= 1000000000 }", { ms: 1000 }, true],
    ["{ rootName = `GET` && rootServiceName = `shop` }", { name: "GET" }, true],
    ["{ traceDuration > 1s }", { ms: 1001 }, true],
    ["{ trace:id = `a` && trace:id = `000a` }", {}, true],
    ["{ span:id = `01` }", {}, true],
    ["{ nestedSetLeft = 1 && nestedSetRight = 2 && nestedSetParent = -1 }", {}, true],
    ["{ span:childCount = 0 }", {}, true],
    ["{ instrumentation:name = `express` }", { scope: { name: "express" } }, true],
    ["{ instrumentation:version = `1` }", { scope: { version: "1" } }, true],
  ],
  "events and links": [
    ["{ event:name = `b` }", { events: [{ name: "a" }, { name: "b" }] }, true],
    ["{ event:name != `b` }", { events: [{ name: "a" }, { name: "b" }] }, true],
    ["{ event:name != `b` }", { events: [] }, false],
    ["{ event:timeSinceStart > 2ms }", { events: [{ name: "a", ms: 3 }] }, true],
    ["{ event.a = 1 }", { events: [{ name: "a" }, { name: "b", is: { a: 1n } }] }, true],
    ["{ event:name = `a` && event.a = 1 }", { events: [{ name: "a" }, { name: "b", is: { a: 1n } }] }, false],
    ["{ event:name = `b` && event.a = 1 }", { events: [{ name: "a" }, { name: "b", is: { a: 1n } }] }, true],
    [
      "{ event:name = `a` && event.a = 1 } | count() > 0",
      { events: [{ name: "a" }, { name: "b", is: { a: 1n } }] },
      true,
    ],
    ["{ event:name = `a` && event.a = 1 || false }", { events: [{ name: "a" }, { name: "b", is: { a: 1n } }] }, true],
    ["{ link:traceID = `0c` }", { links: [{ traceId: "0c", spanId: "02" }] }, true],
    ["{ link:traceID = `c` }", { links: [{ traceId: "0c", spanId: "02" }] }, true],
    ["{ link:spanID = `02` && link.a = `x` }", { links: [{ traceId: "0c", spanId: "02", is: { a: "x" } }] }, true],
    ["{ !(event:name = `a`) }", { events: [{ name: "a" }, { name: "b" }] }, false],
  ],
};

for (const [title, cases] of Object.entries(tables)) {
  describe(title, () => {
    for (const [query, span, isMatch] of cases) {
      const described = JSON.stringify(span, (_, value: unknown) => (typeof value === "bigint" ? `${value}` : value));
      test(`${query} ${isMatch ? "finds" : "does not find"} ${described}`, async () => {
        assert.equal(await matches(query, span), isMatch);
      });
    }
  });
}
