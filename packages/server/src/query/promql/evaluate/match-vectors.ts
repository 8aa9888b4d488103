/**
 * Binary operators between two vectors: series find their partners by labels, step by step.
 * https://prometheus.io/docs/prometheus/latest/querying/operators/#vector-matching
 */
import {
  dropLabels,
  keepLabels,
  metadataLabels,
  getLabel,
  printLabels,
  setLabels,
  type Labels,
} from "../series/labels.ts";
import type { BinaryExpression, VectorMatching } from "../syntax/ast.ts";
import {
  changesMeaning,
  sampleOperation,
  type Operated,
  type SampleOperation,
  type SampleValue,
} from "./arithmetic.ts";
import { sampleAt, setSample } from "./evaluate-binary.ts";
import { absent, isEmpty, newColumn, setFloat, type Column } from "./grid.ts";
import { mergeColumns } from "./merge-columns.ts";
import { evaluationError, type QueryContext } from "./query-context.ts";

/** The part of a series' labels by which it finds its partners. */
function matchLabels(labels: Labels, { labels: names, on }: Pick<VectorMatching, "labels" | "on">): Labels {
  return on ? keepLabels(labels, new Set(names)) : dropLabels(labels, new Set([...names, "__name__"]));
}

interface MatchGroup {
  readonly labels: Labels;
  readonly many: Column[];
  readonly one: Column[];
}

/** Series of both sides by what they match on. */
export function groupByMatch(
  many: readonly Column[],
  one: readonly Column[],
  matching: VectorMatching,
): ReadonlyMap<string, MatchGroup> {
  const groups = new Map<string, MatchGroup>();
  const groupOf = (column: Column): MatchGroup => {
    const labels = matchLabels(column.labels, matching);
    let group = groups.get(labels.key);
    if (group === undefined) groups.set(labels.key, (group = { labels, many: [], one: [] }));
    return group;
  };
  for (const column of many) groupOf(column).many.push(column);
  for (const column of one) groupOf(column).one.push(column);
  return groups;
}

interface Match {
  readonly binary: BinaryExpression;
  readonly matching: VectorMatching;
  readonly operate: SampleOperation;
  /** The right-hand side is the "many" one, so sides are swapped. */
  readonly isSwapped: boolean;
  readonly count: number;
  /** The steps at which both sides have something, or missing partners are filled. */
  readonly active: Uint8Array;
}

/** The operator's result for each pair of partners. */
export async function matchVectors(
  binary: BinaryExpression,
  sides: { left: readonly Column[]; right: readonly Column[]; count: number },
  context: QueryContext,
): Promise<readonly Column[]> {
  const matching = binary.matching!;
  const isSwapped = matching.cardinality === "one-to-many";
  const [many, one] = isSwapped ? [sides.right, sides.left] : [sides.left, sides.right];
  const match: Match = {
    binary,
    matching,
    operate: sampleOperation(binary, context.annotations),
    isSwapped,
    count: sides.count,
    active: activeSteps(many, one, { matching, count: sides.count }),
  };
  const results: Column[] = [];
  for (const group of groupByMatch(many, one, matching).values()) {
    results.push(...matchGroup(group, match));
    if (context.budget.spend((group.many.length + group.one.length) * sides.count)) await context.budget.breathe();
  }
  context.budget.hold(results.length * sides.count);
  return sides.count > 1 ? mergeColumns(results) : results;
}

function activeSteps(
  many: readonly Column[],
  one: readonly Column[],
  { matching, count }: { matching: VectorMatching; count: number },
): Uint8Array {
  const manyPresent = presentSteps(many, count);
  const onePresent = presentSteps(one, count);
  const fills = matching.fillLeft !== null || matching.fillRight !== null;
  return manyPresent.map((present, step) => {
    const other = onePresent[step]!;
    return fills ? present | other : present & other;
  });
}

/** 1 at each step at which some column has something. */
export function presentSteps(columns: readonly Column[], count: number): Uint8Array {
  const present = new Uint8Array(count);
  for (const { kinds } of columns) {
    for (let step = 0; step < count; step++) {
      if (kinds[step] !== absent) present[step] = 1;
    }
  }
  return present;
}

/** For each step which of the "one" side's series is there, -1 for none; two at once are an error. */
function partnersOf(group: MatchGroup, match: Match): Int32Array {
  const partners = new Int32Array(match.count).fill(-1);
  for (const [index, column] of group.one.entries()) {
    for (let step = 0; step < match.count; step++) {
      if (column.kinds[step] === absent || match.active[step] === 0) continue;
      if (partners[step] !== -1) throw duplicateError(group, match, [group.one[partners[step]!]!, column]);
      partners[step] = index;
    }
  }
  return partners;
}

function duplicateError(group: MatchGroup, match: Match, columns: readonly Column[]): Error {
  const series = columns.map((column) => printLabels(column.labels)).sort();
  return evaluationError(
    `found duplicate series for the match group ${printLabels(group.labels)} on the ` +
      `${match.isSwapped ? "left" : "right"} hand-side of the operation: [${series.join(", ")}]` +
      ";many-to-many matching not allowed: matching labels must be unique on one side",
  );
}

