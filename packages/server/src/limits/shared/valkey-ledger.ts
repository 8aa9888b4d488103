/** The ledger in Valkey or Redis: one script per exchange, at the time of the server. */
import { Redis } from "iovalkey";
import type { LedgerAnswer, LedgerRequest, LimitLedger } from "./limit-ledger.ts";
import { exchangeScript } from "./valkey-script.ts";

interface ValkeyLedgerOptions {
  /** `redis://`, `rediss://` or `valkey://`, `valkeys://`; user, password and number of the database may be in it. */
  readonly url: string;
  /** How long to wait for an answer. */
  readonly timeoutMs: number;
}

/** All keys have one hash tag, so that a node of a cluster has them all and a script may use them together. */
const keyPrefix = "sounding:{limits}:";
const longestReconnectMs = 2_000;

type ScriptedRedis = Redis & { exchange(keyCount: number, ...keysAndRequest: string[]): Promise<string[]> };

export class ValkeyLedger implements LimitLedger {
  readonly #client: ScriptedRedis;

  constructor({ url, timeoutMs }: ValkeyLedgerOptions) {
    this.#client = new Redis(url.replace(/^valkey(s?):/, "redis$1:"), {
      keyPrefix,
      connectionName: "sounding",
      connectTimeout: 3_000,
      commandTimeout: timeoutMs,
      // A request is never sent twice, and never long after it was made.
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      retryStrategy: (times) => Math.min(longestReconnectMs, times * 50),
      // After a failover, the connection may be to a server that is a replica now.
      reconnectOnError: ({ message }) => message.startsWith("READONLY"),
      scripts: { exchange: { lua: exchangeScript } },
    }) as ScriptedRedis;
    // Every exchange reports the problem; without a listener it would be printed.
    this.#client.on("error", () => {});
  }

  async exchange(request: LedgerRequest): Promise<LedgerAnswer> {
    const keys = [...request.buckets, ...request.slots].map(({ id }) => id);
    let numbers: number[];
    try {
      const answer = await this.#client.exchange(keys.length, ...keys, JSON.stringify(request));
      numbers = answer.map(Number);
    } catch (error) {
      // A connection whose packets are dropped would fail every exchange until the kernel notices.
      if (this.#client.status === "ready" && isTimeout(error)) this.#client.disconnect(true);
      throw error;
    }
    const pairs = keys.map((_, index) => [numbers[2 * index]!, numbers[2 * index + 1]!] as const);
    const bucketCount = request.buckets.length;
    return {
      buckets: pairs.slice(0, bucketCount).map(([granted, taken]) => ({ granted, taken })),
      slots: pairs.slice(bucketCount).map(([held, others]) => ({ held, others })),
    };
  }

  async close(): Promise<void> {
    this.#client.disconnect();
  }
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.message === "Command timed out";
}
