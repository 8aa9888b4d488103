/** Checks a group of alert rules: parses and type-checks its expressions and templates, and reports every problem with its place. */
import { createHash } from "node:crypto";
import type { AlertGroupDefinition, AlertRuleDefinition } from "../api/alert-rules.ts";
import { QueryError } from "@sounding/promql/query-error";
import { isLogQuery, type LogqlExpression } from "@sounding/logql/syntax/ast";
import { parseLogqlQuery } from "@sounding/logql/syntax/parse-query";
import { printLogql } from "@sounding/logql/syntax/print";
import { Budget, defaultLimits } from "@sounding/promql/evaluate/budget";
import type { Expression } from "@sounding/promql/syntax/ast";
import { documentedType, typeOf } from "@sounding/promql/syntax/check";
import { parseDuration } from "@sounding/promql/syntax/duration";
import { parseQuery } from "@sounding/promql/syntax/parse-query";
import { printExpression } from "@sounding/promql/syntax/print";
import type { YieldBudget } from "@sounding/promql/regex/yield-budget";
import { compileAlertTemplate, type AlertTemplate } from "@sounding/logql/alert-templates/alert-template";
import { maximumAlerts } from "./limits.ts";

export type RuleQuery =
  | { readonly language: "promql"; readonly expression: Expression }
  | { readonly language: "logql"; readonly expression: LogqlExpression };

export interface TemplatedText {
  readonly name: string;
  readonly text: string;
  readonly template: AlertTemplate;
}

export interface AlertRule {
  /** Identifies the rule in its group, also after changes of its expression and annotations. */
  readonly key: string;
  readonly name: string;
  readonly query: RuleQuery;
  /** The expression as it is shown. */
  readonly queryText: string;
  readonly forMs: number;
  readonly keepFiringForMs: number;
  readonly labels: readonly TemplatedText[];
  readonly annotations: readonly TemplatedText[];
}

export interface RuleGroup {
  readonly name: string;
  readonly project: string | undefined;
  readonly intervalMs: number;
  readonly queryOffsetMs: number;
  /** 0: not set. */
  readonly limit: number;
  readonly rules: readonly AlertRule[];
}

export interface RuleProblem {
  /** The place in the group, such as `["rules", 0, "expr"]`. */
  readonly path: readonly (string | number)[];
  /** Names the group and the rule. */
  readonly message: string;
}

const defaultIntervalMs = 60_000;
const shortestIntervalMs = 1000;
const longestIntervalMs = 86_400_000;

/** @returns the group, or its problems */
export async function compileGroup(
  definition: AlertGroupDefinition,
  budget: YieldBudget = new Budget(defaultLimits, new AbortController().signal),
): Promise<RuleGroup | { readonly problems: readonly RuleProblem[] }> {
  const problems: RuleProblem[] = [];
  const where = `group ${JSON.stringify(definition.name)}`;
  const problem = (path: RuleProblem["path"], message: string): void => {
    problems.push({ path, message: `${where}: ${message}` });
  };
  const durationOf = (text: string | undefined, report: (message: string) => void): number | undefined => {
    if (text === undefined) return undefined;
    const parsed = parseDuration(text);
    if ("ms" in parsed) return parsed.ms;
    report(`${JSON.stringify(text)}: ${parsed.problem}; expected a duration such as 5m, at most 292y.`);
    return undefined;
  };
  const intervalMs =
    durationOf(definition.interval, (message) => problem(["interval"], `interval: ${message}`)) ?? defaultIntervalMs;
  if (intervalMs < shortestIntervalMs || intervalMs > longestIntervalMs) {
    problem(["interval"], `interval is ${JSON.stringify(definition.interval)}; it must be from 1s to 1d.`);
  }
  const queryOffsetMs =
    durationOf(definition.query_offset, (message) => problem(["query_offset"], `query_offset: ${message}`)) ?? 0;
  const rules: AlertRule[] = [];
  const keys = new Set<string>();
  for (const [index, rule] of definition.rules.entries()) {
    const inRule = (member: string, message: string): void =>
      problem(["rules", index, ...member.split(".")], `rule ${JSON.stringify(rule.alert)}: ${member}: ${message}`);
    const query = await parseExpression(rule.expr, definition.language ?? "promql", budget);
    if ("problem" in query) inRule("expr", query.problem);
    const texts = (member: "labels" | "annotations", given: Readonly<Record<string, string>>): TemplatedText[] =>
      Object.entries(given).flatMap(([name, text]) => {
        const template = compileAlertTemplate(text);
        if ("expand" in template) return [{ name, text, template }];
        inRule(`${member}.${name}`, `invalid template: ${template.problem}.`);
        return [];
      });
    const labels = { ...definition.labels, ...rule.labels };
    for (const name of ["__name__", "alertname"]) {
      if (Object.hasOwn(labels, name)) inRule("labels", `${JSON.stringify(name)} cannot be set.`);
    }
    const key = keyOf(rule, labels, keys);
    const compiled = { labels: texts("labels", labels), annotations: texts("annotations", rule.annotations ?? {}) };
    const forMs = durationOf(rule.for, (message) => inRule("for", message)) ?? 0;
    const keepFiringForMs = durationOf(rule.keep_firing_for, (message) => inRule("keep_firing_for", message)) ?? 0;
    if ("problem" in query) continue;
    rules.push({
      key,
      name: rule.alert,
      query,
      queryText: query.language === "promql" ? printExpression(query.expression) : printLogql(query.expression),
      forMs,
      keepFiringForMs,
      ...compiled,
    });
  }
  if (problems.length > 0) return { problems };
  return {
    name: definition.name,
    project: definition.project,
    intervalMs,
    queryOffsetMs,
    limit: definition.limit ?? 0,
    rules,
  };
}

/** How many alerts a rule of the group may have. */
export function limitOf(group: RuleGroup): number {
  return group.limit === 0 ? maximumAlerts : Math.min(group.limit, maximumAlerts);
}

/** Of several rules with the same name and labels, each has a key of its own. A hash, since databases bound the size of keys. */
function keyOf(rule: AlertRuleDefinition, labels: Readonly<Record<string, string>>, keys: Set<string>): string {
  const sorted = Object.entries(labels).sort(([left], [right]) => (left < right ? -1 : 1));
  const hashOf = (copy: readonly number[]): string =>
    createHash("sha256")
      .update(JSON.stringify([rule.alert, ...sorted, ...copy]))
      .digest("hex");
  let key = hashOf([]);
  for (let copy = 2; keys.has(key); copy += 1) key = hashOf([copy]);
  keys.add(key);
  return key;
}

async function parseExpression(
  text: string,
  language: RuleQuery["language"],
  budget: YieldBudget,
): Promise<RuleQuery | { readonly problem: string }> {
  try {
    if (language === "logql") {
      const expression = await parseLogqlQuery(text, budget);
      if (!isLogQuery(expression)) return { language, expression };
      return { problem: "1:1: this is a log query; expected a metric query such as count_over_time({…}[5m]) > 0." };
    }
    const expression = await parseQuery(text, budget);
    const type = typeOf(expression);
    if (type === "vector" || type === "scalar") return { language, expression };
    return { problem: `1:1: the type is ${documentedType(type)}; expected an instant vector or a scalar.` };
  } catch (error) {
    if (error instanceof QueryError && error.code === "invalid_request") return { problem: error.message };
    throw error;
  }
}
