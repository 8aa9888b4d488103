/** Stages that decide which entries pass: line filters and label filters. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { QueryError } from "@sounding/promql/query-error";
import { compilePipeline } from "../src/pipeline/pipeline.ts";
import { emptyLabels } from "@sounding/promql/series/labels";
import type { LabelFilter, LineFilterOperator } from "../src/syntax/ast.ts";
import { addressLineFilter, labelFilter, labelsOf, lineFilter, matcher, number, run } from "./pipeline-stages.ts";

function refuses(stages: Parameters<typeof compilePipeline>[0], message: RegExp): void {
  assert.throws(
    () => compilePipeline(stages, { unwrap: null }),
    (error) => error instanceof QueryError && error.code === "invalid_request" && message.test(error.message),
  );
}

describe("line filters", () => {
  const cases: [LineFilterOperator, string[], passes: string[], dropped: string[]][] = [
    ["|=", ["err"], ["an error", "err"], ["Error", ""]],
    ["|=", [""], ["", "anything"], []],
    ["!=", ["err"], ["Error", ""], ["an error"]],
    ["!=", [""], [], ["", "anything"]],
    ["|=", ["a", "b"], ["a", "b", "xbx"], ["c"]],
    ["!=", ["a", "b"], ["c"], ["a", "b", "ab"]],
    ["|~", ["a.c"], ["xabcx", "a c"], ["a\nc", "ac"]],
    ["|~", ["(?s)a.c"], ["a\nc"], ["ac"]],
    ["|~", ["^a$"], ["a"], ["a\n", "ba"]],
    ["|~", ["(?m)^a$"], ["b\na\nc"], ["ba"]],
    ["|~", ["(?i)error"], ["ERROR", "an eRRor"], ["err"]],
    ["|~", ["(?i)k"], ["\u212A", "K"], ["q"]],
    ["|~", ["warn|error"], ["warn", "an error"], ["info"]],
    ["|~", [".*needle.*"], ["a needle", "x\nneedle"], ["nee dle"]],
    ["|~", ["a", "b+c"], ["a", "bbc"], ["c"]],
    ["!~", ["a", "b+c"], ["c"], ["a", "bbc"]],
    ["|~", [String.raw`\bfoo\b`], ["a foo b", "foo"], ["food"]],
    ["|>", ["<_> 500 <_>"], ["GET / 500 12ms"], ["500 12ms", "GET / 500 ", "GET / 404 12ms"]],
    ["|>", ["GET <_>"], ["GET /", "x GET /"], ["GET ", "POST /"]],
    ["|>", ["<_> end"], ["the end"], ["the end.", " end"]],
    ["|>", [""], [""], ["x"]],
    ["!>", ["<_>error<_>"], ["fine", "error"], ["an error occurred"]],
    ["|>", ["a<_>", "b<_>"], ["ax", "bx"], ["cx"]],
  ];
  for (const [operator, texts, passes, dropped] of cases) {
    test(`${operator} ${JSON.stringify(texts)}`, () => {
      const stages = [lineFilter(operator, ...texts)];
      for (const line of passes) assert.equal(run(stages, { line })?.line, line, `${JSON.stringify(line)} should pass`);
      for (const line of dropped) assert.equal(run(stages, { line }), null, `${JSON.stringify(line)} should not pass`);
    });
  }

  test("invalid expressions and patterns are refused", () => {
    refuses([lineFilter("|~", "(")], /^error parsing regexp: missing closing \)/);
    refuses([lineFilter("|>", "<a>")], /named captures are not allowed/);
    refuses([lineFilter("|>", "<_><_>")], /consecutive captures/);
    refuses([addressLineFilter("|=", "300.1.1.1")], /invalid pattern: "300.1.1.1"/);
    refuses([addressLineFilter("|~", "1.1.1.1")], /invalid operation/);
  });
});

describe("ip()", () => {
  const cases: [addresses: string, found: string[], notFound: string[]][] = [
    ["192.168.0.1", ["from 192.168.0.1:80", "192.168.0.1"], ["192.168.0.10", "192.168.0.1.2", "x"]],
    ["192.168.4.0/24", ["x 192.168.4.255", "192.168.4.0"], ["192.168.5.0", "192.168.04.1"]],
    ["10.0.0.5-10.0.1.2", ["10.0.0.255", "10.0.1.2"], ["10.0.0.4", "10.0.1.3"]],
    ["::1", ["at ::1 now", "[::1]:80", "0:0:0:0:0:0:0:1"], ["::2", "12:30:00"]],
    ["2001:db8::/32", ["2001:db8::1", "2001:db8:ffff::"], ["2001:db9::1"]],
    ["2001:db8::a-2001:db8::f", ["2001:db8::B"], ["2001:db8::10"]],
    ["::ffff:10.0.0.1", ["::ffff:10.0.0.1", "::ffff:a00:1"], ["10.0.0.1"]],
  ];
  for (const [addresses, found, notFound] of cases) {
    test(addresses, () => {
      for (const line of found) assert.notEqual(run([addressLineFilter("|=", addresses)], { line }), null, line);
      for (const line of notFound) assert.notEqual(run([addressLineFilter("!=", addresses)], { line }), null, line);
      const ofLabel: LabelFilter = { kind: "ip", label: "address", operator: "=", addresses };
      for (const address of found) assert.notEqual(run([labelFilter(ofLabel)], { metadata: { address } }), null);
      for (const address of notFound) assert.equal(run([labelFilter(ofLabel)], { metadata: { address } }), null);
      assert.equal(run([labelFilter(ofLabel)], {}), null);
    });
  }

  for (const text of [
    "",
    "1.2.3",
    "1.2.3.4/33",
    "10.0.0.2-10.0.0.1",
    "1.1.1.1-::1",
    "1::2::3",
    "01.2.3.4",
    ":",
    "::/129",
  ]) {
    test(`${JSON.stringify(text)} is no address`, () => {
      refuses([addressLineFilter("|=", text)], /invalid pattern/);
    });
  }
});

describe("label filters", () => {
  const entry = {
    stream: { app: "api", level: "error" },
    metadata: { status: "500", took: "1.5s", size: "20KiB", odd: "x1", app: "shadow", empty_number: "" },
  };
  const duration = (operator: "==" | ">" | "<=", nanoseconds: number): LabelFilter => ({
    kind: "duration",
    label: "took",
    operator,
    nanoseconds,
  });
  const bytes = (operator: "==" | ">" | "<", count: number): LabelFilter => ({
    kind: "bytes",
    label: "size",
    operator,
    bytes: count,
  });
  const cases: [title: string, LabelFilter, passes: boolean][] = [
    ["a stream label", matcher("app", "=", "api"), true],
    ["structured metadata", matcher("status", "=~", "5.."), true],
    ["an expression matches the whole value", matcher("status", "=~", "50"), false],
    ["metadata with the name of a stream label", matcher("app_extracted", "=", "shadow"), true],
    ["a missing label is empty", matcher("nothing", "=", ""), true],
    ["a missing label is not something", matcher("nothing", "!=", "x"), true],
    ["negated expression", matcher("level", "!~", "err.*"), false],
    ["a number", number("status", ">=", 500), true],
    ["another number", number("status", "<", 500), false],
    ["no number: passes with an error", number("odd", ">", 1), true],
    ["a missing number", number("nothing", "!=", 1), false],
    ["a duration", duration("==", 1_500_000_000), true],
    ["a longer duration", duration(">", 1_500_000_000), false],
    ["bytes", bytes("==", 20_480), true],
    ["fewer bytes", bytes("<", 20_000), false],
    ["and", { kind: "and", left: number("status", ">", 1), right: matcher("app", "=", "x") }, false],
    ["or", { kind: "or", left: number("status", ">", 900), right: matcher("app", "=", "api") }, true],
  ];
  for (const [title, filter, passes] of cases) {
    test(title, () => {
      assert.equal(run([labelFilter(filter)], entry) !== null, passes);
    });
  }

  test("a value that is no number marks the entry, and a matcher can drop it", () => {
    const failing = labelFilter(number("odd", ">", 1));
    const labels = labelsOf([failing], entry);
    assert.equal(labels["__error__"], "LabelFilterErr");
    assert.equal(labels["__error_details__"], 'strconv.ParseFloat: parsing "x1": invalid syntax');
    assert.equal(run([failing, labelFilter(matcher("__error__", "=", ""))], entry), null);
    assert.notEqual(run([failing, labelFilter(matcher("__error__", "=", "LabelFilterErr"))], entry), null);
  });

  test("the first error stays", () => {
    const labels = labelsOf([labelFilter(number("odd", ">", 1)), labelFilter(number("level", ">", 1))], entry);
    assert.match(labels["__error_details__"]!, /"x1"/);
  });

  test("what each label is from", () => {
    const output = run([], entry)!;
    assert.deepEqual(output.stream.pairs, ["app", "api", "level", "error"]);
    assert.ok(output.structuredMetadata.pairs.join().includes("app_extracted,shadow"));
    assert.deepEqual(output.parsed, emptyLabels);
    assert.equal(output.get("app"), "api");
    assert.equal(output.get("nothing"), "");
  });
});
