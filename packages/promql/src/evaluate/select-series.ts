/** Asks the store for every selector of a query before the evaluation starts. */
import type { SelectHints, SelectRequest, StoredSeries } from "../storage.ts";
import type { Expression, Subquery, VectorSelector } from "../syntax/ast.ts";
import { childrenOf } from "../syntax/ast.ts";
import { samplesOfHistogram } from "../histogram/float-histogram.ts";
import { printExpression } from "../syntax/print.ts";
import type { Budget } from "./budget.ts";
import { durationMs, fixedTimeMs, offsetMs, type QueryContext, type QueryTimes } from "./query-context.ts";
import { readsOnlyStatistics, withResetHints } from "./reset-hints.ts";

type SelectContext = Pick<QueryContext, "budget" | "storage" | "lookbackMs" | "defaultSubqueryStepMs"> & QueryTimes;

interface Wanted {
  readonly selector: VectorSelector;
  fromMs: number;
  toMs: number;
  readonly hints: SelectHints;
  readonly onlyStatistics: boolean;
}

/** The stored series for each selector; parts of the query in `except` need none. */
export async function selectAll(
  expression: Expression,
  context: SelectContext,
  except: ReadonlyMap<Expression, unknown>,
): Promise<ReadonlyMap<VectorSelector, readonly StoredSeries[]>> {
  const wanted = new Map<VectorSelector, Wanted>();
  collect([expression], wanted, { context, except });
  // A query that repeats a part requests it once.
  const requests = [...Map.groupBy(wanted.values(), requestKey).values()].values();
  const selected = new Map<VectorSelector, readonly StoredSeries[]>();
  const selectOneByOne = async (): Promise<void> => {
    for (const sameRequest of requests) {
      const { onlyStatistics, selector, ...rest } = sameRequest[0]!;
      const request = { matchers: selector.matchers, ...rest, ...storeAccess(context.budget) };
      const series = await select(context, request, printExpression(selector));
      const answer = onlyStatistics ? await addResetHints(series, context.budget) : series;
      for (const each of sameRequest) selected.set(each.selector, answer);
    }
  };
  await Promise.all(Array.from({ length: concurrentRequests }, selectOneByOne));
  return selected;
}

/** Selectors of one query that are requested from the store concurrently. */
const concurrentRequests = 4;

function requestKey({ fromMs, hints, onlyStatistics, selector, toMs }: Wanted): string {
  return JSON.stringify([selector.matchers, fromMs, toMs, hints, onlyStatistics]);
}

async function addResetHints(series: readonly StoredSeries[], budget: Budget): Promise<readonly StoredSeries[]> {
  const hinted: StoredSeries[] = [];
  for (const stored of series) {
    hinted.push(withResetHints(stored));
    if (stored.histograms !== undefined && budget.spend(stored.histograms.length * 16)) await budget.yield();
  }
  return hinted;
}

/** One selector's series, checked against the limits and in the order of their labels' arrival. */
export async function select(
  context: Pick<QueryContext, "budget" | "storage">,
  request: SelectRequest,
  what: string,
): Promise<readonly StoredSeries[]> {
  const { budget } = context;
  budget.check();
  let answerBytes = 0;
  const charge = (bytes: number): void => {
    budget.holdBytes(bytes);
    answerBytes += bytes;
  };
  const answer = await context.storage.select({ ...request, charge });
  budget.check();
  budget.checkSeries(answer.length, what);
  // From here on, the series is charged for its samples and its labels.
  budget.releaseBytes(answerBytes);
  budget.holdBytes(answer.length * bytesOfLabels);
  for (const stored of answer) {
    budget.holdSamples(samplesOf(stored));
    if (budget.spend(stored.histograms?.length ?? 1)) await budget.yield();
  }
  return answer;
}

/** Approximate memory of a series' labels. */
const bytesOfLabels = 512;

/** A histogram counts as many samples as its buckets take. */
function samplesOf({ histograms, timestampsMs }: StoredSeries): number {
  if (histograms === undefined) return timestampsMs.length;
  return histograms.reduce((sum, one) => sum + (one === null ? 1 : samplesOfHistogram(one)), 0);
}

