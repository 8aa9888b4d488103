/**
 * A lock over all servers that share a Postgres: a session-level advisory lock on a connection of its own.
 * https://www.postgresql.org/docs/current/explicit-locking.html#ADVISORY-LOCKS
 */
import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { Client } from "pg";

export interface HeldLock {
  /** Fires when the lock is lost, because its connection is. */
  readonly lost: AbortSignal;
  release(): Promise<void>;
}

/** An arbitrary number that distinguishes our locks from those of other software; the name gives the second number. */
const lockClass = 740_358_612;
const connectTimeoutMs = 3000;
/** How often the holder checks its connection, and how long it waits for the response. */
const heartbeatMs = 2000;
const responseTimeoutMs = 3000;
/**
 * Postgres releases the lock when it notices that the connection is gone. Of a host that vanished, it hears nothing, and would
 * wait for hours by default.
 */
const serverSettings = "set tcp_keepalives_idle = 5; set tcp_keepalives_interval = 5; set tcp_keepalives_count = 3";

/** Undefined while another connection holds the lock. Throws the database's own error. */
export async function tryAdvisoryLock(connectionString: string, name: string): Promise<HeldLock | undefined> {
  const client = new Client({
    connectionString,
    application_name: `sounding ${name}`,
    connectionTimeoutMillis: connectTimeoutMs,
    query_timeout: responseTimeoutMs,
    keepAlive: true,
  });
  const lost = new AbortController();
  client.on("error", () => lost.abort());
  client.on("end", () => lost.abort());
  try {
    await client.connect();
    await client.query(serverSettings);
    const { rows } = await client.query("select pg_try_advisory_lock($1, $2) as held", [lockClass, numberOf(name)]);
    if (rows[0]?.held !== true) {
      await client.end();
      return undefined;
    }
  } catch (error) {
    void client.end().catch(() => {});
    throw error;
  }
  const ended = new AbortController();
  void watch(client, lost, ended.signal);
  return {
    lost: lost.signal,
    async release() {
      ended.abort();
      await client.end().catch(() => {});
    },
  };
}

/** Fires `lost` when the connection does not respond. */
async function watch(client: Client, lost: AbortController, ended: AbortSignal): Promise<void> {
  const stopped = AbortSignal.any([lost.signal, ended]);
  try {
    while (!stopped.aborted) {
      await delay(heartbeatMs, undefined, { signal: stopped, ref: false });
      await client.query("select 1");
    }
  } catch {
    if (stopped.aborted) return;
    lost.abort();
    void client.end().catch(() => {});
  }
}

function numberOf(name: string): number {
  return createHash("sha256").update(name).digest().readInt32BE(0);
}
