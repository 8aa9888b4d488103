/** Reports a group with its states, for callers. */
import type { RuleGroupReport } from "../query/prometheus-api/rule-reports.ts";
import type { PlannedGroup } from "./alert-plan.ts";
import { newRuleState, type RuleState } from "./rule-state.ts";
import type { TemplatedText } from "../alert-rules/compile-group.ts";

/** @param states by the rules' keys; without one, a rule was not evaluated yet */
export function reportOf({ file, group }: PlannedGroup, states: ReadonlyMap<string, RuleState>): RuleGroupReport {
  return {
    name: group.name,
    file,
    intervalMs: group.intervalMs,
    limit: group.limit,
    rules: group.rules.map((rule) => {
      const { alerts, ...evaluated } = states.get(rule.key) ?? newRuleState();
      return {
        ...evaluated,
        name: rule.name,
        query: rule.queryText,
        forMs: rule.forMs,
        keepFiringForMs: rule.keepFiringForMs,
        labels: textsOf(rule.labels),
        annotations: textsOf(rule.annotations),
        alerts: [...alerts.values()].flatMap(({ state, ...alert }) =>
          state === "inactive" ? [] : { ...alert, state },
        ),
      };
    }),
  };
}

function textsOf(texts: readonly TemplatedText[]): Readonly<Record<string, string>> {
  return Object.fromEntries(texts.map(({ name, text }) => [name, text]));
}
