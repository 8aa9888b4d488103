/**
 * Label filters: matchers, comparisons with numbers, durations and sizes, `ip(…)`, and combinations of them. A value that
 * cannot be converted passes and marks the entry with an error; an entry without the label does not pass a comparison.
 */
import type { ComparisonOperator, LabelFilter } from "../syntax/ast.ts";
import { compileAddressFilter } from "./address-filter.ts";
import { parseByteSize } from "./byte-size.ts";
import type { Conversion } from "./conversion.ts";
import { errorLabel } from "./entry-labels.ts";
import { parseGoDuration } from "./go-duration.ts";
import { parseGoFloat } from "./go-number.ts";
import type { CompiledStage, Passes } from "./stage.ts";
import { compileValueMatcher } from "./value-matcher.ts";

/** @throws QueryError for an invalid expression or address */
export function compileLabelFilter(filter: LabelFilter): CompiledStage {
  switch (filter.kind) {
    case "matcher": {
      const { name } = filter.matcher;
      const matches = compileValueMatcher(filter.matcher);
      return {
        reads: [name],
        process: ({ labels }, budget) => matches(name === errorLabel ? labels.error : (labels.get(name) ?? ""), budget),
      };
    }
    case "number":
      return comparison(filter.label, parseGoFloat, comparer(filter.operator, filter.value));
    case "duration":
      return comparison(filter.label, parseGoDuration, comparer(filter.operator, filter.nanoseconds));
    case "bytes":
      return comparison(filter.label, parseByteSize, comparer(filter.operator, filter.bytes));
    case "ip":
      return addressFilter(filter.label, filter.operator, filter.addresses);
    case "and":
    case "or":
      return combination(filter.kind, compileLabelFilter(filter.left), compileLabelFilter(filter.right));
  }
}

function comparison(
  label: string,
  convert: (text: string) => Conversion,
  compare: (value: number) => boolean,
): CompiledStage {
  return {
    reads: [label],
    process({ labels }) {
      const text = labels.get(label);
      if (text === undefined) return false;
      const { problem, value } = convert(text);
      if (problem === undefined) return compare(value);
      labels.fail("LabelFilterErr", problem);
      return true;
    },
  };
}

function comparer(operator: ComparisonOperator, wanted: number): (value: number) => boolean {
  switch (operator) {
    case "==":
      return (value) => value === wanted;
    case "!=":
      return (value) => value !== wanted;
    case ">":
      return (value) => value > wanted;
    case ">=":
      return (value) => value >= wanted;
    case "<":
      return (value) => value < wanted;
    case "<=":
      return (value) => value <= wanted;
  }
}

function addressFilter(label: string, operator: "=" | "!=", addresses: string): CompiledStage {
  const isIn = compileAddressFilter(addresses);
  return {
    reads: [label],
    process({ labels }, budget) {
      // Only matchers drop entries with errors.
      if (labels.error !== "") return true;
      const text = labels.get(label);
      if (text === undefined) return false;
      const found = isIn(text, budget);
      const isWanted = (one: boolean): boolean => one === (operator === "=");
      return typeof found === "boolean" ? isWanted(found) : found.then(isWanted);
    },
  };
}

function combination(kind: "and" | "or", left: CompiledStage, right: CompiledStage): CompiledStage {
  const decides = kind === "or";
  const afterLeft = (passes: boolean, next: () => Passes): Passes => (passes === decides ? passes : next());
  return {
    reads: [...left.reads, ...right.reads],
    process(entry, budget) {
      const passes = left.process(entry, budget);
      const next = (): Passes => right.process(entry, budget);
      return typeof passes === "boolean" ? afterLeft(passes, next) : passes.then((one) => afterLeft(one, next));
    },
  };
}
