/** Metrics of the exchanges with the backend of shared limits. */
import { Gauge, type Registry } from "prom-client";
import { Counter } from "./counter.ts";
import { Histogram } from "./histogram.ts";

export interface SharedLimitMetrics {
  observeExchange(outcome: "ok" | "failed", durationMs: number): void;
  /** @param read whether the backend can be reached */
  watchReachable(read: () => boolean): void;
}

export function createSharedLimitMetrics(registers: Registry[]): SharedLimitMetrics {
  const exchanges = new Counter({
    name: "sounding_shared_limit_exchanges_total",
    help: "Exchanges with the backend of shared limits by outcome.",
    labelNames: ["outcome"],
    registers,
  });
  const seconds = new Histogram({
    name: "sounding_shared_limit_exchange_duration_seconds",
    help: "Duration of an exchange with the backend of shared limits.",
    labelNames: ["outcome"],
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1],
    registers,
  });
  return {
    observeExchange(outcome, durationMs) {
      exchanges.add(1, outcome);
      seconds.observe(durationMs / 1000, outcome);
    },
    watchReachable(read) {
      const gauge: Gauge = new Gauge({
        name: "sounding_shared_limits_reachable",
        help: "Whether the backend of shared limits can be reached: 1 or 0. Absent if limits are not shared.",
        registers,
        aggregator: "min",
        collect: () => gauge.set(read() ? 1 : 0),
      });
    },
  };
}
