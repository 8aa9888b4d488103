/** The other organization: a steady trickle of cheap requests during the attack. Its latency is what counts. */
import { setTimeout as sleep } from "node:timers/promises";
import { presentMs } from "./random.ts";

const pauseMs = 40;

export interface NeighborReport {
  readonly requests: number;
  /** Answers other than 200, by status; `failed` for broken connections. */
  readonly refused: ReadonlyMap<string, number>;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly slowestMs: number;
}

interface Call {
  readonly path: string;
  readonly body?: string;
}

const time = `${presentMs}000000`;
const calls: readonly Call[] = [
  { path: "/v1/models" },
  { path: "/prometheus/api/v1/query?query=up" },
  {
    path: "/v1/logs",
    body: `{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"timeUnixNano":"${time}","body":{"stringValue":"hello"}}]}]}]}`,
  },
  { path: "/observability/logs", body: '{"limit":1,"time_window":"5m"}' },
  { path: "/v1/audio/voices?model=flite" },
];

/** Calls one server until it is stopped. */
export class Neighbor {
  readonly #times: number[] = [];
  readonly #refused = new Map<string, number>();

  async call(server: { readonly port: number; readonly neighborKey: string }, signal: AbortSignal): Promise<void> {
    for (let turn = 0; !signal.aborted; turn += 1) {
      const { path, body } = calls[turn % calls.length]!;
      const startMs = performance.now();
      let outcome = "failed";
      try {
        const response = await fetch(`http://127.0.0.1:${server.port}${path}`, {
          ...(body === undefined ? {} : { method: "POST", body }),
          headers: { authorization: `Bearer ${server.neighborKey}`, "content-type": "application/json" },
          signal,
        });
        await response.arrayBuffer();
        outcome = String(response.status);
      } catch {
        if (signal.aborted) return;
      }
      this.#times.push(performance.now() - startMs);
      if (outcome !== "200") this.#refused.set(outcome, (this.#refused.get(outcome) ?? 0) + 1);
      await sleep(pauseMs);
    }
  }

  report(): NeighborReport {
    const times = this.#times.toSorted((a, b) => a - b);
    const quantile = (share: number): number =>
      times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
    return {
      requests: times.length,
      refused: this.#refused,
      p50Ms: quantile(0.5),
      p99Ms: quantile(0.99),
      slowestMs: times.at(-1) ?? 0,
    };
  }
}
