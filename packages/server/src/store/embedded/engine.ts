/**
 * Runs ClickHouse as a library (https://github.com/chdb-io/chdb-node) and follows its constraints. A session runs one
 * statement at a time and keeps the settings of each, so every statement gets its own session. Rows are inserted from files
 * only: an inline insert is cut off at a blank line, and the rest would run as SQL. docs/adr/0023-embedded-engine.md lists
 * all constraints.
 */
import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import type { ChdbResult } from "chdb";
import { onAbort } from "../../abort.ts";
import { StoreError } from "../store-error.ts";
import { engineConfiguration } from "./engine-config.ts";
import { mostEmbeddedReads } from "./protocol.ts";

type Library = typeof import("chdb");
type Session = InstanceType<Library["Session"]>;

export interface EngineOptions {
  readonly library: Library;
  readonly dataDirectory: string;
  /** Written at each start. */
  readonly configurationFile: string;
  readonly memoryBytes: number;
}

export interface StatementRequest {
  readonly text: string;
  /** Settings and parameters (`param_…`) that hold for this statement. */
  readonly settings: ReadonlyMap<string, string>;
  /** The format of returned rows. */
  readonly format: string;
  /** Tenants' queries wait for each other. The server's own statements (inserts, health checks) never wait for them. */
  readonly lane: "read" | "own";
}

export interface Engine {
  readonly version: string;
  /** Runs one statement. If the signal fires, the statement is stopped, and the promise settles once it has. @throws StoreError */
  run(request: StatementRequest, signal: AbortSignal): Promise<Uint8Array>;
  /** Stops every statement, waits for their ends, and releases the data directory. */
  close(): Promise<void>;
}

/** libuv threads serve statements and files; together these must be fewer than UV_THREADPOOL_SIZE. */
const maximumStatements = { read: mostEmbeddedReads, own: 6 };

const settingName = /^[a-z][a-z0-9_]{0,100}$/;

function quote(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}

function prelude(settings: ReadonlyMap<string, string>): string {
  if (settings.size === 0) return "";
  const assignments = [...settings].map(([name, value]) => {
    if (!settingName.test(name)) throw new StoreError("The name of a setting is invalid.", { code: 115 });
    return `${name} = ${quote(value)}`;
  });
  return `SET ${assignments.join(", ")}; `;
}

/** Limits concurrency; the others wait in the order of arrival. */
function createTurns(limit: number): <Result>(work: () => Promise<Result>) => Promise<Result> {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (running >= limit) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}

/** The library's errors have no code of their own; their text begins with ClickHouse's number if there is one. */
function toStoreError(error: unknown): StoreError {
  const text = error instanceof Error ? error.message : String(error);
  const code = /Code: (?<code>\d+)/.exec(text)?.groups?.["code"];
  return code === undefined
    ? new StoreError("The embedded store failed.", { code: 1001 })
    : new StoreError(text, { code: Number(code) });
}

/** @throws StoreError if the data directory cannot be opened, for example because another process uses it */
export async function openEngine(options: EngineOptions): Promise<Engine> {
  const { library, dataDirectory, configurationFile, memoryBytes } = options;
  await writeFile(configurationFile, engineConfiguration(), { mode: 0o600 });
  const connectionArgs = [
    `--config-file=${configurationFile}`,
    `--max_server_memory_usage=${memoryBytes}`,
    "--mark_cache_size=67108864",
    "--primary_index_cache_size=67108864",
    "--uncompressed_cache_size=0",
    "--background_pool_size=2",
    // Merges have a lower priority than inserts and queries.
    "--os_threads_nice_value_merge_mutate=5",
  ];
  let first: Session;
  try {
    // Stays open, because the engine lives as long as one session does.
    first = new library.Session(dataDirectory, { connectionArgs });
  } catch (error) {
    throw toStoreError(error);
  }
  const takeTurn = { read: createTurns(maximumStatements.read), own: createTurns(maximumStatements.own) };
  const end = new AbortController();

  const execute = async (session: Session, text: string, format: string): Promise<ChdbResult> => {
    try {
      return await session.queryAsync(text, { format });
    } catch (error) {
      throw toStoreError(error);
    }
  };
  const kill = async (mark: string): Promise<void> => {
    const session = new library.Session(dataDirectory);
    try {
      // SYNC would never return.
      await execute(session, `KILL QUERY WHERE Settings['log_comment'] = ${quote(mark)} ASYNC`, "Null");
    } finally {
      session.close();
    }
  };

  const run = ({ text, settings, format, lane }: StatementRequest, signal: AbortSignal): Promise<Uint8Array> =>
    takeTurn[lane](async () => {
      const stop = AbortSignal.any([signal, end.signal]);
      if (stop.aborted) throw new StoreError("The statement was cancelled.", { code: 394 });
      const mark = randomUUID();
      const session = new library.Session(dataDirectory);
      // A statement that has just started may not be visible yet, so once is not enough.
      let killing: NodeJS.Timeout | undefined;
      using _listener = onAbort(stop, () => {
        killing ??= setInterval(() => void kill(mark).catch(() => {}), 100);
        void kill(mark).catch(() => {});
      });
      try {
        const marked = new Map([...settings, ["log_comment", mark]]);
        return (await execute(session, prelude(marked) + text, format)).bytes();
      } finally {
        clearInterval(killing);
        session.close();
      }
    });

  const version = new TextDecoder().decode((await execute(first, "SELECT version()", "TSVRaw")).bytes()).trim();
  return {
    version,
    run,
    async close() {
      end.abort();
      await library.drainPending();
      first.close();
      await library.drainPending();
    },
  };
}
