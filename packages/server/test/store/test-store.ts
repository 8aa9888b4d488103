/** A store with an embedded engine in its own folder, and rows for it. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Value } from "typebox/value";
import { telemetry, type TelemetrySettings } from "../../src/config/telemetry.ts";
import type { TelemetryCipher } from "../../src/encryption/telemetry-cipher.ts";
import { silentLogger, type Logger } from "../../src/logger.ts";
import { BlockWriter } from "../../src/store/block.ts";
import { openStore } from "../../src/store/open-store.ts";
import { spans } from "../../src/store/schema.ts";
import { callerOrganization, sql } from "../../src/store/statement.ts";
import type { Batch, Store } from "../../src/store/store.ts";
import { Scope } from "../../src/tenant.ts";
import { testKey } from "../support/test-key.ts";
import { copyInitializedStore } from "./initialized-store.ts";

/** All defaults, but with long timeouts: the machine that runs the tests may be slow. */
export const testSettings: TelemetrySettings = {
  ...(Value.Default(telemetry, {}) as TelemetrySettings),
  write_timeout_ms: 30_000,
  query_timeout_ms: 30_000,
};

export interface TestStoreOptions {
  readonly settings?: Partial<TelemetrySettings>;
  /** A folder that remains when the store is closed; if absent, a temporary one that is removed with it. */
  readonly directory?: string;
  readonly logger?: Logger;
  readonly readyWithinMs?: number;
  readonly cipher?: TelemetryCipher;
}

export interface TestStore extends AsyncDisposable {
  readonly store: Store;
  readonly directory: string;
}

export async function temporaryDirectory(): Promise<string> {
  return mkdtemp(join(tmpdir(), "sounding-store-"));
}

/** What each store's log says that keeps its journal from being inserted. */
const problems = new WeakMap<Store, () => string | undefined>();
/** A store that is merely slow or restarting fails less often. */
const triesUntilProblem = 8;

function watchLog(logger: Logger): { readonly logger: Logger; problem(): string | undefined } {
  let problem: string | undefined;
  const note = (fields: Record<string, unknown>, message: string): void => {
    const { error, tries } = fields;
    const isLasting = /telemetry is off|refuses rows|segment of the journal could not be/.test(message);
    if (!isLasting && !(typeof tries === "number" && tries >= triesUntilProblem)) return;
    problem ??= `${message}: ${error instanceof Error ? error.message : JSON.stringify(fields)}`;
  };
  return {
    problem: () => problem,
    logger: {
      ...logger,
      warn(fields, message) {
        note(fields, message);
        logger.warn(fields, message);
      },
      error(fields, message) {
        note(fields, message);
        logger.error(fields, message);
      },
    },
  };
}

/** Resolves when the store is ready. @throws Error with the state's reason if it is not ready in time */
export async function openTestStore(options: TestStoreOptions = {}): Promise<TestStore> {
  const directory = options.directory ?? (await temporaryDirectory());
  if (options.directory === undefined) await copyInitializedStore(directory);
  const { logger, problem } = watchLog(options.logger ?? silentLogger);
  const store = await openStore({
    settings: { ...testSettings, ...options.settings },
    dataDirectory: directory,
    logger,
    cipher: options.cipher,
    runJob(_name, run) {
      const closing = new AbortController();
      const running = run(closing.signal);
      return {
        async close() {
          closing.abort();
          await running;
        },
      };
    },
  });
  problems.set(store, problem);
  const opened: TestStore = {
    store,
    directory,
    async [Symbol.asyncDispose]() {
      await store.close();
      if (options.directory === undefined) await rm(directory, { recursive: true, force: true });
    },
  };
  try {
    await store.whenReady(AbortSignal.timeout(options.readyWithinMs ?? 60_000));
    return opened;
  } catch (error) {
    const { reason } = store.state();
    await opened[Symbol.asyncDispose]();
    throw new Error(`The store is not ready: ${reason ?? "no reason"}`, { cause: error });
  }
}

export function scopeOf(organizationId: string): Scope {
  return Scope.fromKey(testKey({ organizationId }));
}

export interface TestSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly startUnixNano?: bigint;
  readonly days?: number;
  readonly name?: string;
}

/** Within every test's retention. */
export const recentUnixNano = BigInt(Date.now()) * 1_000_000n;

export function spanBatch(organizationId: string, rows: readonly TestSpan[]): Batch {
  const block = new BlockWriter(spans);
  for (const { traceId, spanId, startUnixNano = recentUnixNano, days = 30, name = "work" } of rows) {
    const { columns } = block;
    columns.organization.text(organizationId);
    columns.project.text("default");
    columns.trace_id.text(traceId);
    columns.span_id.text(spanId);
    columns.name.text(name);
    columns.start_time.bigint(startUnixNano);
    columns.end_time.bigint(startUnixNano + 1_000_000n);
    columns.days.unsigned(days);
    block.endRow();
  }
  const dayCount = block.dayCount();
  return { organizationId, table: "spans", block: block.finish(), rowCount: rows.length, dayCount };
}

/** Spans of one batch whose IDs begin with the batch's name. */
export function numberedSpans(name: string, count: number): TestSpan[] {
  return Array.from({ length: count }, (_, index) => ({ traceId: name, spanId: `${name}-${index}` }));
}

/** Resolves when the store has every acknowledged row. @throws Error with what the log says if the store will not take them */
export async function untilStored(store: Store): Promise<void> {
  while (store.journalBytes() > 0) {
    const problem = problems.get(store)?.();
    if (problem !== undefined) throw new Error(`The store takes no rows. ${problem}`);
    await sleep(10);
  }
}

/** How often each of an organization's spans is in the answers, by its ID. */
export async function countSpans(store: Store, organizationId: string): Promise<Map<string, number>> {
  await untilStored(store);
  const rows = await store
    .open(scopeOf(organizationId))
    .query<{ span_id: string; times: string }>(
      sql`SELECT span_id, count() AS times FROM spans WHERE organization = ${callerOrganization} GROUP BY span_id`,
      { maximumRows: 1_000_000 },
    );
  return new Map(rows.map(({ span_id, times }) => [span_id, Number(times)]));
}
