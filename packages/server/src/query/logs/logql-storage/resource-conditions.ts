/** Conditions on the resources of log entries, which have the stream labels that no column of `logs` has. */
import { compileMatcher } from "@sounding/promql/series/matcher";
import type { LabelMatcher } from "@sounding/promql/syntax/ast";
import { attributeKinds } from "../../../store/attribute-kinds.ts";
import { pushedStreamSchema } from "../../../store/schema.ts";
import { bind, callerOrganization, join, sql, type Statement } from "../../../store/statement.ts";
import { allOf } from "../../conditions.ts";
import type { LogsQuery, Running } from "./logs-query.ts";
import { labelOfAttribute, resourceLabels } from "./stream-labels.ts";
import { valueCondition } from "./value-condition.ts";

/** More resources are selected by a subquery, which every statement runs again. */
const mostListed = 10_000;

const isPushed = sql`schema_url = ${bind.text(pushedStreamSchema)}`;

/** Values of these kinds are stored as other texts than their labels have. */
const unlikeText = [attributeKinds.double, attributeKinds.bytes, attributeKinds.array, attributeKinds.map].join("");
const hasOtherKinds = sql`match(attribute_types, ${bind.text(`[${unlikeText}]`)})`;

/** Rows of `logs` whose resource may satisfy all matchers. A row without a resource has none of the labels. */
export async function resourceCondition(
  matchers: readonly LabelMatcher[],
  query: LogsQuery,
  { signal }: Running,
): Promise<Statement | "all" | "none"> {
  const conditions = matchers.map(labelCondition).filter((condition) => condition !== undefined);
  if (conditions.length === 0) return "all";
  const matchAll = sql`(${allOf(conditions)})`;
  const isAbsenceMatched = matchers.every(matchesAbsence);
  const listed = isAbsenceMatched ? sql`NOT ${matchAll}` : matchAll;
  const ids = sql`SELECT DISTINCT resource_id FROM resources WHERE organization = ${callerOrganization} AND ${listed}`;
  const rows = await query.reader.query<{ resource_id: string }>(sql`${ids} LIMIT ${bind.uint32(mostListed + 1)}`, {
    signal,
    duplicates: "kept",
  });
  if (rows.length === 0) return isAbsenceMatched ? "all" : "none";
  const set = rows.length > mostListed ? sql`(${ids})` : bindIds(rows);
  return isAbsenceMatched ? sql`resource_id GLOBAL NOT IN ${set}` : sql`resource_id GLOBAL IN ${set}`;
}

function matchesAbsence(matcher: LabelMatcher): boolean {
  const compiled = compileMatcher(matcher);
  return "matches" in compiled && compiled.matchesEmpty;
}

function bindIds(rows: readonly { readonly resource_id: string }[]): Statement {
  return sql`${bind.uint64s(rows.map(({ resource_id }) => resource_id))}`;
}

/** Undefined: every resource may match. */
function labelCondition(matcher: LabelMatcher): Statement | undefined {
  const attribute = resourceLabels.get(matcher.name);
  const names = [sql`${isPushed}, attributes[${bind.text(matcher.name)}]`];
  if (attribute !== undefined) names.push(sql`attributes[${bind.text(attribute)}]`);
  else names.push(sql`''`);
  const condition = valueCondition(sql`if(${join(names, sql`, `)})`, matcher);
  return condition === undefined ? undefined : sql`(${condition} OR ${hasOtherKinds})`;
}

/** More distinct attributes are not listed. */
const mostAttributes = 10_000;

/** The labels that the resources of the organization have, whether or not log entries refer to them; undefined if they are many. */
export async function labelsOfResources(
  { reader }: LogsQuery,
  { signal }: Pick<Running, "signal">,
): Promise<ReadonlySet<string> | undefined> {
  const rows = await reader.query<{ readonly attribute: string; readonly pushed: number }>(
    sql`SELECT DISTINCT arrayJoin(mapKeys(attributes)) AS attribute, ${isPushed} AS pushed FROM resources
      WHERE organization = ${callerOrganization} LIMIT ${bind.uint32(mostAttributes + 1)}`,
    { signal, duplicates: "kept" },
  );
  if (rows.length > mostAttributes) return undefined;
  const labels = rows.map(({ attribute, pushed }) => labelOfAttribute(attribute, pushed === 1));
  return new Set(labels.filter((label) => label !== undefined));
}

/** Whether streams from Loki's push API have levels of their own, which no column has. */
export async function isPushedLevelUsed({ reader }: LogsQuery, { signal }: Running): Promise<boolean> {
  const rows = await reader.query(
    sql`SELECT 1 FROM resources WHERE organization = ${callerOrganization} AND ${isPushed} AND attributes['level'] != '' LIMIT 1`,
    { signal, duplicates: "kept" },
  );
  return rows.length > 0;
}
