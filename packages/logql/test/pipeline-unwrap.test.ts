/** Unwrapping, and which labels parsers extract for metric queries. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { extract, parsePipeline, run, toObject } from "./pipeline-stages.ts";

describe("the labels that a metric query needs", () => {
  test("only these are extracted, and those that stages read", () => {
    const line = '{"a":"1","b":"2","c":{"d":"3"},"e":"4"}';
    assert.deepEqual(extract('| json | b != "x"', line, {}, ["c_d"]), { c_d: "3" });
    const output = run(parsePipeline('| json | b != "x"').stages, { line }, { needed: ["c_d"] })!;
    assert.deepEqual(toObject(output.parsed), { b: "2", c_d: "3" });
  });

  test("nothing is parsed for a query that needs no label, so that no line is broken", () => {
    assert.deepEqual(extract("| json", "broken", {}, []), {});
  });

  test("errors behind the last needed label are not seen", () => {
    assert.deepEqual(extract("| json", '{"a":"1", broken', {}, ["a"]), { a: "1" });
  });

  test("an error keeps all labels, and is preserved where the query looks at it", () => {
    const stream = { app: "api" };
    assert.deepEqual(extract("| json", "broken", { stream }, ["a"])["app"], "api");
    assert.equal(extract("| json", "broken", { stream }, ["a"])["__preserve_error__"], undefined);
    assert.equal(extract('| json | __error__ != "x"', "broken", { stream }, ["a"])["__preserve_error__"], "true");
  });
});

describe("unwrap", () => {
  const value = (pipeline: string, line: string) => {
    const { stages, unwrap } = parsePipeline(pipeline);
    const output = run(stages, { line }, { unwrap: unwrap! });
    return output === null ? null : [output.value, output.get("__error__")];
  };
  for (const [pipeline, line, expected] of [
    ["| logfmt | unwrap a", "a=1.5e3", [1500, ""]],
    ["| logfmt | unwrap a", "a=0x1p-2", [0.25, ""]],
    ["| logfmt | unwrap a", "a=x", [0, "SampleExtractionErr"]],
    ["| logfmt | unwrap a", "b=1", null],
    ["| logfmt | unwrap duration(a)", "a=1m30.5s", [90.5, ""]],
    ["| logfmt | unwrap duration_seconds(a)", "a=-250ms", [-0.25, ""]],
    ["| logfmt | unwrap duration(a)", "a=1d", [0, "SampleExtractionErr"]],
    ["| logfmt | unwrap bytes(a)", "a=1.5KiB", [1536, ""]],
    ["| logfmt | unwrap bytes(a)", "a=2MB", [2_000_000, ""]],
    ['| logfmt | unwrap a | __error__=""', "a=x", null],
    ["| logfmt | unwrap a | b > 1", "a=3 b=2", [3, ""]],
  ] as const) {
    test(`${pipeline} of ${line}`, () => assert.deepEqual(value(pipeline, line), expected));
  }
});
