/**
 * Attacks a server that runs in a process of its own while another organization goes on calling it, and tells what the attack
 * did to both. Times of the server are CPU times of its main thread, so that other processes of the machine do not count.
 */
import assert from "node:assert/strict";
import { Neighbor, type NeighborReport } from "../fuzz/neighbor.ts";
import { startFuzzedServer, type FuzzedServer } from "../fuzz/fuzzed-server.ts";

export type AttackedServer = FuzzedServer;

/** @param configuration sections that the configuration has as well */
export function startAttackedServer(configuration?: string): Promise<AttackedServer> {
  return startFuzzedServer(maximumHoldMs, configuration);
}

/** No attack may hold the event loop longer. Twenty times what we aim for: code that runs for the first time is slow. */
export const maximumHoldMs = 100;

export interface AttackReport {
  /** CPU milliseconds of the longest hold, without garbage collection. */
  readonly longestHoldMs: number;
  /** How far the process's memory rose above its level before the attack. */
  readonly peakBytes: number;
  /** How much more is in use afterwards, once garbage is collected. */
  readonly keptBytes: number;
  readonly neighbor: NeighborReport;
}

/** Runs the attack until it resolves; fails if the server does not survive it. */
export async function attack(server: AttackedServer, run: () => Promise<void>): Promise<AttackReport> {
  const before = await server.memory();
  const holdsBefore = server.holds.length;
  server.forgetPeak();
  const neighbor = new Neighbor();
  const stop = new AbortController();
  const calling = neighbor.call(server, stop.signal);
  try {
    await Promise.race([run(), server.over]);
  } finally {
    stop.abort();
    await calling;
  }
  assert.equal(server.fate, undefined);
  const after = await server.memory();
  return {
    longestHoldMs: Math.max(0, ...server.holds.slice(holdsBefore).map(({ cpuMs }) => cpuMs)),
    peakBytes: server.peakRss - before.rss,
    keptBytes: after.used - before.used,
    neighbor: neighbor.report(),
  };
}

interface Bounds {
  readonly maximumPeakBytes: number;
  /** For attacks whose requests the kernel delivers all together, so that their number decides. */
  readonly maximumTurnMs?: number;
}

/** The other organization was served throughout, and the server took and kept little. */
export function assertUnharmed(
  { keptBytes, longestHoldMs, neighbor, peakBytes }: AttackReport,
  { maximumPeakBytes, maximumTurnMs = maximumHoldMs }: Bounds,
): void {
  assert.deepEqual(neighbor.refused, new Map());
  assert.ok(longestHoldMs <= maximumTurnMs, `the event loop was held for ${longestHoldMs} ms`);
  assert.ok(peakBytes <= maximumPeakBytes, `memory rose by ${peakBytes} bytes`);
  assert.ok(keptBytes <= maximumKeptBytes, `${keptBytes} bytes more are in use after the attack`);
}

/** Caches and compiled code. */
const maximumKeptBytes = 50_000_000;
