/**
 * info: adds the data labels of info series, such as target_info, to series with the same job and instance.
 * https://prometheus.io/docs/prometheus/latest/querying/functions/#info
 */
import { entriesOf, getLabel, keepLabels, printLabels, setLabels, type Labels } from "../series/labels.ts";
import { compileMatcher, matchesAll } from "../series/matcher.ts";
import type { StoredSeries } from "../storage.ts";
import type { Call, Expression, LabelMatcher } from "../syntax/ast.ts";
import { childrenOf } from "../syntax/ast.ts";
import { workOfLabels, type Budget } from "./budget.ts";
import { readColumns, readTime, type SampleReader, type SelectorTime } from "./evaluate-selector.ts";
import { absent, copyStep, isEmpty, type Column, type Grid } from "./grid.ts";
import { ColumnCollector, sameLabelsError } from "./merge-columns.ts";
import { evaluationError, fixedTimeMs, offsetMs, type QueryContext } from "./query-context.ts";
import { select, storeAccess, storeLimits } from "./select-series.ts";

const identifyingLabels: ReadonlySet<string> = new Set(["instance", "job"]);
const nameLabel = "__name__";
const targetInfo: LabelMatcher = { name: nameLabel, operator: "=", value: "target_info" };
const anyInfo: LabelMatcher = { name: nameLabel, operator: "=~", value: ".+_info" };

interface InfoCall {
  readonly call: Call;
  readonly columns: readonly Column[];
  readonly grid: Grid;
  readonly context: QueryContext;
}

/** The series with the labels added. */
export async function evaluateInfo(info: InfoCall): Promise<readonly Column[]> {
  const [expression, labelSelector] = info.call.arguments;
  const matchers = labelSelector?.kind === "vector-selector" ? labelSelector.matchers : [];
  const dataMatchers = matchers.filter(({ name }) => name !== nameLabel);
  const nameMatchers = effectiveNameMatchers(matchers.filter(({ name }) => name === nameLabel));
  const { budget } = info.context;
  const enriched: Column[] = [];
  const untouched: Column[] = [];
  for (const column of info.columns) {
    const isInfo = await matchesAll(nameMatchers, (name) => getLabel(column.labels, name), budget);
    (isInfo ? untouched : enriched).push(column);
    if (budget.spend(workOfLabels)) await budget.yield();
  }
  const time = timeOf(expression!, info.context);
  const stored = await fetchInfoSeries(enriched, [...nameMatchers, ...dataMatchers], { ...info, time });
  const infoColumns = await readColumns(stored, { grid: info.grid, context: info.context, time, read: readFloatTime });
  return enrich(enriched, { infoColumns, dataMatchers, count: info.grid.count, untouched, budget });
}

/** The newer of two info series is the one with the later sample; their values mean nothing, but are floats. */
const readFloatTime: SampleReader = (stored, index, at) => {
  if ((stored.histograms?.[index] ?? null) !== null) throw evaluationError("info sample should be float");
  readTime(stored, index, at);
};

/** What selects info series: the requested names, but not every series if names were only excluded. */
function effectiveNameMatchers(asked: readonly LabelMatcher[]): readonly LabelMatcher[] {
  if (asked.length === 0) return [targetInfo];
  return asked.some(({ operator }) => operator === "=" || operator === "=~") ? asked : [anyInfo, ...asked];
}

/** The `@` and offset of the first selector, with those of the subqueries around it. */
function timeOf(expression: Expression, context: QueryContext): SelectorTime {
  const path = pathToSelector(expression) ?? [];
  let fixedMs: number | undefined;
  let offset = 0;
  for (const node of path.toReversed()) {
    if (node.kind !== "vector-selector" && node.kind !== "subquery") continue;
    if (fixedMs !== undefined) break;
    offset += offsetMs(node, context);
    fixedMs = fixedTimeMs(node, context);
  }
  return { fixedMs, offsetMs: offset };
}

function pathToSelector(expression: Expression): readonly Expression[] | undefined {
  if (expression.kind === "vector-selector") return [expression];
  for (const child of childrenOf(expression)) {
    const path = pathToSelector(child);
    if (path !== undefined) return [expression, ...path];
  }
  return undefined;
}

/** Jobs or instances that one request to the store may name. */
const maximumNamedTargets = 1000;

