/** Turns matchers on stream labels into conditions on the rows of `logs`: every row whose stream matches meets them. */
import { matchesValue } from "@sounding/promql/series/matcher";
import type { LabelMatcher } from "@sounding/promql/syntax/ast";
import { bind, join, sql, type Statement } from "../../../store/statement.ts";
import { unknownService } from "../../attribute-condition.ts";
import type { LogsQuery, Running } from "./logs-query.ts";
import { isPushedLevelUsed, resourceCondition } from "./resource-conditions.ts";
import { levelWords, streamLevel } from "./stream-level.ts";
import { ownLabels } from "./stream-labels.ts";
import { valueCondition } from "./value-condition.ts";

export interface StreamConditions {
  readonly conditions: readonly Statement[];
  /** Matchers that rows may fail although they meet the conditions. */
  readonly inexact: readonly LabelMatcher[];
  /** Whether no row can match. */
  readonly isEmpty: boolean;
}

export async function streamConditions(
  matchers: readonly LabelMatcher[],
  query: LogsQuery,
  running: Running,
): Promise<StreamConditions> {
  const conditions: Statement[] = [];
  const inexact: LabelMatcher[] = [];
  const ofResources: LabelMatcher[] = [];
  for (const matcher of matchers) {
    const condition = ownLabels.has(matcher.name) ? await ownCondition(matcher, query, running) : "resource";
    if (condition === "resource") ofResources.push(matcher);
    else if (condition === "inexact") inexact.push(matcher);
    else if (condition === "none") return { conditions: [], inexact: [], isEmpty: true };
    else if (condition !== "all") conditions.push(condition);
  }
  if (ofResources.length === 0) return { conditions, inexact, isEmpty: false };
  const resources = await resourceCondition(ofResources, query, running);
  if (resources === "none") return { conditions: [], inexact: [], isEmpty: true };
  if (resources !== "all") conditions.push(resources);
  return { conditions, inexact: [...inexact, ...ofResources], isEmpty: false };
}

async function ownCondition(
  matcher: LabelMatcher,
  query: LogsQuery,
  running: Running,
): Promise<Statement | "all" | "none" | "inexact"> {
  switch (matcher.name) {
    case "service_name":
      return serviceCondition(matcher, running);
    case "project_name":
      return valueCondition(sql`project`, matcher) ?? "inexact";
    case "level":
      return (await isPushedLevelUsed(query, running)) ? "inexact" : levelCondition(matcher, running);
    default:
      return levelCondition(matcher, running);
  }
}

/** The column has few distinct values, and an expression of it alone is evaluated once for each: ten times as fast as for each row. */
async function serviceCondition(
  matcher: LabelMatcher,
  { yieldBudget }: Running,
): Promise<Statement | "all" | "none" | "inexact"> {
  if (matcher.operator === "=" && matcher.value === "") return "none";
  const isUnknownMatched = await matchesValue(matcher, unknownService, yieldBudget);
  if (isUnknownMatched && matchesAnyText(matcher)) return "all";
  const condition = valueCondition(sql`service`, matcher);
  if (condition === undefined) return "inexact";
  if (isUnknownMatched) return sql`(service = '' OR ${condition})`;
  return matcher.operator === "=" ? condition : sql`(service != '' AND ${condition})`;
}

/** Of the expressions that match every text that is not empty, the usual ones. */
function matchesAnyText({ operator, value }: LabelMatcher): boolean {
  return operator === "=~" ? value === ".+" || value === ".*" : operator === "!=" && value === "";
}

async function levelCondition(matcher: LabelMatcher, { yieldBudget }: Running): Promise<Statement | "all" | "none"> {
  const numbers: number[] = [];
  for (const [number, word] of levelWords.entries()) {
    if (await matchesValue(matcher, word, yieldBudget)) numbers.push(number);
  }
  if (numbers.length === 0) return "none";
  if (numbers.length === levelWords.length) return "all";
  return sql`${streamLevel} IN (${join(
    numbers.map((number) => sql`${bind.uint8(number)}`),
    sql`, `,
  )})`;
}
