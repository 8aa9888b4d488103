/**
 * Advances the alerts of a rule by one evaluation, as Prometheus does: inactive → pending → firing → resolved.
 * https://github.com/prometheus/prometheus/blob/main/rules/alerting.go
 */
import { AppError } from "../errors.ts";
import type { YieldBudget } from "@sounding/promql/regex/yield-budget";
import type { AlertRule, TemplatedText } from "../alert-rules/compile-group.ts";
import { maximumAlerts, maximumRuleCharacters, maximumTextCharacters } from "../alert-rules/limits.ts";
import { charactersOf, fingerprintOf, type Alert, type RuleState } from "./rule-state.ts";

export interface AlertSample {
  readonly labels: ReadonlyMap<string, string>;
  readonly value: number;
}

export interface Evaluation {
  readonly rule: AlertRule;
  readonly samples: readonly AlertSample[];
  /** The time of the evaluation. */
  readonly atMs: number;
  /** How many alerts the rule may have. */
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
  checkCount(samples.length, limit);
  const found = await describe(evaluation);
  checkKept(state, found, evaluation);
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
  forgetResolved(state);
  return changes;
}

function checkCount(count: number, limit: number): void {
  if (count > limit) throw new AppError("invalid_request", `exceeded limit of ${limit} with ${count} alerts`);
}

/**
 * Alerts that only fire because of `keep_firing_for` count as the others do.
 * @throws AppError; then `keep_firing_for` still runs, so that the rule recovers
 */
function checkKept({ alerts }: RuleState, found: ReadonlyMap<string, Alert>, { atMs, limit, rule }: Evaluation): void {
  const active = [...found.values()];
  for (const [fingerprint, alert] of alerts) {
    if (found.has(fingerprint)) alert.keepFiringSinceMs = undefined;
    else if (keepsFiring(alert, rule, atMs)) active.push(alert);
  }
  if (active.length > found.size) checkCount(active.length, limit);
  checkCharacters(active.reduce((sum, alert) => sum + charactersOf(alert), 0));
}

function checkCharacters(characters: number): void {
  if (characters <= maximumRuleCharacters) return;
  throw new AppError(
    "invalid_request",
    `exceeded limit of ${maximumRuleCharacters} characters in the labels and annotations of all alerts of the rule`,
  );
}

/** Bounds the resolved alerts as the others; receivers have the oldest ones or hold them in their queues. */
function forgetResolved({ alerts }: RuleState): void {
  const resolved = [...alerts]
    .filter(([, { state }]) => state === "inactive")
    .sort(([, one], [, other]) => other.resolvedAtMs! - one.resolvedAtMs!);
  let characters = 0;
  for (const [index, [fingerprint, alert]] of resolved.entries()) {
    characters += charactersOf(alert);
    if (index >= maximumAlerts || characters > maximumRuleCharacters) alerts.delete(fingerprint);
  }
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
  let characters = 0;
  for (const { labels, value } of samples) {
    const subject = { labels, value, unixMs: atMs };
    const expand = async (texts: readonly TemplatedText[]): Promise<[string, string][]> => {
      const expanded: [string, string][] = [];
      for (const { name, template } of texts) {
        const expanding = template.expand(subject, budget);
        const text = typeof expanding === "string" ? expanding : await expanding;
        if (text.length > maximumTextCharacters) {
          const message = `exceeded limit of ${maximumTextCharacters} characters with ${text.length} in ${JSON.stringify(name)}`;
          throw new AppError("invalid_request", message);
        }
        expanded.push([name, text]);
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
    const alert: Alert = {
      labels: sorted,
      annotations: Object.fromEntries(await expand(rule.annotations)),
      state: "pending",
      value,
      activeAtMs: atMs,
      firedAtMs: undefined,
      resolvedAtMs: undefined,
      keepFiringSinceMs: undefined,
      sent: {},
    };
    characters += charactersOf(alert);
    checkCharacters(characters);
    found.set(fingerprint, alert);
    if (budget.spend(workOfAlert)) await budget.yield();
  }
  return found;
}

/** The cost of an alert, in the unit of the budget: its labels are copied, sorted and hashed. */
const workOfAlert = 1024;