function matchGroup(group: MatchGroup, match: Match): readonly Column[] {
  const { fillLeft, fillRight } = match.matching;
  if (group.one.length === 0 && fillRight === null) return [];
  if (group.many.length === 0 && fillLeft === null) return [];
  const partners = partnersOf(group, match);
  const results = new PairResults(match);
  for (const column of group.many) {
    for (let step = 0; step < match.count; step++) {
      if (column.kinds[step] === absent || match.active[step] === 0) continue;
      const partner = group.one[partners[step]!];
      if (partner === undefined && fillRight === null) continue;
      results.add(step, {
        many: column.labels,
        manySample: sampleAt(column, step),
        one: partner?.labels ?? matchLabels(column.labels, match.matching),
        oneSample: partner === undefined ? fillRight! : sampleAt(partner, step),
        dropName: column.dropName,
      });
    }
  }
  if (fillLeft !== null) fillMissing(group, { match, partners, results });
  return results.columns;
}

/** A made-up partner for each series of the "one" side that found none. */
function fillMissing(
  group: MatchGroup,
  { match, partners, results }: { match: Match; partners: Int32Array; results: PairResults },
): void {
  for (let step = 0; step < match.count; step++) {
    const partner = group.one[partners[step]!];
    if (partner === undefined || results.isMatched(step)) continue;
    results.add(step, {
      many: matchLabels(partner.labels, match.matching),
      manySample: match.matching.fillLeft!,
      one: partner.labels,
      oneSample: sampleAt(partner, step),
      dropName: partner.dropName,
    });
  }
}

interface Pair {
  readonly many: Labels;
  readonly manySample: SampleValue;
  readonly one: Labels;
  readonly oneSample: SampleValue;
  readonly dropName: boolean;
}

/** The results of one match group: a column for each set of result labels, and which steps are taken. */
class PairResults {
  readonly #match: Match;
  readonly #columns = new Map<string, Column>();
  readonly #labels = new Map<string, Labels>();
  readonly #matched: Uint8Array;
  /** The label sets that each step has already, for the many-to-one check. */
  readonly #taken = new Map<number, Set<string>>();

  constructor(match: Match) {
    this.#match = match;
    this.#matched = new Uint8Array(match.count);
  }

  get columns(): readonly Column[] {
    return [...this.#columns.values()].filter((column) => !isEmpty(column));
  }

  isMatched(step: number): boolean {
    return this.#matched[step] === 1;
  }

  add(step: number, pair: Pair): void {
    const { binary, isSwapped, operate } = this.#match;
    const operated = isSwapped ? operate(pair.oneSample, pair.manySample) : operate(pair.manySample, pair.oneSample);
    if (operated === undefined) return;
    const labels = this.#resultLabels(pair);
    this.#claim(step, labels);
    if (!operated.keep && !binary.returnBool) return;
    this.#put(step, operated, { labels, dropName: binary.returnBool || pair.dropName });
  }

  #put(step: number, operated: Operated, { labels, dropName }: { labels: Labels; dropName: boolean }): void {
    let column = this.#columns.get(labels.key);
    if (column === undefined) {
      column = newColumn(labels, dropName, this.#match.count);
      this.#columns.set(labels.key, column);
    }
    if (this.#match.binary.returnBool) setFloat(column, step, operated.keep ? 1 : 0);
    else setSample(column, step, operated.value);
  }

  #claim(step: number, labels: Labels): void {
    if (this.#match.matching.cardinality === "one-to-one") {
      if (this.#matched[step] === 1) {
        throw evaluationError(
          "multiple matches for labels: many-to-one matching must be explicit (group_left/group_right)",
        );
      }
    } else {
      const taken = this.#taken.get(step) ?? new Set();
      if (taken.has(labels.key)) {
        throw evaluationError("multiple matches for labels: grouping labels must ensure unique matches");
      }
      this.#taken.set(step, taken.add(labels.key));
    }
    this.#matched[step] = 1;
  }

  #resultLabels({ many, one }: Pair): Labels {
    const key = `${many.key}\u0001${one.key}`;
    let labels = this.#labels.get(key);
    if (labels === undefined) this.#labels.set(key, (labels = resultLabels(many, one, this.#match)));
    return labels;
  }
}

function resultLabels(many: Labels, one: Labels, { binary, matching }: Match): Labels {
  let labels = changesMeaning(binary.operator) ? dropLabels(many, metadataLabels) : many;
  if (matching.cardinality === "one-to-one") {
    const names = new Set(matching.labels);
    labels = matching.on ? keepLabels(labels, names) : dropLabels(labels, names);
  }
  if (matching.include.length === 0) return labels;
  return setLabels(labels, new Map(matching.include.map((name) => [name, getLabel(one, name)])));
}
