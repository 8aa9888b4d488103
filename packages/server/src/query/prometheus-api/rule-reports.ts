/** What the alerts report to Prometheus' HTTP API about an organization's rules. */

export interface AlertReport {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly state: "pending" | "firing";
  /** UNIX milliseconds. */
  readonly activeAtMs: number;
  readonly keepFiringSinceMs: number | undefined;
  readonly value: number;
}

export interface RuleReport {
  readonly name: string;
  readonly query: string;
  readonly forMs: number;
  readonly keepFiringForMs: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly health: "unknown" | "ok" | "err";
  readonly lastError: string | undefined;
  readonly evaluationMs: number;
  /** UNIX milliseconds; undefined before the first evaluation. */
  readonly lastEvaluationMs: number | undefined;
  readonly alerts: readonly AlertReport[];
}

export interface RuleGroupReport {
  readonly name: string;
  readonly file: string;
  readonly intervalMs: number;
  readonly limit: number;
  readonly rules: readonly RuleReport[];
}
