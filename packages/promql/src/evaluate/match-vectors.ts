/**
 * Binary operators between two vectors: series find their partners by labels, step by step.
 * https://prometheus.io/docs/prometheus/latest/querying/operators/#vector-matching
 */
import { printLabels, type Labels } from "../series/labels.ts";
import type { BinaryExpression, VectorMatching } from "../syntax/ast.ts";
import { sampleOperation } from "./arithmetic.ts";
import { workOfHistogram, workOfLabels, type Budget } from "./budget.ts";
import { sampleAt } from "./evaluate-binary.ts";
import { absent, float, type Column } from "./grid.ts";
import { groupByMatch, labelsToMatch, presentSteps, type MatchGroup } from "./match-groups.ts";
import { mergeColumns } from "./merge-columns.ts";
import { PairResults, type PairOptions, type PairTarget } from "./pair-results.ts";
import { evaluationError, type OperatorContext } from "./query-context.ts";
import { StepReports } from "./step-reports.ts";

/** The error where two series of the "one" side have the same labels to match; by default, in Prometheus' words. */
type DuplicatesError = (side: "left" | "right", group: Labels, series: readonly Labels[]) => Error;

interface MatchContext extends OperatorContext {
  readonly duplicates?: DuplicatesError | undefined;
}

interface Match extends PairOptions {
  /** The steps at which both sides have a sample, or missing partners are filled. */
  readonly active: Uint8Array;
  /** The index of each series among all. */
  readonly orders: ReadonlyMap<Column, number>;
}

/** The operator's result for each pair of partners. */
export async function matchVectors(
  binary: BinaryExpression,
  sides: { left: readonly Column[]; right: readonly Column[]; count: number },
  context: MatchContext,
): Promise<readonly Column[]> {
  const { budget, duplicates } = context;
  const { count } = sides;
  const matching = binary.matching!;
  const isSwapped = matching.cardinality === "one-to-many";
  const [many, one] = isSwapped ? [sides.right, sides.left] : [sides.left, sides.right];
  const reports = new StepReports();
  const operate = sampleOperation(binary, reports);
  const active = await activeSteps(many, one, { matching, count, budget });
  const orders = new Map([...many, ...one].map((column, order) => [column, order]));
  const match: Match = { binary, matching, operate, reports, isSwapped, count, active, orders, budget };
  const groups = await groupByMatch({ many, one }, matching, budget);
  await refuseDuplicates(groups, match, duplicates ?? duplicatesError);
  const results: Column[] = [];
  for (const group of groups) {
    for (const column of await matchGroup(group, match)) results.push(column);
    if (budget.spend(workOfLabels)) await budget.yield();
  }
  reports.addTo(context.annotations);
  return count > 1 ? mergeColumns(results, budget) : results;
}

async function activeSteps(
  many: readonly Column[],
  one: readonly Column[],
  { budget, count, matching }: { matching: VectorMatching; count: number; budget: Budget },
): Promise<Uint8Array> {
  const manyPresent = await presentSteps(many, count, budget);
  const onePresent = await presentSteps(one, count, budget);
  const fills = matching.fillLeft !== null || matching.fillRight !== null;
  return manyPresent.map((present, step) => {
    const other = onePresent[step]!;
    return fills ? present | other : present & other;
  });
}

/** On the "one" side, a group may have one series at a time; the error reports the earliest step that has two. */
async function refuseDuplicates(
  groups: readonly MatchGroup[],
  match: Match,
  duplicates: DuplicatesError,
): Promise<void> {
  const crowded = groups.filter(({ one }) => one.length > 1);
  for (let step = 0; step < match.count && crowded.length > 0; step++) {
    if (match.active[step] === 0) continue;
    for (const { labels, one } of crowded) {
      if (match.budget.spend(one.length)) await match.budget.yield();
      const present = one.filter(({ kinds }) => kinds[step] !== absent);
      if (present.length < 2) continue;
      const series = present.slice(0, 2).map((column) => column.labels);
      throw duplicates(match.isSwapped ? "left" : "right", labels, series);
    }
  }
}

const duplicatesError: DuplicatesError = (side, group, series) =>
  evaluationError(
    `found duplicate series for the match group ${printLabels(group)} on the ${side} hand-side of the operation: ` +
      `[${series.map(printLabels).sort().join(", ")}]` +
      ";many-to-many matching not allowed: matching labels must be unique on one side",
  );

async function matchGroup(group: MatchGroup, match: Match): Promise<readonly Column[]> {
  const { fillLeft, fillRight } = match.matching;
  if (group.one.length === 0 && fillRight === null) return [];
  if (group.many.length === 0 && fillLeft === null) return [];
  const { budget, count } = match;
  const partners = await partnersOf(group, match);
  const results = new PairResults(match);
  for (const column of group.many) {
    matchSeries(column, group, { match, partners, results });
    if (budget.spend(workOfLabels + count * (column.histograms === null ? 1 : workOfHistogram))) await budget.yield();
  }
  if (fillLeft !== null) fillMissing(group, { match, partners, results });
  return results.columns;
}

/** For each step, the series of the "one" side that has a sample, or -1. */
async function partnersOf(group: MatchGroup, match: Match): Promise<Int32Array> {
  const partners = new Int32Array(match.count).fill(-1);
  for (const [index, { kinds }] of group.one.entries()) {
    for (let step = 0; step < match.count; step++) {
      if (kinds[step] !== absent) partners[step] = index;
    }
    if (match.budget.spend(match.count)) await match.budget.yield();
  }
  return partners;
}

interface Matching {
  readonly match: Match;
  readonly partners: Int32Array;
  readonly results: PairResults;
}

function matchSeries(column: Column, group: MatchGroup, { match, partners, results }: Matching): void {
  const { fillRight } = match.matching;
  match.reports.order = match.orders.get(column)!;
  let target: PairTarget | undefined;
  let targetOf = -2;
  for (let step = 0; step < match.count; step++) {
    if (column.kinds[step] === absent || match.active[step] === 0) continue;
    const index = partners[step]!;
    const partner = group.one[index];
    if (partner === undefined && fillRight === null) continue;
    if (target === undefined || targetOf !== index) {
      const one = partner?.labels ?? labelsToMatch(match.matching)(column.labels);
      target = results.target(column.labels, one, column.dropName);
      targetOf = index;
    }
    if (column.kinds[step] === float && (partner === undefined || partner.kinds[step] === float)) {
      results.addFloats(step, target, column.values[step]!, partner === undefined ? fillRight! : partner.values[step]!);
    } else {
      const one = partner === undefined ? fillRight! : sampleAt(partner, step);
      results.addSamples(step, target, sampleAt(column, step), one);
    }
  }
}

/** A synthetic partner for each series of the "one" side that found none. */
function fillMissing(group: MatchGroup, { match, partners, results }: Matching): void {
  for (let step = 0; step < match.count; step++) {
    const partner = group.one[partners[step]!];
    if (partner === undefined || results.isMatched(step) || match.active[step] === 0) continue;
    match.reports.order = match.orders.get(partner)!;
    const target = results.target(labelsToMatch(match.matching)(partner.labels), partner.labels, partner.dropName);
    results.addSamples(step, target, match.matching.fillLeft!, sampleAt(partner, step));
  }
}
