/**
 * Serves the embedded engine on a Unix socket with the part of ClickHouse's HTTP interface that connection.ts uses: `/ping`,
 * statements in the body, `?query=INSERT … FORMAT Native` with the name of a file of rows, and settings and `param_…` in the
 * URL.
 */
import { once } from "node:events";
import { chmod, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type TableName, tables } from "../schema.ts";
import { organizationFilterSetting, organizationParameterName } from "../statement.ts";
import { StoreError } from "../store-error.ts";
import type { Engine, StatementRequest } from "./engine.ts";
import { EngineMemory } from "./engine-memory.ts";
import { quote } from "./session-pool.ts";
import { findSpoolFile, spoolFileParameter } from "./spool-file.ts";
import { TenantReads } from "./tenant-reads.ts";

export interface HostOptions {
  readonly engine: Engine;
  readonly socketPath: string;
  readonly spoolDirectory: string;
  readonly memoryBytes: number;
  /** Called when the process has no memory left for statements. */
  exhausted(): void;
}

interface AnswerOptions extends HostOptions {
  readonly reads: TenantReads;
}

export interface Host {
  /** Accepts no more requests and aborts running ones. */
  close(): Promise<void>;
}

/** An insert as connection.ts writes it; anything else with a `query` in the URL is refused. */
const insertPattern = /^(?<into>INSERT INTO (?<table>\w+) \((?<columns>\w+(?:, \w+)*)\)) FORMAT Native$/;
const maximumStatementBytes = 8_388_608;
const smallInsertBytes = 1_048_576;

interface InsertStatement {
  /** `INSERT INTO table (columns)` */
  readonly into: string;
  readonly table: TableName;
  /** Not all of the table's if another version of the server sent it. */
  readonly columns: readonly string[];
  readonly settings: ReadonlyMap<string, string>;
  readonly signal: AbortSignal;
}

const purge: StatementRequest = { text: "SYSTEM JEMALLOC PURGE", settings: new Map(), format: "Null", lane: "check" };
const probe: StatementRequest = { text: "SELECT 1", settings: new Map(), format: "Null", lane: "check" };

/** Settings of the HTTP interface, not of statements. */
const interfaceSettings: ReadonlySet<string> = new Set([
  "query",
  spoolFileParameter,
  "database",
  "default_format",
  "enable_http_compression",
  "wait_end_of_query",
]);

/** The part of an insert that reads columns, with the types of blocks, from a file. */
function selectFromFile(table: TableName, columns: readonly string[], path: string): string {
  const known: Readonly<Record<string, { readonly type: { readonly wire: string } }>> = tables[table].columns;
  const structure = columns.map((name) => {
    const column = Object.hasOwn(known, name) ? known[name] : undefined;
    if (column === undefined) throw new StoreError(`${table} has no column ${name}.`, { code: 16 });
    return `${name} ${column.type.wire}`;
  });
  return `SELECT ${columns.join(", ")} FROM file(${quote(path)}, 'Native', ${quote(structure.join(", "))})`;
}

async function insertRows(options: HostOptions, fileName: string, insert: InsertStatement): Promise<void> {
  const { into, table, columns, settings, signal } = insert;
  const { path, bytes } = await findSpoolFile(options.spoolDirectory, fileName);
  const text = `${into} ${selectFromFile(table, columns, path)}`;
  await options.engine.run({ text, settings: withThreads(settings, bytes), format: "Null", lane: "own" }, signal);
}

/** Few rows are faster without parallel threads, which are started for each statement. */
function withThreads(settings: ReadonlyMap<string, string>, bytes: number): ReadonlyMap<string, string> {
  if (bytes > smallInsertBytes) return settings;
  return new Map([...settings, ["max_threads", "1"], ["max_insert_threads", "1"]]);
}

async function readStatement(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maximumStatementBytes) throw new StoreError("The statement is too long.", { code: 62 });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

interface Answer {
  readonly bytes: Uint8Array;
  /** Called when the answer has been sent, or its reader is gone. */
  release?(): void;
}

async function answer(options: AnswerOptions, request: IncomingMessage, signal: AbortSignal): Promise<Answer> {
  const url = new URL(request.url ?? "/", "http://localhost");
  const settings = new Map([...url.searchParams].filter(([name]) => !interfaceSettings.has(name)));
  if (url.pathname === "/ping") {
    await options.engine.run(probe, signal);
    return { bytes: Buffer.from("Ok.\n") };
  }
  const query = url.searchParams.get("query");
  if (query !== null) {
    const { into, table = "", columns = "" } = insertPattern.exec(query)?.groups ?? {};
    if (into === undefined || !Object.hasOwn(tables, table)) {
      throw new StoreError("The URL may contain only inserts into telemetry tables.", { code: 62 });
    }
    const fileName = url.searchParams.get(spoolFileParameter) ?? "";
    await insertRows(options, fileName, {
      into,
      table: table as TableName,
      columns: columns.split(", "),
      settings,
      signal,
    });
    return { bytes: Buffer.alloc(0) };
  }
  const text = await readStatement(request);
  const format = url.searchParams.get("default_format") ?? "TSV";
  const organizationId = settings.get(`param_${organizationParameterName}`);
  if (organizationId !== undefined && settings.has(organizationFilterSetting))
    return options.reads.run({ text, settings, format, organizationId }, signal);
  const lane = organizationId === undefined ? "own" : "read";
  return { bytes: await options.engine.run({ text, settings, format, lane }, signal) };
}

function refuse(response: ServerResponse, error: unknown): void {
  const known = error instanceof StoreError ? error : new StoreError("The host failed.", { code: 1001, cause: error });
  const body = known.message;
  response.writeHead(known.kind === "transient" ? 503 : 400, {
    "content-type": "text/plain; charset=utf-8",
    "x-clickhouse-exception-code": String(known.code ?? 1001),
  });
  response.end(body);
}

/** Listens until closed. Only this user can open the socket. */
export async function startHost(options: HostOptions): Promise<Host> {
  const server = createServer({ maxHeaderSize: 1_200_000, requestTimeout: 0, headersTimeout: 10_000 });
  const closing = new AbortController();
  const memory = new EngineMemory({
    limitBytes: options.memoryBytes,
    purge: () => options.engine.run(purge, closing.signal),
    probe: () => options.engine.run(probe, closing.signal),
    exhausted: () => options.exhausted(),
  });
  const reads = new TenantReads({ ...options, free: () => memory.free() });
  server.on("request", (request, response) => {
    const gone = new AbortController();
    response.once("close", () => gone.abort());
    answer({ ...options, reads }, request, gone.signal).then(
      ({ bytes, release }) => {
        const sent = (): void => {
          release?.();
          memory.sent(bytes.length);
        };
        // The reader may have left while the last rows were read.
        if (response.destroyed) return sent();
        response.once("close", sent);
        response.writeHead(200, { "content-length": bytes.length }).end(bytes);
      },
      (error: unknown) => {
        memory.failed(error);
        refuse(response, error);
      },
    );
  });
  await rm(options.socketPath, { force: true });
  server.listen(options.socketPath);
  await once(server, "listening");
  await chmod(options.socketPath, 0o600);
  return {
    async close() {
      closing.abort();
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
