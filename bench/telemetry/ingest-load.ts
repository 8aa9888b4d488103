/** Senders of telemetry: as fast as they are answered, or at a pace. */
import { setTimeout as sleep } from "node:timers/promises";
import type { RequestSource } from "./requests.ts";
import type { MeasuredServer } from "./server.ts";

export interface LoadOptions {
  /** Requests under way at a time. */
  readonly connections: number;
  /** Whether to go on; asked before each request with the records that were acknowledged so far. */
  readonly goesOn: (acknowledged: number) => boolean;
  /** Records a second; absent: as fast as possible. */
  readonly perSecond?: number;
}

export interface LoadResult {
  readonly records: number;
  readonly perSecond: number;
  /** Of server and store for each record. */
  readonly cpuMicros: number;
  readonly refusals: number;
  readonly latenciesMs: readonly number[];
}

export async function ingest(
  server: MeasuredServer,
  source: RequestSource,
  { connections, goesOn, perSecond }: LoadOptions,
): Promise<LoadResult> {
  const latenciesMs: number[] = [];
  let refusals = 0;
  let records = 0;
  const cpuBefore = server.cpuMicros();
  const startMs = performance.now();
  let sent = 0;
  const sender = async (): Promise<void> => {
    while (goesOn(records)) {
      if (perSecond !== undefined) {
        // The n-th request has its time; who is late sends at once.
        const dueMs = startMs + (1000 * sent * source.recordCount) / perSecond;
        sent += 1;
        await sleep(Math.max(0, dueMs - performance.now()));
      }
      // The source reuses its buffer; undici may still be writing it when the next request is made.
      const body = Buffer.from(source.next());
      const { status, latencyMs, retryAfterMs } = await server.post({
        path: `/v1/${source.signal}`,
        contentType: "application/x-protobuf",
        body,
      });
      if (status === 200) {
        latenciesMs.push(latencyMs);
        records += source.recordCount;
      } else {
        refusals += 1;
        await sleep(retryAfterMs);
      }
    }
  };
  await Promise.all(Array.from({ length: connections }, sender));
  const seconds = (performance.now() - startMs) / 1000;
  return {
    records,
    perSecond: records / seconds,
    cpuMicros: (server.cpuMicros() - cpuBefore) / Math.max(1, records),
    refusals,
    latenciesMs,
  };
}
