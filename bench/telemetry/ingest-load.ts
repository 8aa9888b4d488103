/** Sends telemetry, either as fast as it is acknowledged or at a fixed rate. */
import { setTimeout as sleep } from "node:timers/promises";
import type { RequestSource } from "./requests.ts";
import type { MeasuredServer } from "./server.ts";

export interface LoadOptions {
  /** Concurrent requests. */
  readonly connections: number;
  /** Whether to continue; called before each request with the number of records acknowledged so far. */
  readonly goesOn: (acknowledged: number) => boolean;
  /** Records per second; absent: as fast as possible. */
  readonly perSecond?: number;
}

export interface LoadResult {
  readonly records: number;
  readonly perSecond: number;
  /** CPU time of server and store per record. */
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
        // The n-th request has a scheduled time; a late sender sends immediately.
        const dueMs = startMs + (1000 * sent * source.recordCount) / perSecond;
        sent += 1;
        await sleep(Math.max(0, dueMs - performance.now()));
      }
      // The source reuses its buffer; undici may still be writing it when the next request is created.
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
  // Acknowledged rows are not free before they are inserted.
  await server.untilStored();
  const seconds = (performance.now() - startMs) / 1000;
  return {
    records,
    perSecond: records / seconds,
    cpuMicros: (server.cpuMicros() - cpuBefore) / Math.max(1, records),
    refusals,
    latenciesMs,
  };
}
