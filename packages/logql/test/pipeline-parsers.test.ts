/** Stages that read labels from lines: json, logfmt, regexp, pattern, unpack. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { QueryError } from "@sounding/promql/query-error";
import { compilePipeline } from "../src/pipeline/pipeline.ts";
import { emptyLabels } from "@sounding/promql/series/labels";
import { extract, parsePipeline, run, toObject, type TestEntry } from "./pipeline-stages.ts";
import { propertyRuns } from "../../../test/support/property-runs.ts";

type Case = [title: string, pipeline: string, line: string, labels: Record<string, string>, entry?: TestEntry];

function table(cases: readonly Case[]): void {
  for (const [title, pipeline, line, labels, entry] of cases) {
    test(title, () => assert.deepEqual(extract(pipeline, line, entry), labels));
  }
}

function refuses(pipeline: string, message: RegExp): void {
  const { stages, unwrap } = parsePipeline(pipeline);
  assert.throws(
    () => compilePipeline(stages, { unwrap }),
    (error) => error instanceof QueryError && error.code === "invalid_request" && message.test(error.message),
  );
}

const jsonError = (details: string) => ({ __error__: "JSONParserErr", __error_details__: details });

function flatten(value: Record<string, unknown>, prefix: string, into: Map<string, string>): void {
  for (const [key, member] of Object.entries(value)) {
    const name = prefix + key;
    if (typeof member === "object" && member !== null && !Array.isArray(member)) {
      flatten(member as Record<string, unknown>, `${name}_`, into);
    } else if (member !== null && !Array.isArray(member) && !into.has(name)) {
      into.set(name, `${member as string | number | boolean}`.replaceAll("\uFFFD", " "));
    }
  }
}

describe("json", () => {
  table([
    [
      "all kinds of values",
      "| json",
      '{"s":"text","n":-1.50,"t":true,"f":false,"z":null,"a":[1,{"b":2}],"o":{"p":{"q":"deep"},"r":1}}',
      { s: "text", n: "-1.50", t: "true", f: "false", o_p_q: "deep", o_r: "1" },
    ],
    ["white space", "| json", ' { "a" : 1 , "b" :\t"x" } ', { a: "1", b: "x" }],
    ["escape sequences", "| json", String.raw`{"a":"q\"\\\/\n\u00e9\ud83d\ude00"}`, { a: 'q"\\/\né😀' }],
    ["an invalid escape sequence leaves no value", "| json", String.raw`{"a":"\x","b":1}`, { a: "", b: "1" }],
    [
      "names",
      "| json",
      '{"a.b":1,"1st":2," c d ":3,"é😀":4,"x":{"2nd":5},"":6}',
      {
        a_b: "1",
        _1st: "2",
        c_d: "3",
        __: "4",
        x_2nd: "5",
      },
    ],
    ["the first of two members counts", "| json", '{"a":1,"a":2}', { a: "1" }],
    [
      "a taken name",
      "| json",
      '{"a":1,"m":2,"o":{"p":3}}',
      { a: "s", m: "x", a_extracted: "1", m_extracted: "2", o_p: "y", o_p_extracted: "3" },
      { stream: { a: "s", o_p: "y" }, metadata: { m: "x" } },
    ],
    ["no object", "| json", "[1]", jsonError("Value looks like object, but can't find closing '}' symbol")],
    ["an empty line", "| json", "", jsonError("Value looks like object, but can't find closing '}' symbol")],
    ["labels before an error stay", "| json", '{"a":1,"b":x}', { a: "1", ...jsonError("Unknown value type") }],
    [
      "nothing of an incomplete object",
      "| json",
      '{"a":1,"b":{"c":2',
      { a: "1", ...jsonError("Value looks like object, but can't find closing '}' symbol") },
    ],
    ["an incomplete array", "| json", '{"a":[1,', jsonError("Value is array, but can't find closing ']' symbol")],
    ["an incomplete string", "| json", '{"a":"x', jsonError("Value is string, but can't find closing '\"' symbol")],
    ["no colon", "| json", '{"a" 1}', jsonError("Malformed JSON error")],
    ["text behind the object", "| json", '{"a":1} x', { a: "1" }],
    ["a second parser keeps what the first one found", "| json | logfmt", '{"a":"b"} a=c', { a: "b" }],
  ]);

  table([
    [
      "expressions",
      '| json x="a.b", y="a[\'c\']", z="l[1]"'.replaceAll("'", String.raw`\"`),
      '{"a":{"b":1,"c":"two"},"l":[0,"one"]}',
      { x: "1", y: "two", z: "one" },
    ],
    ["a plain name", "| json a", '{"b":1,"a":2}', { a: "2" }],
    [
      "objects and arrays as text",
      '| json o="o", l="l"',
      '{"o":{"a": 1},"l":[1, "x"]}',
      { o: '{"a": 1}', l: '[1, "x"]' },
    ],
    [
      "nested expressions",
      '| json o="o", a="o.a", deep="o.b[0].c"',
      '{"o":{"a":1,"b":[{"c":2}]}}',
      {
        o: '{"a":1,"b":[{"c":2}]}',
        a: "1",
        deep: "2",
      },
    ],
    ["a missing member is empty", '| json x="a.b"', '{"a":1}', { x: "" }],
    ["null is empty", '| json x="a"', '{"a":null}', { x: "" }],
    ["one member for two labels", '| json x="a", y="a"', '{"a":1}', { x: "1", y: "1" }],
    ["a taken name", '| json app="a"', '{"a":1}', { app: "api", app_extracted: "1" }, { stream: { app: "api" } }],
    ["no JSON", '| json x="a"', "text", { __error__: "JSONParserErr" }],
    ["no value", '| json x="a"', '{"a":b}', { x: "", ...jsonError("Unknown value type") }],
    ["no value elsewhere", '| json x="a"', '{"b": ', { x: "" }],
  ]);

  test("invalid expressions are refused", () => {
    refuses('| json x="a["', /cannot parse expression \[a\[\]/);
    refuses('| json x=".a"', /cannot parse expression/);
    refuses('| json x="a..b"', /cannot parse expression/);
  });

  test("flattens what JSON.parse reads", () => {
    const key = fc.stringMatching(/^[a-z][a-z0-9]{0,5}$/);
    const { tree } = fc.letrec((tie) => ({
      leaf: fc.oneof(
        fc.string({ unit: "binary" }),
        fc.integer(),
        fc.boolean(),
        fc.constant(null),
        fc.array(fc.string()),
      ),
      tree: fc.dictionary(key, fc.oneof({ maxDepth: 3 }, tie("leaf"), tie("tree")), {
        maxKeys: 5,
        noNullPrototype: true,
      }),
    }));
    fc.assert(
      fc.property(tree, fc.constantFrom(0, 2), (value, spaces) => {
        const expected = new Map<string, string>();
        flatten(value, "", expected);
        const labels = extract("| json", JSON.stringify(value, null, spaces));
        assert.deepEqual(labels, Object.fromEntries(expected));
      }),
      { numRuns: propertyRuns(1000) },
    );
  });

  test("no line makes it throw, and an expression finds what all members show", () => {
    const part = fc.constantFrom(
      "{",
      "}",
      "[",
      "]",
      ",",
      ":",
      '"',
      "\\",
      "a",
      "1",
      "null",
      '"a"',
      '{"a":',
      "\\u12",
      " ",
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 20 }), (parts) => {
        const line = parts.join("");
        for (const pipeline of ["| json", '| json x="a.a"', '| json x="a[0]"', "| unpack", "| logfmt --strict"]) {
          extract(pipeline, line);
        }
        const all = extract("| json", line);
        if (all["__error__"] === undefined && all["a"] !== undefined && !line.includes("\\")) {
          assert.equal(extract('| json x="a"', line.trimStart())["x"], all["a"]);
        }
      }),
      { numRuns: propertyRuns(3000) },
    );
  });

  test("deep nesting is an error, and does not exhaust the stack", () => {
    const depth = 100_000;
    const labels = extract("| json", '{"a":'.repeat(depth) + "1" + "}".repeat(depth));
    assert.match(labels["__error_details__"]!, /more than 256 levels/);
  });
});

describe("logfmt", () => {
  const strictError = (details: string) => ({ __error__: "LogfmtParserErr", __error_details__: details });
  table([
    ["pairs", "| logfmt", 'a=1 b="x y" c=é  d="q\\"\\n" e', { a: "1", b: "x y", c: "é", d: 'q"\n' }],
    ["an empty value is dropped", "| logfmt", 'a= b="" c', {}],
    ["names", "| logfmt", "a.b=1 2c=3", { a_b: "1", _2c: "3" }],
    ["the first of two pairs counts", "| logfmt", "a=1 a=2", { a: "1" }],
    ["a taken name", "| logfmt", "a=1", { a: "s", a_extracted: "1" }, { stream: { a: "s" } }],
    ["invalid pairs are skipped", "| logfmt", 'a=1 =x b"c d=e=f g=2 h="open', { a: "1", g: "2" }],
    [
      "strict: it ends at the first error",
      "| logfmt --strict",
      "a=1 =x b=2",
      { a: "1", ...strictError("logfmt syntax error at pos 5 : unexpected '='") },
    ],
    [
      "strict: an open quote",
      "| logfmt --strict",
      'é=1 b="x',
      { _: "1", ...strictError("logfmt syntax error at pos 10 : unterminated quoted value") },
    ],
    ["expressions", '| logfmt x="a", b', "a=1 b=2 c=3", { x: "1", b: "2" }],
    ["an expression for a missing key", '| logfmt x="zz"', "a=1", { x: "" }],
    ["the last of two pairs counts for an expression", '| logfmt x="a"', "a=1 a=2", { x: "2" }],
  ]);

  test("--keep-empty keeps labels without value", () => {
    const { stages } = parsePipeline("| logfmt --keep-empty");
    const output = run(stages, { line: "a= b" });
    // An empty label exists for comparisons, unlike one that is missing.
    assert.equal(
      run([...stages, ...parsePipeline("| a > 1").stages], { line: "a= b" })?.get("__error__"),
      "LabelFilterErr",
    );
    assert.equal(run([...parsePipeline("| logfmt | a > 1").stages], { line: "a= b" }), null);
    assert.deepEqual(toObject(output!.labels), { a: "", b: "" });
  });

  test("reads what an encoder writes", () => {
    const value = fc
      .oneof(fc.stringMatching(/^[a-z0-9./:-]{1,8}$/), fc.string({ unit: "grapheme", minLength: 1 }))
      // Loki reads the replacement character as a space.
      .filter((text) => !text.includes("\ufffd"));
    fc.assert(
      fc.property(fc.dictionary(fc.stringMatching(/^[a-z_]{1,6}$/), value, { noNullPrototype: true }), (pairs) => {
        const line = Object.entries(pairs)
          .map(([name, one]) => `${name}=${/^[a-z0-9./:-]+$/.test(one) ? one : JSON.stringify(one)}`)
          .join(" ");
        assert.deepEqual(extract("| logfmt --strict", line), pairs);
      }),
      { numRuns: propertyRuns(1000) },
    );
  });
});

describe("regexp, pattern and unpack", () => {
  table([
    [
      "regexp",
      "| regexp `(?P<method>\\w+) (?P<path>\\S+)(?: (?P<rest>x))?`",
      "- GET /a",
      { method: "GET", path: "/a", rest: "" },
    ],
    ["regexp without a match", "| regexp `(?P<a>x+)y`", "xxx", {}],
    ["the leftmost match", "| regexp `(?P<a>b+|a)`", "a bb", { a: "a" }],
    ["a taken name", "| regexp `(?P<a>.)`", "x", { a: "s", a_extracted: "x" }, { stream: { a: "s" } }],
    [
      "pattern",
      '| pattern `<ip> - <_> "<method> <path>"`',
      '1.2.3.4 - x "GET /a"',
      { ip: "1.2.3.4", method: "GET", path: "/a" },
    ],
    ["a line that ends early", "| pattern `<a>: <b> end`", "x: y", { a: "x", b: "y" }],
    ["a line that begins differently", "| pattern `level=<level> `", "x level=a ", {}],
    ["the rest of the line", "| pattern `<_>=<value>`", "a=b=c", { value: "b=c" }],
    ["unpack", "| unpack", '{"a":"1","n":2,"_entry":"the line"}', { a: "1" }],
    ["unpack without an entry", "| unpack", '{"a":"1"}', {}],
    ["unpack of something else", "| unpack", "text", jsonError("expecting json object(6), but it is not")],
  ]);

  test("unpack restores the line", () => {
    const { stages } = parsePipeline("| unpack");
    assert.equal(run(stages, { line: String.raw`{"a":"1","_entry":"the\nline"}` })?.line, "the\nline");
    assert.equal(run(stages, { line: '{"a":"1"}' })?.line, '{"a":"1"}');
  });

  test("a long line has the same groups as a short one", async () => {
    const { stages } = parsePipeline("| regexp `(?P<word>[a-z]+)=(?P<value>\\d+)`");
    const pipeline = compilePipeline(stages, { unwrap: null });
    const input = { unixNano: 0n, line: `${". ".repeat(30_000)}key=42`, stream: emptyLabels, structuredMetadata: [] };
    let yields = 0;
    const output = await pipeline.process(input, { spend: () => true, yield: () => Promise.resolve(void yields++) });
    assert.deepEqual(toObject(output!.labels), { word: "key", value: "42" });
    assert.ok(yields > 10);
  });
});
