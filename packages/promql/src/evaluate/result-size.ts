/** The limits on a query's result, checked before a byte of the response is written. */
import { samplesOfHistogram, type FloatHistogram } from "../histogram/float-histogram.ts";
import type { Labels } from "../series/labels.ts";
import type { QueryValue } from "../query-value.ts";
import { workOfLabels, type Budget } from "./budget.ts";
import { evaluationError } from "./query-context.ts";

interface Part {
  readonly labels: Labels;
  readonly floats: number;
  readonly histograms: readonly FloatHistogram[];
}

/** Throws if a result has more samples or longer labels than the limits allow. */
export async function checkResultSize(value: QueryValue, budget: Budget): Promise<void> {
  const { maxResultLabelCharacters, maxResultSamples } = budget.limits;
  let samples = 0;
  let characters = 0;
  for (const { floats, histograms, labels } of partsOf(value)) {
    samples += histograms.reduce((sum, one) => sum + samplesOfHistogram(one), floats);
    characters += labels.key.length;
    if (samples > maxResultSamples) {
      throw evaluationError(
        `the result has more than ${maxResultSamples} samples, the limit. ` +
          "Select fewer series, a shorter time or a larger step, or aggregate.",
      );
    }
    if (characters > maxResultLabelCharacters) {
      throw evaluationError(
        `the labels of the result have more than ${maxResultLabelCharacters} characters, the limit. ` +
          "Select fewer series, or aggregate.",
      );
    }
    if (budget.spend(workOfLabels + histograms.length * 8)) await budget.yield();
  }
}

function* partsOf(value: QueryValue): Generator<Part> {
  if (value.type === "vector") {
    for (const { histogram, labels } of value.samples) {
      yield { labels, floats: 1, histograms: histogram === null ? [] : [histogram] };
    }
  }
  if (value.type === "matrix") {
    for (const { histograms, labels, values } of value.series) yield { labels, floats: values.length, histograms };
  }
}
