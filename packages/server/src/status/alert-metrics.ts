/** Metrics of alert rules and their notifications. */
import { Gauge, Histogram, type Registry } from "prom-client";
import { Counter } from "./counter.ts";

/** The state of the alerts of this server. */
interface AlertCounts {
  readonly isEvaluating: boolean;
  readonly pending: number;
  readonly firing: number;
  readonly failingRules: number;
  readonly queued: Readonly<Record<string, number>>;
}

export interface AlertMetrics {
  countEvaluation(language: string, outcome: string, durationMs: number): void;
  countSkippedGroup(): void;
  countNotifications(receiver: string, outcome: string, alerts: number): void;
  watchAlerts(read: () => AlertCounts): void;
}

export function createAlertMetrics(registers: Registry[]): AlertMetrics {
  const evaluations = new Counter({
    name: "sounding_alert_evaluations_total",
    help: "Evaluations of alert rules by language and outcome.",
    labelNames: ["language", "outcome"],
    registers,
  });
  const seconds = new Histogram({
    name: "sounding_alert_evaluation_duration_seconds",
    help: "Duration of the evaluation of an alert rule.",
    labelNames: ["language"],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers,
  });
  const skipped = new Counter({
    name: "sounding_alert_skipped_groups_total",
    help: "Evaluations of groups that were skipped, because the group was still being evaluated.",
    labelNames: ["reason"],
    registers,
  });
  const notifications = new Counter({
    name: "sounding_alert_notifications_total",
    help: "Alerts that were sent to a receiver, that it refused (failed), or that could not be delivered in time (dropped).",
    labelNames: ["receiver", "outcome"],
    registers,
  });
  return {
    countEvaluation(language, outcome, durationMs) {
      evaluations.add(1, language, outcome);
      seconds.observe({ language }, durationMs / 1000);
    },
    countSkippedGroup: () => skipped.add(1, "running"),
    countNotifications: (receiver, outcome, alerts) => notifications.add(alerts, receiver, outcome),
    watchAlerts(read) {
      // One of a server's processes evaluates: it has the values, and the others have 0.
      const gauge = (name: string, help: string, value: (counts: AlertCounts) => number): void => {
        const each: Gauge = new Gauge({
          name,
          help,
          registers,
          aggregator: "max",
          collect: () => each.set(value(read())),
        });
      };
      gauge(
        "sounding_alert_evaluating",
        "Whether this server evaluates the alert rules: one of the servers that share a database does.",
        ({ isEvaluating }) => Number(isEvaluating),
      );
      gauge(
        "sounding_alert_failing_rules",
        "Alert rules whose last evaluation failed.",
        (counts) => counts.failingRules,
      );
      const alerts: Gauge<"state"> = new Gauge({
        name: "sounding_alerts",
        help: "Alerts of all organizations by state, on the server that evaluates the rules.",
        labelNames: ["state"],
        registers,
        collect() {
          const { firing, pending } = read();
          alerts.set({ state: "pending" }, pending);
          alerts.set({ state: "firing" }, firing);
        },
      });
      const queued: Gauge<"receiver"> = new Gauge({
        name: "sounding_alert_notification_queue",
        help: "Alerts that wait to be sent, by receiver.",
        labelNames: ["receiver"],
        registers,
        collect() {
          queued.reset();
          for (const [receiver, count] of Object.entries(read().queued)) queued.set({ receiver }, count);
        },
      });
    },
  };
}
