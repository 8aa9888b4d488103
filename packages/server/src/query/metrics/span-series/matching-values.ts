/**
 * Finds the values that regular expressions match which the store refuses, reads differently or takes seconds for: with the
 * engine, among the distinct values of their label. A statement of the store cannot be stopped while one matches.
 */
import { AppError } from "../../../errors.ts";
import { inputLimit } from "../../../input-limits.ts";
import { matchesValue } from "@sounding/promql/series/matcher";
import type { SelectRequest } from "@sounding/promql/storage";
import type { LabelMatcher } from "@sounding/promql/syntax/ast";
import { bind, sql } from "../../../store/statement.ts";
import type { TenantReader } from "../../../store/store.ts";
import { isDecidedByStore } from "./span-matchers.ts";
import { matchedLabels, selectSpans, type MatchedLabel, type SpanSelection } from "./span-selection.ts";

const mostValues = inputLimit({
  area: "PromQL",
  bounds: "Values of a label of spans, for a regular expression that the store does not match itself",
  value: 20_000,
  error: "invalid_request",
});
/** They are part of the statement. */
const mostMatchingCharacters = inputLimit({
  area: "PromQL",
  bounds: "Values that such a regular expression matches, together",
  value: 262_144,
  unit: "characters",
  error: "invalid_request",
});

interface Reading extends Pick<SelectRequest, "signal" | "yieldBudget" | "charge"> {
  readonly reader: TenantReader;
}

/**
 * The selection with the values of matchers that the store does not decide.
 * @throws AppError `invalid_request` for too many values, or as the store does
 */
export async function withMatchingValues<Selection extends SpanSelection>(
  selection: Selection,
  reading: Reading,
): Promise<Selection> {
  const undecided = (matchedLabels(selection) ?? []).filter(({ matcher }) => !isDecidedByStore(matcher));
  if (undecided.length === 0) return selection;
  const found = new Map<LabelMatcher, readonly string[]>(undecided.map(({ matcher }) => [matcher, []]));
  const others = { ...selection, matchers: selection.matchers.filter((matcher) => !found.has(matcher)) };
  for (const each of undecided) found.set(each.matcher, await matchingValues(each, others, reading));
  return {
    ...selection,
    matchers: selection.matchers.map((matcher) =>
      found.has(matcher) ? { ...matcher, matchingValues: found.get(matcher) } : matcher,
    ),
  };
}

async function matchingValues(
  { label, matcher }: MatchedLabel,
  selection: SpanSelection,
  { charge, reader, signal, yieldBudget }: Reading,
): Promise<readonly string[]> {
  const selected = selectSpans({ ...selection, labels: [label], keepsDuplicates: true });
  if (selected === null) return [];
  const rows = await reader.query<{ label_values: readonly [string] }>(
    sql`SELECT DISTINCT ${selected.labelList} AS label_values FROM ${selected.rows} LIMIT ${bind.uint32(mostValues + 1)}`,
    { signal, memory: { add: charge }, duplicates: "kept", maximumRows: mostValues + 1 },
  );
  if (rows.length > mostValues) throw tooMany(matcher, `the label has more than ${mostValues} values`);
  const positive: LabelMatcher = { ...matcher, operator: "=~" };
  const matching: string[] = [];
  let characters = 0;
  for (const { label_values: values } of rows) {
    if (yieldBudget.spend(1)) await yieldBudget.yield();
    if (!(await matchesValue(positive, values[0], yieldBudget))) continue;
    matching.push(values[0]);
    characters += values[0].length;
    if (characters > mostMatchingCharacters) {
      throw tooMany(matcher, `the values that match have more than ${mostMatchingCharacters} characters`);
    }
  }
  return matching;
}

function tooMany({ name }: LabelMatcher, problem: string): AppError {
  return new AppError(
    "invalid_request",
    `The regular expression of \`${name}\` is too large for the store, and ${problem}. Write a shorter expression, or select less.`,
    { param: "query" },
  );
}
