/** Counts what the server did not record, or not as it came. */
import { Counter } from "./counter.ts";
import type { MetricOptions } from "./metric-series.ts";

export interface LossCounters {
  /** Counts calls whose telemetry was dropped. */
  countDroppedTelemetry(calls: number, reason: string): void;
  /** Counts entries of the audit log that could not be written. */
  countLostAuditEntries(entries: number): void;
  /** Counts what was replaced in telemetry. */
  countRedaction(kind: string): void;
}

export function createLossCounters(registers: MetricOptions["registers"]): LossCounters {
  const droppedTelemetry = new Counter({
    name: "sounding_own_telemetry_dropped_total",
    help: "Calls whose spans and logs were dropped, by reason.",
    labelNames: ["reason"],
    registers,
  });
  const lostAuditEntries = new Counter({
    name: "sounding_audit_entries_lost_total",
    help: "Entries of the audit log that were lost because the control database did not accept them.",
    labelNames: [],
    registers,
  });
  const redactions = new Counter({
    name: "sounding_redactions_total",
    help: "Texts that were replaced in telemetry before it was stored, by kind of data or name of a pattern.",
    labelNames: ["kind"],
    registers,
  });
  return {
    countRedaction: (kind) => redactions.add(1, kind),
    countDroppedTelemetry: (calls, reason) => droppedTelemetry.add(calls, reason),
    countLostAuditEntries: (entries) => lostAuditEntries.add(entries),
  };
}
