/** `unwrap`: reads the value of a sample from a label; filters behind it see the error of a failed conversion. */
import type { YieldBudget } from "@sounding/promql/regex/yield-budget";
import type { Unwrap } from "../syntax/ast.ts";
import { parseByteSize } from "./byte-size.ts";
import type { Conversion } from "./conversion.ts";
import { parseGoDuration } from "./go-duration.ts";
import { parseGoFloat } from "./go-number.ts";
import { compileLabelFilter } from "./label-filter.ts";
import { runStages } from "./run-stages.ts";
import type { CompiledStage, Entry, Passes } from "./stage.ts";

/** @throws QueryError for an invalid expression of a filter */
export function compileUnwrap({ conversion, filters, label }: Unwrap): CompiledStage {
  const compiled = filters.map(({ filter }) => compileLabelFilter(filter));
  const convert = converters[conversion ?? "number"];
  return {
    reads: [label, ...compiled.flatMap(({ reads }) => reads)],
    process(entry: Entry, budget: YieldBudget): Passes {
      // An entry without the label is no error: it has no sample.
      const text = entry.labels.get(label) ?? "";
      if (text === "") return false;
      const { problem, value } = convert(text);
      entry.value = value ?? 0;
      if (problem !== undefined) {
        entry.labels.error = "SampleExtractionErr";
        entry.labels.errorDetails = problem;
      }
      return runStages(compiled, entry, budget);
    },
  };
}

const nanosecondsPerSecond = 1e9;

function durationSeconds(text: string): Conversion {
  const duration = parseGoDuration(text);
  if (duration.problem !== undefined) return duration;
  const whole = Math.trunc(duration.value / nanosecondsPerSecond);
  return { value: whole + (duration.value % nanosecondsPerSecond) / nanosecondsPerSecond };
}

const converters = {
  number: parseGoFloat,
  bytes: parseByteSize,
  duration: durationSeconds,
  duration_seconds: durationSeconds,
};
