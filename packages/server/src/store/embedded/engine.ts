/**
 * Runs ClickHouse as a library (https://github.com/chdb-io/chdb-node) and follows its constraints. A session runs one
 * statement at a time and keeps the settings of each. Rows are inserted from files only: an inline insert is cut off at a
 * blank line, and the rest would run as SQL. docs/adr/0022-telemetry-store.md lists all constraints.
 */
import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { onAbort } from "../../abort.ts";
import { StoreError } from "../store-error.ts";
import { engineConfiguration } from "./engine-config.ts";
import { mostEmbeddedReads } from "./protocol.ts";
import { type Library, quote, SessionPool, type SessionStatement, toStoreError } from "./session-pool.ts";
import { StatementStopper } from "./statement-stopper.ts";

export interface EngineOptions {
  readonly library: Library;
  readonly dataDirectory: string;
  /** Written at each start. */
  readonly configurationFile: string;
  readonly memoryBytes: number;
  /** Called when so many statements do not stop that only a new process can answer. */
  stuck(): void;
}

export interface StatementRequest extends SessionStatement {
  /** Settings and parameters (`param_…`) that hold for this statement. */
  readonly settings: ReadonlyMap<string, string>;
  /** The format of returned rows. */
  readonly format: string;
  /** The server's own statements never wait for those on an organization's rows, and checks of its health and memory wait for neither. */
  readonly lane: "read" | "own" | "check";
}

export interface Engine {
  readonly version: string;
  /** Runs one statement. If the signal fires, the statement is stopped, and the promise settles once it has. @throws StoreError */
  run(request: StatementRequest, signal: AbortSignal): Promise<Uint8Array>;
  /** Stops every statement, waits for their ends, and releases the data directory. */
  close(): Promise<void>;
}

/** libuv threads serve statements and files; together with those that stop others, these are fewer than UV_THREADPOOL_SIZE. */
const maximumStatements = { read: mostEmbeddedReads, own: 6, check: 1 };
/** With this many that do not stop, the others have too few threads. */
const mostStuckStatements = mostEmbeddedReads / 2;

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
  let first: InstanceType<Library["Session"]>;
  try {
    // Stays open, because the engine lives as long as one session does.
    first = new library.Session(dataDirectory, { connectionArgs });
  } catch (error) {
    throw toStoreError(error);
  }
  const sessions = new SessionPool(() => new library.Session(dataDirectory));
  const takeTurn = {
    read: createTurns(maximumStatements.read),
    own: createTurns(maximumStatements.own),
    check: createTurns(maximumStatements.check),
  };
  const end = new AbortController();
  const stopper = new StatementStopper({
    async stop(marks) {
      // SYNC would never return.
      const text = `KILL QUERY WHERE Settings['log_comment'] IN (${marks.map(quote).join(", ")}) ASYNC`;
      await sessions.run({ text, settings: new Map(), format: "Null" });
    },
    mostStuck: mostStuckStatements,
    stuck: () => options.stuck(),
  });

  const run = ({ text, settings, format, lane }: StatementRequest, signal: AbortSignal): Promise<Uint8Array> =>
    takeTurn[lane](async () => {
      const stop = AbortSignal.any([signal, end.signal]);
      if (stop.aborted) throw new StoreError("The statement was cancelled.", { code: 394 });
      const mark = randomUUID();
      using _listener = onAbort(stop, () => stopper.stop(mark));
      try {
        const marked = new Map([...settings, ["log_comment", mark]]);
        return (await sessions.run({ text, settings: marked, format })).bytes();
      } finally {
        stopper.ended(mark);
      }
    });

  const versionResult = await sessions.run({ text: "SELECT version()", settings: new Map(), format: "TSVRaw" });
  return {
    version: new TextDecoder().decode(versionResult.bytes()).trim(),
    run,
    async close() {
      end.abort();
      await library.drainPending();
      sessions.close();
      first.close();
      await library.drainPending();
    },
  };
}
