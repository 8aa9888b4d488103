/** Four server processes with one limit under a flood of calls: together they admit what one server would. */
import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { startValkey } from "../../packages/server/test/limits/valkey-server.ts";
import { startScriptedUpstream } from "../../packages/server/test/support/scripted-upstream.ts";
import { startPostgres } from "../../packages/server/test/tenancy/postgres-server.ts";
import { answerEcho, chat, configurationFor, createKey, operatorKey, serveMember, type FleetServer } from "./fleet.ts";
import { needs } from "../support/needs.ts";

const limit = 240;
const tolerance = 5;
const minuteMs = 60_000;
/** How long the calls that are admitted are counted. */
const countedMs = 10_000;
const servers = ["a", "b", "c", "d"];
const connectionsPerServer = 2;
/** Each connection still asks several times as often as the whole limit allows; faster refusals would only take the processor. */
const pauseAfterRefusalMs = 100;

interface Flood {
  /** The number of calls that were admitted and that each server refused, so far. */
  readonly admitted: () => number;
  readonly refused: () => readonly number[];
  /** Resolves when all calls have ended. */
  end(): Promise<void>;
}

function startFlood(members: readonly FleetServer[], key: string): Flood {
  const ending = new AbortController();
  const refusals = members.map(() => 0);
  let admissions = 0;
  const loop = async ({ url }: FleetServer, index: number): Promise<void> => {
    while (!ending.signal.aborted) {
      const response = await chat(url, key);
      const text = await response.text();
      if (response.status === 200) {
        admissions += 1;
        continue;
      }
      assert.equal(response.status, 429, text);
      assert.ok(Number(response.headers.get("retry-after")) > 0);
      refusals[index]! += 1;
      await new Promise((resolve) => setTimeout(resolve, pauseAfterRefusalMs));
    }
  };
  const loops = members.flatMap((member, index) =>
    Array.from({ length: connectionsPerServer }, () => loop(member, index)),
  );
  const all = Promise.all(loops);
  all.catch(() => {});
  return {
    admitted: () => admissions,
    refused: () => [...refusals],
    async end() {
      ending.abort();
      await all;
    },
  };
}

/** Resolves when each server has refused calls again. */
async function untilRefused(flood: Flood, times: number): Promise<void> {
  const before = flood.refused();
  const deadlineMs = performance.now() + 2 * minuteMs;
  while (flood.refused().some((count, index) => count < before[index]! + times)) {
    assert.ok(performance.now() < deadlineMs, `refused by server: ${flood.refused().join(", ")}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

describe("four servers under a flood", { concurrency: true, skip: needs("valkey", "postgresql") }, () => {
  for (const backend of ["valkey", "postgres"] as const) {
    test(`admit what one limit of ${limit} requests per minute allows, within ${tolerance}, counted by ${backend}`, async (context) => {
      await using parts = new AsyncDisposableStack();
      const postgres = parts.use(await startPostgres());
      const upstream = parts.use(await startScriptedUpstream(answerEcho));
      const directory = await mkdtemp(join(tmpdir(), "sounding-flood-"));
      parts.defer(() => rm(directory, { recursive: true, force: true }));
      const valkey = backend === "valkey" ? parts.use(await startValkey()) : undefined;
      const config = join(directory, "sounding.yaml");
      await writeFile(
        config,
        `${configurationFor(upstream.url)}telemetry: { enabled: false }
limits:
  key: { requests_per_minute: ${limit} }
  shared: { backend: ${backend}, timeout_ms: 30000${valkey === undefined ? "" : `, valkey_url: "${valkey.url}"`} }
`,
      );
      const env = {
        SOUNDING_CONFIG: config,
        DATABASE_URL: await postgres.newDatabase(),
        SOUNDING_ADMIN_KEY: operatorKey,
      };
      const members: FleetServer[] = [];
      // One after the other: only the first creates the tables.
      for (const name of servers) members.push(parts.use(await serveMember({ data: join(directory, name), env })));
      const key = await createKey(members[0]!);

      const startMs = performance.now();
      const flood = startFlood(members, key);
      // The bucket is full at first. From its end on, calls are admitted as it refills.
      while (flood.admitted() < limit) await new Promise((resolve) => setTimeout(resolve, 10));
      await untilRefused(flood, 10);
      const emptyMs = performance.now();
      const admittedBefore = flood.admitted();
      await new Promise((resolve) => setTimeout(resolve, countedMs));
      await untilRefused(flood, 1);
      const lengthMs = performance.now() - emptyMs;
      const admitted = flood.admitted() - admittedBefore;
      const refused = flood.refused();
      const total = flood.admitted();
      const totalMs = performance.now() - startMs;
      await flood.end();

      const allowed = (limit * lengthMs) / minuteMs;
      const numbers = `${admitted} admitted in ${(lengthMs / 1000).toFixed(2)} s, where ${allowed.toFixed(1)} are allowed; ${refused.join(", ")} refused by server`;
      context.diagnostic(`${backend}: ${numbers}`);
      assert.ok(Math.abs(admitted - allowed) <= tolerance, numbers);
      // With the burst of the full bucket at the start.
      assert.ok(total <= limit + (limit * totalMs) / minuteMs + tolerance, `${total} admitted in ${totalMs} ms`);
    });
  }
});
