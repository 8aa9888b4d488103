/** Metrics of the main thread: event loop delay, and CPU time by operation. */
import { Histogram, type Registry } from "prom-client";
import { Counter } from "./counter.ts";

interface RequestTimes {
  readonly operation: string;
  readonly mainThreadMs: number;
  readonly storeMs: number;
}

export interface MainThreadMetrics {
  observeRequestTimes(times: RequestTimes): void;
  observeLoopDelay(delayMs: number): void;
}

export function createMainThreadMetrics(registers: Registry[]): MainThreadMetrics {
  const loopDelay = new Histogram({
    name: "sounding_event_loop_delay_seconds",
    help: "Delay of a timer that is due every 100 ms (event loop lag).",
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.5, 1, 2.5, 5, 10],
    registers,
  });
  const cpuSeconds = new Counter({
    name: "sounding_request_cpu_seconds_total",
    help: "CPU time of the main thread by operation: parsing, validating, serving, evaluating and serializing. Work on the chunks of a stream is not attributed.",
    labelNames: ["operation"],
    registers,
  });
  const storeSeconds = new Counter({
    name: "sounding_request_store_seconds_total",
    help: "Time that queries waited for the telemetry store to run their statements, by operation.",
    labelNames: ["operation"],
    registers,
  });
  return {
    observeRequestTimes({ operation, mainThreadMs, storeMs }) {
      cpuSeconds.add(mainThreadMs / 1000, operation);
      if (storeMs > 0) storeSeconds.add(storeMs / 1000, operation);
    },
    observeLoopDelay(delayMs) {
      loopDelay.observe(delayMs / 1000);
    },
  };
}