/** How a request shares the thread and charges the store's answers; `select` charges its own. */
export function storeAccess(budget: Budget): Pick<SelectRequest, "signal" | "yieldBudget" | "charge"> {
  return { signal: budget.signal, yieldBudget: budget, charge: (bytes) => budget.holdBytes(bytes) };
}

interface Collection {
  readonly context: SelectContext;
  readonly except: ReadonlyMap<Expression, unknown>;
}

/** Visits the tree; `path` has the expressions from the root to the current one. */
function collect(path: readonly Expression[], wanted: Map<VectorSelector, Wanted>, collection: Collection): void {
  const node = path.at(-1)!;
  if (collection.except.has(node)) return;
  // The second argument of info looks like a selector but only selects labels.
  const parent = path.at(-2);
  if (parent?.kind === "call" && parent.function === "info" && parent.arguments[1] === node) return;
  if (node.kind !== "vector-selector") {
    for (const child of childrenOf(node)) collect([...path, child], wanted, collection);
    return;
  }
  const { context } = collection;
  const parents = path.slice(0, -1);
  const range = timesOf(node, parents, context);
  const known = wanted.get(node);
  if (known !== undefined) {
    // A tree built by code may use one node in two places.
    known.fromMs = Math.min(known.fromMs, range.fromMs);
    known.toMs = Math.max(known.toMs, range.toMs);
    return;
  }
  const onlyStatistics = readsOnlyStatistics(parents);
  wanted.set(node, { selector: node, ...range, hints: hintsOf(parents, context), onlyStatistics });
}

/** The earliest and the latest sample that a selector can need. */
function timesOf(
  selector: VectorSelector,
  parents: readonly Expression[],
  context: SelectContext,
): { fromMs: number; toMs: number } {
  let fromMs = context.startMs;
  let toMs = context.endMs;
  for (const parent of parents) {
    if (parent.kind !== "subquery") continue;
    const fixed = fixedTimeMs(parent, context);
    if (fixed !== undefined) fromMs = toMs = fixed;
    const offset = offsetMs(parent, context);
    fromMs -= offset + durationMs(parent.range, context);
    toMs -= offset;
  }
  const fixed = fixedTimeMs(selector, context);
  if (fixed !== undefined) fromMs = toMs = fixed;
  const rangeMs = rangeOf(parents, context);
  if (rangeMs === 0 || selector.boundary !== null) fromMs -= context.lookbackMs;
  if (selector.boundary === "smoothed") toMs += context.lookbackMs;
  const offset = offsetMs(selector, context);
  return { fromMs: fromMs - rangeMs - offset + 1, toMs: toMs - offset };
}

function rangeOf(parents: readonly Expression[], context: SelectContext): number {
  const parent = parents.at(-1);
  return parent?.kind === "matrix-selector" ? durationMs(parent.range, context) : 0;
}

function hintsOf(parents: readonly Expression[], context: SelectContext): SelectHints {
  const subquery = parents.findLast((parent): parent is Subquery => parent.kind === "subquery");
  return {
    stepMs: subquery === undefined ? context.stepMs : subqueryStepMs(subquery, context),
    rangeMs: rangeOf(parents, context),
    function: functionAround(parents),
    grouping: groupingAround(parents),
    ...storeLimits(context.budget),
  };
}

/** The limits in the form that a store gets. */
export function storeLimits(budget: Budget): Pick<SelectHints, "maxSeries" | "maxSamples"> {
  return { maxSeries: budget.limits.maxSeries, maxSamples: budget.limits.maxSamples };
}

export function subqueryStepMs(
  subquery: Subquery,
  context: Pick<QueryContext, "defaultSubqueryStepMs"> & QueryTimes,
): number {
  return subquery.step === null ? context.defaultSubqueryStepMs : durationMs(subquery.step, context);
}

function functionAround(parents: readonly Expression[]): string | null {
  for (const parent of parents.toReversed()) {
    if (parent.kind === "call") return parent.function;
    if (parent.kind === "aggregation") return parent.operator;
    if (parent.kind === "binary") return null;
  }
  return null;
}

function groupingAround(parents: readonly Expression[]): SelectHints["grouping"] {
  const parent = parents.at(-1);
  return parent?.kind === "aggregation" ? { labels: parent.grouping, without: parent.without } : null;
}
