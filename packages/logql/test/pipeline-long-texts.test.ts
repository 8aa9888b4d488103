/** Stages on long lines and labels: they pause for other requests, end with the query, and find what they find in short ones. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { propertyRuns } from "../../../test/support/property-runs.ts";
import { findText } from "../src/pipeline/find-text.ts";
import { compilePipeline, type PipelineOutput } from "../src/pipeline/pipeline.ts";
import { runSteps } from "../src/pipeline/run-steps.ts";
import { emptyLabels } from "@sounding/promql/series/labels";
import { extract, parsePipeline } from "./pipeline-stages.ts";

const length = 600_000;

interface LongRun {
  readonly output: PipelineOutput | null;
  readonly pauses: number;
}

/** Runs a line through a pipeline that pauses whenever it may. */
async function runLong(stages: string, line: string): Promise<LongRun> {
  const pipeline = compilePipeline(parsePipeline(stages).stages, { unwrap: null });
  const input = { unixNano: 0n, line, stream: emptyLabels, structuredMetadata: [] };
  let pauses = 0;
  const output = await pipeline.process(input, { spend: () => true, yield: () => Promise.resolve(void pauses++) });
  const cancelled = { spend: () => true, yield: () => Promise.reject(new Error("cancelled")) };
  await assert.rejects(async () => pipeline.process(input, cancelled), /cancelled/);
  return { output, pauses };
}

describe("a long line pauses, and ends with the query", () => {
  const members = Array.from({ length: 20_000 }, (_, index) => `"member_${index % 100}":{"x":${index}}`);
  const cases: [stages: string, line: string, expected: (output: PipelineOutput | null) => void][] = [
    ["| json", `{${members.join()}}`, (output) => assert.equal(output?.get("member_99_x"), "99")],
    ['|~ "(x+x+)+y" |= "xx"', `${"x".repeat(50_000)}y`, (output) => assert.ok(output !== null)],
    ['|= "aab"', "a".repeat(length), (output) => assert.equal(output, null)],
    ['|= "aab"', `${"a".repeat(length)}b`, (output) => assert.ok(output !== null)],
    ['!= "aab" or "aac"', "a".repeat(length), (output) => assert.ok(output !== null)],
    ['|> "a<_>b<_>"', `${"a".repeat(length)}bc`, (output) => assert.ok(output !== null)],
    ['|= ip("1.2.3.4")', `${"1: ".repeat(length / 3)} 1.2.3.4`, (output) => assert.ok(output !== null)],
    ["| decolorize", "\u001B[0mx".repeat(length / 5), (output) => assert.equal(output?.line, "x".repeat(length / 5))],
    ['| pattern "<a>b<c>"', `${"a".repeat(length)}bc`, (output) => assert.equal(output?.get("c"), "c")],
  ];
  for (const [stages, line, expected] of cases) {
    test(`${stages} on ${line.slice(0, 10)}…`, async () => {
      const { output, pauses } = await runLong(stages, line);
      expected(output);
      assert.ok(pauses > 10, `${pauses} pauses`);
    });
  }

  test("ip() of a label", async () => {
    const { output, pauses } = await runLong(
      '| pattern "<label>b" | label = ip("1.2.3.4")',
      `${"1: ".repeat(length / 3)} 1.2.3.4b`,
    );
    assert.ok(output !== null);
    assert.ok(pauses > 40, `${pauses} pauses`);
  });
});

test("a search by slices finds the first place", () => {
  const word = fc.string({ unit: fc.constantFrom("a", "b"), minLength: 1, maxLength: 20 });
  const place = fc.array(fc.tuple(word, fc.nat({ max: 20_000 })), { maxLength: 5 });
  fc.assert(
    fc.property(place, word, fc.nat({ max: 40_000 }), (places, wanted, from) => {
      const line = places.map(([text, before]) => ".".repeat(before) + text).join("");
      const budget = { spend: () => false, yield: () => Promise.resolve() };
      assert.equal(runSteps(findText(line, wanted, from, budget)), line.indexOf(wanted, from));
    }),
    { numRuns: propertyRuns(300) },
  );
});

describe("long values are not read as numbers", () => {
  for (const [stages, value] of [
    ["| x > 5", "9"],
    ["| x > 5", "0_"],
    ["| x > 5s", "1h"],
    ["| x > 5KB", "1,"],
  ] as const) {
    test(`${stages}, ${value}…`, () => {
      const labels = extract(`| pattern "<x>;" ${stages} | drop x`, `${value.repeat(length / value.length)};`);
      assert.deepEqual(labels, {
        __error__: "LabelFilterErr",
        __error_details__: `the value has ${length} characters, the limit for numbers is 1100`,
      });
    });
  }

  test("the longest number is", () => {
    const digits = `0.${"0".repeat(323)}${"4940656458412465441765687928682213723651".padEnd(750, "0")}`;
    assert.deepEqual(extract('| pattern "<x>;" | x > 0 | drop x', `${digits};`), {});
  });
});
