/** The results of one match group: a column for each set of result labels, and which steps have a result. */
import {
  dropLabels,
  getLabel,
  ignoreLabels,
  keepLabels,
  type Labels,
  metadataLabels,
  setLabels,
} from "../series/labels.ts";
import type { BinaryExpression, VectorMatching } from "../syntax/ast.ts";
import {
  changesMeaning,
  floatOperation,
  type FloatOperation,
  type SampleOperation,
  type SampleValue,
} from "./arithmetic.ts";
import type { Budget } from "./budget.ts";
import { setSample } from "./evaluate-binary.ts";
import { isEmpty, newColumn, setFloat, type Column } from "./grid.ts";
import { evaluationError } from "./query-context.ts";
import type { StepReports } from "./step-reports.ts";

export interface PairOptions {
  readonly budget: Budget;
  readonly binary: BinaryExpression;
  readonly matching: VectorMatching;
  readonly operate: SampleOperation;
  readonly reports: StepReports;
  /** The right-hand side is the "many" one, so sides are swapped. */
  readonly isSwapped: boolean;
  readonly count: number;
}

/** Where the results of one pair of series go. */
export interface PairTarget {
  readonly column: Column;
  /** The steps that already have a result, including results that a comparison filtered out. */
  readonly claimed: Uint8Array;
}

export class PairResults {
  readonly #options: PairOptions;
  readonly #floats: FloatOperation | undefined;
  readonly #targets = new Map<string, PairTarget>();
  readonly #matched: Uint8Array;

  constructor(options: PairOptions) {
    this.#options = options;
    this.#floats = floatOperation(options.binary.operator);
    this.#matched = new Uint8Array(options.count);
  }

  get columns(): readonly Column[] {
    return [...this.#targets.values()].map(({ column }) => column).filter((column) => !isEmpty(column));
  }

  /** Whether the "one" side found a partner at a step. */
  isMatched(step: number): boolean {
    return this.#matched[step] === 1;
  }

  target(many: Labels, one: Labels, dropName: boolean): PairTarget {
    const { binary, count } = this.#options;
    const labels = resultLabels(many, one, this.#options);
    let target = this.#targets.get(labels.key);
    if (target === undefined) {
      this.#options.budget.holdSamples(count);
      target = { column: newColumn(labels, binary.returnBool || dropName, count), claimed: new Uint8Array(count) };
      this.#targets.set(labels.key, target);
    }
    return target;
  }

  /** Adds the result of two floats. */
  addFloats(step: number, target: PairTarget, many: number, one: number): void {
    const operation = this.#floats;
    if (operation === undefined) {
      this.addSamples(step, target, many, one);
      return;
    }
    const { binary, isSwapped } = this.#options;
    const left = isSwapped ? one : many;
    const right = isSwapped ? many : one;
    this.#claim(step, target);
    if (operation.holds === null) setFloat(target.column, step, operation.compute(left, right));
    else if (binary.returnBool) setFloat(target.column, step, operation.holds(left, right) ? 1 : 0);
    else if (operation.holds(left, right)) setFloat(target.column, step, left);
  }

  /** Adds the result of two samples, if they have one. */
  addSamples(step: number, target: PairTarget, many: SampleValue, one: SampleValue): void {
    const { binary, isSwapped, operate, reports } = this.#options;
    reports.step = step;
    const operated = isSwapped ? operate(one, many) : operate(many, one);
    if (operated === undefined) return;
    this.#claim(step, target);
    if (binary.returnBool) setFloat(target.column, step, operated.keep ? 1 : 0);
    else if (operated.keep) setSample(target.column, step, operated.value);
  }

  #claim(step: number, target: PairTarget): void {
    if (this.#options.matching.cardinality === "one-to-one") {
      if (this.#matched[step] === 1) {
        throw evaluationError(
          "multiple matches for labels: many-to-one matching must be explicit (group_left/group_right)",
        );
      }
    } else if (target.claimed[step] === 1) {
      throw evaluationError("multiple matches for labels: grouping labels must ensure unique matches");
    }
    target.claimed[step] = 1;
    this.#matched[step] = 1;
  }
}

function resultLabels(many: Labels, one: Labels, { binary, matching }: PairOptions): Labels {
  let labels = changesMeaning(binary.operator) ? dropLabels(many, metadataLabels) : many;
  if (matching.cardinality === "one-to-one") {
    const names = new Set(matching.labels);
    labels = matching.on ? keepLabels(labels, names) : ignoreLabels(labels, names);
  }
  if (matching.include.length === 0) return labels;
  return setLabels(labels, new Map(matching.include.map((name) => [name, getLabel(one, name)])));
}