async function fetchInfoSeries(
  columns: readonly Column[],
  matchers: readonly LabelMatcher[],
  { context, grid, time }: InfoCall & { time: SelectorTime },
): Promise<readonly StoredSeries[]> {
  const { budget } = context;
  const targets = new Map(Array.from(identifyingLabels, (name) => [name, new Set<string>()]));
  for (const { labels } of columns) {
    for (const [name, values] of targets) values.add(getLabel(labels, name));
    if (budget.spend(workOfLabels)) await budget.yield();
  }
  const identifying: LabelMatcher[] = [];
  for (const [name, values] of targets) {
    values.delete("");
    // Too many to name: all are read, and those that belong to no series are dropped below.
    if (values.size === 0 || values.size > maximumNamedTargets) continue;
    identifying.push({ name, operator: "=~", value: [...values].map(escapeExpression).join("|") });
  }
  if ([...targets.values()].every(({ size }) => size === 0)) return [];
  const first = time.fixedMs ?? grid.startMs;
  const last = time.fixedMs ?? grid.startMs + (grid.count - 1) * grid.stepMs;
  const request = {
    matchers: [...identifying, ...matchers],
    fromMs: first - context.lookbackMs + 1 - time.offsetMs,
    toMs: last - time.offsetMs,
    hints: { stepMs: grid.stepMs, rangeMs: 0, function: "info", grouping: null, ...storeLimits(context.budget) },
    ...storeAccess(context.budget),
  };
  return select(context, request, "info()");
}

function escapeExpression(text: string): string {
  return text.replaceAll(/[\\.+*?()|[\]{}^$]/g, String.raw`\$&`);
}

interface Enrichment {
  readonly infoColumns: readonly Column[];
  readonly dataMatchers: readonly LabelMatcher[];
  readonly count: number;
  readonly untouched: readonly Column[];
  readonly budget: Budget;
}

async function enrich(columns: readonly Column[], enrichment: Enrichment): Promise<readonly Column[]> {
  const { budget, count, dataMatchers, infoColumns, untouched } = enrichment;
  const byTarget = new Map<string, Column[]>();
  for (const column of infoColumns) {
    const { key } = keepLabels(column.labels, identifyingLabels);
    const known = byTarget.get(key);
    if (known === undefined) byTarget.set(key, [column]);
    else known.push(column);
    if (budget.spend(workOfLabels)) await budget.yield();
  }
  const mayLackInfo = dataMatchers.every((matcher) => {
    const compiled = compileMatcher(matcher);
    return "matches" in compiled && compiled.matchesEmpty;
  });
  const results = new ColumnCollector(count, budget);
  for (const column of columns) {
    const candidates = byTarget.get(keepLabels(column.labels, identifyingLabels).key) ?? [];
    for (let step = 0; step < count; step++) {
      if (column.kinds[step] === absent) continue;
      const found = newestByName(candidates, step);
      if (found.length === 0 && !mayLackInfo) continue;
      if (budget.spend(workOfLabels * (found.length + 1) + candidates.length)) await budget.yield();
      const labels = addDataLabels(column.labels, found, dataMatchers);
      const result = results.column(labels, column.dropName);
      if (result.kinds[step] !== absent) throw sameLabelsError();
      copyStep(column, result, step);
    }
  }
  return [...results.columns.filter((column) => !isEmpty(column)), ...untouched];
}

/** The series with the newest sample of each info metric; two equally new ones conflict. */
function newestByName(candidates: readonly Column[], step: number): readonly Column[] {
  const newest = new Map<string, Column>();
  for (const candidate of candidates) {
    if (candidate.kinds[step] === absent) continue;
    const name = getLabel(candidate.labels, nameLabel);
    const known = newest.get(name);
    if (known !== undefined && known.values[step] === candidate.values[step]) {
      const describe = (column: Column): string => `${printLabels(column.labels)} @ ${column.values[step]}`;
      throw evaluationError(
        `found duplicate series for info metric: existing ${describe(known)}, new ${describe(candidate)}`,
      );
    }
    if (known === undefined || known.values[step]! < candidate.values[step]!) newest.set(name, candidate);
  }
  return [...newest.values()];
}

function addDataLabels(labels: Labels, found: readonly Column[], dataMatchers: readonly LabelMatcher[]): Labels {
  const wanted = new Set(dataMatchers.map(({ name }) => name));
  const added = new Map<string, string>();
  for (const column of found) {
    for (const [name, value] of entriesOf(column.labels)) {
      if (name === nameLabel || (wanted.size > 0 && !wanted.has(name))) continue;
      const known = added.get(name);
      if (known !== undefined && known !== value) throw evaluationError(`conflicting label: ${name}`);
      if (getLabel(labels, name) === "") added.set(name, value);
    }
  }
  return added.size === 0 ? labels : setLabels(labels, added);
}
