/**
 * Advances the alerts of a rule by one evaluation, as Prometheus does: inactive → pending → firing → resolved.
 * https://github.com/prometheus/prometheus/blob/main/rules/alerting.go
 */
import { AppError } from "../errors.ts";
import type { YieldBudget } from "../languages/regex/yield-budget.ts";
import type { AlertRule, TemplatedText } from "../alert-rules/compile-group.ts";
import { fingerprintOf, type Alert, type RuleState } from "./rule-state.ts";

export interface AlertSample {
  readonly labels: ReadonlyMap<string, string>;
  readonly value: number;
}

export interface Evaluation {
  readonly rule: AlertRule;
  readonly samples: readonly AlertSample[];
  /** The time of the evaluation. */
  readonly atMs: number;
  /** How many samples the rule may have. */
  readonly limit: number;
  readonly budget: YieldBudget;
}

/** How many alerts changed to each state. */
export interface Changes {
  pending: number;
  firing: number;
  resolved: number;
  /** Pending alerts that ended. */
  dropped: number;
}

/** How long a resolved alert is kept, so that every receiver hears of it. */
export const resolvedRetentionMs = 900_000;

/** @throws AppError if the result cannot become alerts; then the state stays as it is */
export async function advanceRule(state: RuleState, evaluation: Evaluation): Promise<Changes> {
  const { atMs, limit, rule, samples } = evaluation;
  if (samples.length > limit) {
    throw new AppError("invalid_request", `exceeded limit of ${limit} with ${samples.length} alerts`);
  }
  const found = await describe(evaluation);
  const changes: Changes = { pending: 0, firing: 0, resolved: 0, dropped: 0 };
  for (const [fingerprint, alert] of found) {
    const known = state.alerts.get(fingerprint);
    if (known !== undefined && known.state !== "inactive") {
      known.value = alert.value;
      known.annotations = alert.annotations;
    } else {
      state.alerts.set(fingerprint, alert);
      changes.pending += 1;
    }
  }
  for (const [fingerprint, alert] of state.alerts) {
    if (found.has(fingerprint)) alert.keepFiringSinceMs = undefined;
    else if (!keepsFiring(alert, rule, atMs)) {
      if (alert.state === "pending") changes.dropped += 1;
      if (alert.state === "firing") changes.resolved += 1;
      endAlert(state, fingerprint, atMs);
      continue;
    }
    if (alert.state === "pending" && atMs - alert.activeAtMs >= rule.forMs) {
      alert.state = "firing";
      alert.firedAtMs = atMs;
      changes.firing += 1;
    }
  }
  return changes;
}

/** Whether an alert that was not found still fires because of `keep_firing_for`. */
function keepsFiring(alert: Alert, { keepFiringForMs }: AlertRule, atMs: number): boolean {
  if (alert.state !== "firing" || keepFiringForMs === 0) return false;
  alert.keepFiringSinceMs ??= atMs;
  return atMs - alert.keepFiringSinceMs < keepFiringForMs;
}

/** Resolves a firing alert, and forgets a pending one and one that was resolved long ago. */
export function endAlert({ alerts }: RuleState, fingerprint: string, atMs: number): void {
  const alert = alerts.get(fingerprint)!;
  const isOver = alert.resolvedAtMs !== undefined && atMs - alert.resolvedAtMs > resolvedRetentionMs;
  if (alert.state === "pending" || isOver) alerts.delete(fingerprint);
  else if (alert.state === "firing") {
    alert.state = "inactive";
    alert.resolvedAtMs = atMs;
    alert.keepFiringSinceMs = undefined;
  }
}

/** The alerts of the samples, by fingerprint, with expanded labels and annotations. */
async function describe({ atMs, budget, rule, samples }: Evaluation): Promise<Map<string, Alert>> {
  const found = new Map<string, Alert>();
  for (const { labels, value } of samples) {
    const subject = { labels, value, unixMs: atMs };
    const expand = async (texts: readonly TemplatedText[]): Promise<[string, string][]> => {
      const expanded: [string, string][] = [];
      for (const { name, template } of texts) {
        const text = template.expand(subject, budget);
        expanded.push([name, typeof text === "string" ? text : await text]);
      }
      return expanded;
    };
    const all = new Map(labels);
    all.delete("__name__");
    // A label without a value is no label.
    for (const [name, text] of await expand(rule.labels)) if (!all.set(name, text).get(name)) all.delete(name);
    all.set("alertname", rule.name);
    const sorted = Object.fromEntries([...all].sort(([left], [right]) => (left < right ? -1 : 1)));
    const fingerprint = fingerprintOf(sorted);
    if (found.has(fingerprint)) {
      throw new AppError(
        "invalid_request",
        "vector contains metrics with the same labelset after applying alert labels",
      );
    }
    found.set(fingerprint, {
      labels: sorted,
      annotations: Object.fromEntries(await expand(rule.annotations)),
      state: "pending",
      value,
      activeAtMs: atMs,
      firedAtMs: undefined,
      resolvedAtMs: undefined,
      keepFiringSinceMs: undefined,
      sent: {},
    });
    if (budget.spend(workOfAlert)) await budget.yield();
  }
  return found;
}

/** The cost of an alert, in the unit of the budget: its labels are copied, sorted and hashed. */
const workOfAlert = 1024;
