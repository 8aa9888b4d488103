/**
 * Serves an organization's alert rules and alerts in the form of Prometheus.
 * https://prometheus.io/docs/prometheus/latest/querying/api/#rules
 */
import { createHash } from "node:crypto";
import { showValue } from "../../api/validate.ts";
import { matchesAll } from "@sounding/promql/series/matcher";
import type { LabelMatcher } from "@sounding/promql/syntax/ast";
import type { YieldBudget } from "@sounding/promql/regex/yield-budget";
import { invalidParameter, type RequestParameters } from "../request-parameters.ts";
import type { AlertReport, RuleGroupReport, RuleReport } from "./rule-reports.ts";

export interface RuleFilter {
  readonly parameters: RequestParameters;
  /** A rule's labels must match any of them; an empty list selects all rules. */
  readonly selectors: readonly (readonly LabelMatcher[])[];
  readonly yieldBudget: YieldBudget;
}

/** Go's zero time: a rule that was not evaluated yet. */
const never = "0001-01-01T00:00:00Z";

/** @throws AppError invalid_request */
export async function rulesJson(
  reports: readonly RuleGroupReport[],
  { parameters, selectors, yieldBudget }: RuleFilter,
): Promise<unknown> {
  const type = parameters.text("type")?.toLowerCase();
  if (type !== undefined && type !== "alert" && type !== "record") {
    throw invalidParameter("type", `is ${showValue(type)}; expected "alert" or "record"`);
  }
  const excludesAlerts = booleanOf(parameters, "exclude_alerts");
  const page = pageOf(parameters);
  const [names, groups, files] = ["rule_name[]", "rule_group[]", "file[]"].map((name) => parameters.all(name));
  const isSelected = async (rule: RuleReport): Promise<boolean> => {
    if (names!.size > 0 && !names!.has(rule.name)) return false;
    for (const matchers of selectors) {
      if (await matchesAll(matchers, (name) => rule.labels[name] ?? "", yieldBudget)) return true;
    }
    return selectors.length === 0;
  };
  const sorted = reports.toSorted((one, other) => compare(one.file, other.file) || compare(one.name, other.name));
  const tokens = tokensOf(sorted);
  const start = page.token === undefined ? 0 : tokens.indexOf(page.token);
  if (start < 0) {
    throw invalidParameter("group_next_token", `is ${showValue(page.token)}; were rule groups changed?`);
  }
  const found: unknown[] = [];
  for (const [index, group] of sorted.entries()) {
    if (index < start) continue;
    if (groups!.size > 0 && !groups!.has(group.name)) continue;
    if (files!.size > 0 && !files!.has(group.file)) continue;
    // All rules are alert rules.
    const rules: RuleReport[] = [];
    for (const rule of type === "record" ? [] : group.rules) if (await isSelected(rule)) rules.push(rule);
    if (rules.length === 0) continue;
    if (found.length === page.limit) return { groups: found, groupNextToken: tokens[index] };
    found.push(groupJson(group, rules, excludesAlerts));
  }
  return { groups: found };
}

export function alertsJson(reports: readonly RuleGroupReport[]): unknown {
  return { alerts: reports.flatMap(({ rules }) => rules.flatMap(({ alerts }) => alerts.map(alertJson))) };
}

function booleanOf(parameters: RequestParameters, name: string): boolean {
  const text = parameters.text(name);
  if (text === undefined) return false;
  // What Go's strconv.ParseBool reads.
  if (/^(?:1|t|T|TRUE|true|True)$/.test(text)) return true;
  if (/^(?:0|f|F|FALSE|false|False)$/.test(text)) return false;
  throw invalidParameter(name, `is ${showValue(text)}; expected true or false`);
}

function pageOf(parameters: RequestParameters): { readonly limit: number; readonly token: string | undefined } {
  const limit = parameters.text("group_limit");
  const token = parameters.text("group_next_token");
  if (limit === undefined) {
    if (token === undefined) return { limit: Infinity, token };
    throw invalidParameter("group_next_token", "needs group_limit to be present in order to paginate over the groups");
  }
  if (!/^\d{1,9}$/.test(limit) || Number(limit) === 0) {
    throw invalidParameter("group_limit", `is ${showValue(limit)}; expected an integer of at least 1`);
  }
  return { limit: Number(limit), token };
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

/** Two files in different folders may have the same name and a group of the same name; each group has a token of its own. */
function tokensOf(sorted: readonly RuleGroupReport[]): readonly string[] {
  let copy = 0;
  return sorted.map(({ file, name }, index) => {
    const before = sorted[index - 1];
    copy = before?.file === file && before.name === name ? copy + 1 : 0;
    return createHash("sha1")
      .update(copy === 0 ? `${file};${name}` : `${file};${name};${copy}`)
      .digest("hex");
  });
}

function groupJson(group: RuleGroupReport, rules: readonly RuleReport[], excludesAlerts: boolean): unknown {
  const evaluated = group.rules.flatMap(({ lastEvaluationMs }) => lastEvaluationMs ?? []);
  return {
    name: group.name,
    file: group.file,
    rules: rules.map((rule) => ruleJson(rule, excludesAlerts)),
    interval: group.intervalMs / 1000,
    limit: group.limit,
    evaluationTime: group.rules.reduce((sum, { evaluationMs }) => sum + evaluationMs, 0) / 1000,
    lastEvaluation: evaluated.length === 0 ? never : timeJson(Math.max(...evaluated)),
  };
}

function ruleJson(rule: RuleReport, excludesAlerts: boolean): unknown {
  return {
    state: stateOf(rule),
    name: rule.name,
    query: rule.query,
    duration: rule.forMs / 1000,
    keepFiringFor: rule.keepFiringForMs / 1000,
    labels: rule.labels,
    annotations: rule.annotations,
    alerts: excludesAlerts ? null : rule.alerts.map(alertJson),
    health: rule.health,
    ...(rule.lastError === undefined ? {} : { lastError: rule.lastError }),
    evaluationTime: rule.evaluationMs / 1000,
    lastEvaluation: rule.lastEvaluationMs === undefined ? never : timeJson(rule.lastEvaluationMs),
    type: "alerting",
  };
}

function stateOf({ alerts }: RuleReport): string {
  if (alerts.some(({ state }) => state === "firing")) return "firing";
  return alerts.length > 0 ? "pending" : "inactive";
}

function alertJson({ activeAtMs, annotations, keepFiringSinceMs, labels, state, value }: AlertReport): unknown {
  return {
    labels,
    annotations,
    state,
    activeAt: timeJson(activeAtMs),
    ...(keepFiringSinceMs === undefined ? {} : { keepFiringSince: timeJson(keepFiringSinceMs) }),
    value: scientific(value),
  };
}

function timeJson(ms: number): string {
  return new Date(ms).toISOString();
}

/** As Go's strconv.FormatFloat(value, 'e', -1, 64). */
function scientific(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "+Inf" : "-Inf";
  const [digits, exponent] = (Object.is(value, -0) ? "-0e+0" : value.toExponential()).split("e") as [string, string];
  return `${digits}e${exponent[0]}${exponent.slice(1).padStart(2, "0")}`;
}
