/** The state of one rule for one organization, and its form in the control database. */
import { createHash } from "node:crypto";

/** What a receiver got last about an alert. */
export interface Sent {
  readonly status: "firing" | "resolved";
  readonly atMs: number;
}

export interface Alert {
  /** Sorted by name. */
  readonly labels: Readonly<Record<string, string>>;
  annotations: Readonly<Record<string, string>>;
  /** `inactive`: it fired and is resolved. */
  state: "pending" | "firing" | "inactive";
  value: number;
  activeAtMs: number;
  firedAtMs: number | undefined;
  resolvedAtMs: number | undefined;
  keepFiringSinceMs: number | undefined;
  /** By the name of the receiver. */
  readonly sent: Record<string, Sent>;
}

export interface RuleState {
  health: "unknown" | "ok" | "err";
  lastError: string | undefined;
  /** UNIX milliseconds; undefined before the first evaluation. */
  lastEvaluationMs: number | undefined;
  evaluationMs: number;
  /** By fingerprint. */
  readonly alerts: Map<string, Alert>;
}

export function newRuleState(): RuleState {
  return { health: "unknown", lastError: undefined, lastEvaluationMs: undefined, evaluationMs: 0, alerts: new Map() };
}

/** The size of what an alert holds. */
export function charactersOf({ annotations, labels }: Alert): number {
  let characters = 0;
  for (const texts of [labels, annotations]) {
    for (const [name, text] of Object.entries(texts)) characters += name.length + text.length;
  }
  return characters;
}

/** Identifies an alert of a rule by its labels: 16 hex digits. */
export function fingerprintOf(labels: Readonly<Record<string, string>>): string {
  return createHash("sha256").update(JSON.stringify(labels)).digest("hex").slice(0, 16);
}

export function alertsAreActive({ alerts }: RuleState): boolean {
  for (const { state } of alerts.values()) if (state !== "inactive") return true;
  return false;
}

/** Moves all times of the alerts, after the clock was set. */
export function shiftTimes({ alerts }: RuleState, byMs: number): void {
  const moved = (ms: number | undefined): number | undefined => (ms === undefined ? undefined : ms + byMs);
  for (const alert of alerts.values()) {
    alert.activeAtMs += byMs;
    alert.firedAtMs = moved(alert.firedAtMs);
    alert.resolvedAtMs = moved(alert.resolvedAtMs);
    alert.keepFiringSinceMs = moved(alert.keepFiringSinceMs);
    for (const [name, { atMs, status }] of Object.entries(alert.sent)) alert.sent[name] = { status, atMs: atMs + byMs };
  }
}

/** JSON has no NaN and no infinities, so values are texts. */
export function writeRuleState({ alerts, ...rest }: RuleState): string {
  return JSON.stringify({
    ...rest,
    alerts: [...alerts.values()].map((alert) => ({ ...alert, value: String(alert.value) })),
  });
}

/** @throws SyntaxError if another version wrote something else */
export function readRuleState(text: string): RuleState {
  const { alerts, ...rest } = JSON.parse(text) as Omit<RuleState, "alerts"> & {
    alerts: readonly (Omit<Alert, "value"> & { readonly value: string })[];
  };
  const entries = alerts.map((alert): [string, Alert] => [
    fingerprintOf(alert.labels),
    { ...emptyAlert, ...alert, value: Number(alert.value) },
  ]);
  return { ...newRuleState(), ...rest, alerts: new Map(entries) };
}

/** JSON leaves out what is undefined. */
const emptyAlert = { firedAtMs: undefined, resolvedAtMs: undefined, keepFiringSinceMs: undefined };
