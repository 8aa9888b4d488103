/** Restores the states of rules after a restart, or when this server takes over from another one. */
import type { Logger } from "../logger.ts";
import { CooperativeYield, longStep } from "../scheduling/cooperative-yield.ts";
import type { StoredAlertState } from "../tenancy/alert-states.ts";
import { planKey } from "./alert-plan.ts";
import { readRuleState, type RuleState } from "./rule-state.ts";

/** A pause of the evaluation that `for` does not notice. */
const graceMs = 600_000;
/** A longer pause ends pending alerts, as `--rules.alert.for-outage-tolerance` of Prometheus. */
const outageToleranceMs = 3_600_000;

/** States by group and organization (`planKey`), and by rule. */
export type StoredStates = ReadonlyMap<string, Map<string, RuleState>>;

export async function readStates(rows: readonly StoredAlertState[], logger: Logger): Promise<StoredStates> {
  const states = new Map<string, Map<string, RuleState>>();
  const yielder = new CooperativeYield();
  for (const row of rows) {
    if (yielder.isDue(longStep)) await yielder.yield();
    const key = planKey(row.organizationId, row.ruleGroup);
    const ofGroup = states.get(key) ?? new Map<string, RuleState>();
    states.set(key, ofGroup);
    try {
      ofGroup.set(row.rule, readRuleState(row.state));
    } catch (error) {
      logger.warn({ error, organization_id: row.organizationId }, "the state of an alert rule cannot be read");
    }
  }
  return states;
}

/**
 * Continues the times of alerts: `for` counts a short pause of the evaluation, excludes a longer one, and starts again after one
 * that is longer than the tolerance. Firing alerts stay as they are until the next evaluation.
 */
export function continueAfterPause(state: RuleState, nowMs: number, intervalMs: number): void {
  // The interval would have passed without a pause as well.
  const pauseMs = nowMs - (state.lastEvaluationMs ?? nowMs) - intervalMs;
  for (const [fingerprint, alert] of state.alerts) {
    if (alert.state === "pending" && pauseMs > outageToleranceMs) {
      state.alerts.delete(fingerprint);
      continue;
    }
    if (alert.state === "pending" && pauseMs > graceMs) alert.activeAtMs += pauseMs;
    // The clock may have been set back meanwhile.
    alert.activeAtMs = Math.min(alert.activeAtMs, nowMs);
  }
}
