/** Runs a test script against the engine: each `eval` is a case that passes or fails. */
import { queryInstant, queryRange, type QueryResult } from "../../src/engine.ts";
import type { MatrixSeries, VectorSample } from "../../src/query-value.ts";
import { parseExpression } from "../../src/syntax/parse.ts";
import { printExpression } from "../../src/syntax/print.ts";
import { annotationProblem, describe, meets, valueProblem } from "./compare.ts";
import { MemoryStorage } from "../../src/memory-storage.ts";
import { parseScript, type EvalCommand } from "./script.ts";
import { dependsOnQueryRange, dependsOnTime, otherTimes, pinned } from "./variants.ts";

export interface CaseResult {
  readonly line: number;
  readonly expression: string;
  /** Why the case failed; null if it passed. */
  readonly failure: string | null;
}

/** All cases of a script, in order. A command that cannot be read is a failed case; so is a script without cases. */
export async function runScript(text: string): Promise<CaseResult[]> {
  let storage = new MemoryStorage();
  const results: CaseResult[] = [];
  for (const command of parseScript(text)) {
    if (command.kind === "clear") {
      storage = new MemoryStorage();
    } else if (command.kind === "load") {
      for (const { labels, samples } of command.series) storage.add(labels, samples);
    } else if (command.kind === "broken") {
      results.push({ line: command.line, expression: "", failure: command.problem });
    } else {
      const { expression, line } = command;
      results.push({ line, expression, failure: (await caseProblem(command, storage)) ?? null });
    }
  }
  if (results.length > 0) return results;
  return [{ line: 1, expression: "", failure: "the script has no case: no line begins with eval" }];
}

async function caseProblem(command: EvalCommand, storage: MemoryStorage): Promise<string | undefined> {
  if (command.isRange) {
    const { endMs, expression: query, startMs, stepMs } = command;
    return problemOf(command, () => queryRange(storage, { query, startMs, endMs, stepMs }));
  }
  const problem = await instantProblem(command, storage, { query: command.expression, timeMs: command.startMs });
  if (problem !== undefined) return problem;
  for (const variant of variantsOf(command)) {
    const variantProblem = await instantProblem(command, storage, variant);
    if (variantProblem !== undefined) return `as ${variant.query} at ${variant.timeMs} ms: ${variantProblem}`;
  }
  return undefined;
}

interface Instant {
  readonly query: string;
  readonly timeMs: number;
}

function variantsOf(command: EvalCommand): Instant[] {
  try {
    const expression = parseExpression(command.expression);
    if (dependsOnTime(expression)) return [];
    const query = printExpression(pinned(expression, command.startMs));
    return otherTimes(command.startMs).map((timeMs) => ({ query, timeMs }));
  } catch {
    // A query that does not parse has no variants; that it fails has already been checked.
    return [];
  }
}

async function instantProblem(
  command: EvalCommand,
  storage: MemoryStorage,
  { query, timeMs }: Instant,
): Promise<string | undefined> {
  let result: QueryResult | undefined;
  const problem = await problemOf(command, async () => {
    result = await queryInstant(storage, { query, timeMs });
    return result;
  });
  const cannotBeRange =
    result === undefined ||
    command.matrix !== null ||
    command.text !== null ||
    dependsOnQueryRange(query) ||
    command.expectations.some(({ kind }) => kind === "ordered");
  if (problem !== undefined || cannotBeRange) return problem;
  const range = await queryRange(storage, { query, startMs: timeMs - 60_000, endMs: timeMs + 60_000, stepMs: 60_000 });
  const rangeProblem = valueProblem(command, middleStep(command, range, timeMs));
  return rangeProblem === undefined ? undefined : `as the middle step of a range: ${rangeProblem}`;
}

/** The step of a matrix as an instant query would have returned it. */
function middleStep(command: EvalCommand, { value }: QueryResult, timeMs: number): QueryResult["value"] {
  if (value.type !== "matrix") return value;
  const samples = value.series.flatMap((series) => sampleAt(series, timeMs));
  return command.scalar === null
    ? { type: "vector", samples }
    : { type: "scalar", value: samples[0]?.value ?? Number.NaN };
}

function sampleAt(series: MatrixSeries, timeMs: number): VectorSample[] {
  const { labels } = series;
  const float = series.timestampsMs.indexOf(timeMs);
  if (float !== -1) return [{ labels, value: series.values[float]!, histogram: null }];
  const histogram = series.histogramTimestampsMs.indexOf(timeMs);
  return histogram === -1 ? [] : [{ labels, value: 0, histogram: series.histograms[histogram]! }];
}

async function problemOf(command: EvalCommand, evaluate: () => Promise<QueryResult>): Promise<string | undefined> {
  const failure = command.expectations.find(({ kind }) => kind === "fail");
  let result: QueryResult;
  try {
    result = await evaluate();
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    if (failure === undefined) return `failed: ${message}`;
    const unmet = command.expectations.find(
      (expectation) => expectation.kind === "fail" && !meets(expectation, message),
    );
    return unmet === undefined ? undefined : `expected to fail with ${describe(unmet)}, failed with ${message}`;
  }
  if (failure !== undefined) return "expected to fail, but did not";
  return annotationProblem(command, result) ?? valueProblem(command, result.value);
}
