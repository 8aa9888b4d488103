/**
 * Talks to ClickHouse over its HTTP interface (https://clickhouse.com/docs/interfaces/http). The requests are the same for a
 * remote server and for the embedded store on its Unix socket.
 */
import { open } from "node:fs/promises";
import type { IncomingHttpHeaders } from "node:http";
import { pipeline, type Readable } from "node:stream";
import { createZstdDecompress, constants, zstdCompress } from "node:zlib";
import { promisify } from "node:util";
import { Pool } from "undici";
import { spoolFileParameter, withSpoolFile } from "./embedded/spool-file.ts";
import { StoreError } from "./store-error.ts";

const compress = promisify(zstdCompress);
const compressionLevel = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

export interface ConnectionOptions {
  readonly url: string;
  /** A Unix socket, used instead of the URL's host and port. */
  readonly socketPath?: string | undefined;
  readonly user?: string | undefined;
  readonly password?: string | undefined;
  readonly database: string;
  readonly compression: boolean;
  /** The folder through which the embedded store takes rows, instead of request bodies. */
  readonly spoolDirectory?: string | undefined;
  readonly maximumConnections: number;
}

export type Settings = Readonly<Record<string, string | number>>;

export interface InsertRequest {
  readonly table: string;
  readonly columns: readonly string[];
  /** Of the Native format. */
  readonly blocks: readonly Uint8Array[];
  readonly settings: Settings;
  readonly signal: AbortSignal;
}

export interface FileInsertRequest extends ReadRequest {
  /** A file of the Native format, compressed with zstd. */
  readonly path: string;
}

export interface ReadRequest {
  readonly text: string;
  /** Encoded values by name. */
  readonly parameters: ReadonlyMap<string, string>;
  readonly settings: Settings;
  readonly signal: AbortSignal;
  /** The statement writes, and running it twice would count its rows twice. */
  readonly runsOnce?: boolean | undefined;
}

/** One of several addresses of the store, and whether it is in service. */
export interface StoreAddress {
  readonly url: string;
  readonly isUp: boolean;
}

export interface Connection {
  /** @throws StoreError */
  ping(signal: AbortSignal): Promise<void>;
  /** Runs an internal statement without tenants' data; resolves with the response text. @throws StoreError */
  command(text: string, signal: AbortSignal): Promise<string>;
  /** Resolves when the rows are durable. @throws StoreError */
  insert(request: InsertRequest): Promise<void>;
  /** Sends a file's rows to a remote server; `text` is the insert. Resolves when they are durable. @throws StoreError */
  insertFile(request: FileInsertRequest): Promise<void>;
  /** The response's bytes in the format that the settings name. @throws StoreError, also in the middle of the bytes */
  read(request: ReadRequest): Promise<AsyncIterable<Uint8Array>>;
  /** The same store by one of its addresses, for statements that build on each other. Do not close it. */
  pinned(): Connection;
  /** Empty if the store has only one. */
  addresses(): readonly StoreAddress[];
  close(): Promise<void>;
}

interface Call {
  readonly path: string;
  readonly method: "GET" | "POST";
  readonly body?: Uint8Array | string | Readable | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  /** The statement has no tenants' data. */
  readonly isInternal?: boolean;
  readonly signal: AbortSignal;
}

const maximumErrorBytes = 65_536;

async function readText(body: Readable, maximumBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maximumBytes) break;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function search(parameters: Readonly<Record<string, string | number>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) query.append(name, String(value));
  return query.toString();
}

function boundValues(parameters: ReadonlyMap<string, string>): Record<string, string> {
  return Object.fromEntries([...parameters].map(([name, value]) => [`param_${name}`, value]));
}

/** A server that fails after it started to respond to an insert reports that in the body. */
function requireNoError(answer: string): void {
  if (answer.trim() !== "") throw StoreError.fromAnswer(Number(/Code: (\d+)/.exec(answer)?.[1] ?? 1), answer);
}

function decoded(body: Readable, headers: IncomingHttpHeaders): Readable {
  if (headers["content-encoding"] !== "zstd") return body;
  // An error on either side destroys both; the reader sees it.
  return pipeline(body, createZstdDecompress(), () => {});
}

function toStoreError(error: unknown, signal: AbortSignal): StoreError {
  if (error instanceof StoreError) return error;
  // If the signal fires in the middle of a response, its reason replaces the error of the broken stream.
  const isLate = signal.reason instanceof DOMException && signal.reason.name === "TimeoutError";
  if (isLate) return new StoreError("The store did not respond in time.", { code: 159, cause: error });
  return new StoreError("The store cannot be reached, or its response was truncated.", { cause: error });
}

/** The bytes. Errors become StoreErrors, like those before the first byte. Leaving the loop ends the request. */
async function* bytesOf(body: Readable, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  try {
    yield* body as AsyncIterable<Uint8Array>;
  } catch (error) {
    throw toStoreError(error, signal);
  }
}

/**
 * Maximum characters of a request's URL, which contains the parameters. A ClickHouse server accepts 1,048,576 by default
 * (http_max_uri_size), the embedded store somewhat more.
 */
const maximumPathLength = 1_000_000;

/** Opens no socket until it is used. */
export function createConnection(options: ConnectionOptions): Connection {
  const { spoolDirectory } = options;
  const { origin, pathname } = new URL(options.url);
  const pool = new Pool(origin, {
    connections: options.maximumConnections,
    pipelining: 1,
    // Every request has its own deadline, in its signal.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout: 5000, ...(options.socketPath === undefined ? {} : { socketPath: options.socketPath }) },
  });
  const fixedHeaders = {
    ...(options.user === undefined ? {} : { "x-clickhouse-user": options.user }),
    ...(options.password === undefined ? {} : { "x-clickhouse-key": options.password }),
    ...(options.compression ? { "accept-encoding": "zstd" } : {}),
  };
  const common = { database: options.database, ...(options.compression ? { enable_http_compression: 1 } : {}) };

  const call = async ({ path, method, body, headers, isInternal = false, signal }: Call): Promise<Readable> => {
    try {
      const answer = await pool.request({
        path: `${pathname.replace(/\/$/, "")}${path}`,
        method,
        body: body ?? null,
        headers: { ...fixedHeaders, ...headers },
        signal,
      });
      const readable = decoded(answer.body, answer.headers);
      if (answer.statusCode === 200) return readable;
      const code = Number(answer.headers["x-clickhouse-exception-code"]);
      const text = await readText(readable, maximumErrorBytes);
      if (code > 0) throw StoreError.fromAnswer(code, text, { isInternal });
      const httpStatus = answer.statusCode;
      throw new StoreError(`The store responded with HTTP status ${httpStatus}.`, { httpStatus });
    } catch (error) {
      throw toStoreError(error, signal);
    }
  };

  const readAll = async (request: Call): Promise<string> => {
    try {
      return await readText(await call(request), 16_777_216);
    } catch (error) {
      throw toStoreError(error, request.signal);
    }
  };

  const connection: Connection = {
    async ping(signal) {
      await readAll({ path: "/ping", method: "GET", signal });
    },
    command(text, signal) {
      return readAll({ path: `/?${search(common)}`, method: "POST", body: text, isInternal: true, signal });
    },
    async insert({ table, columns, blocks, settings, signal }) {
      const query = `INSERT INTO ${table} (${columns.join(", ")}) FORMAT Native`;
      const parameters = { ...common, ...settings, query };
      if (spoolDirectory !== undefined) {
        await withSpoolFile(spoolDirectory, blocks, (name) =>
          readAll({ path: `/?${search({ ...parameters, [spoolFileParameter]: name })}`, method: "POST", signal }),
        );
        return;
      }
      const body = Buffer.concat(blocks);
      const answer = await readAll({
        path: `/?${search(parameters)}`,
        method: "POST",
        body: options.compression ? await compress(body, compressionLevel) : body,
        headers: options.compression ? { "content-encoding": "zstd" } : {},
        signal,
      });
      requireNoError(answer);
    },
    async insertFile({ text, parameters, settings, path, signal }) {
      const query = search({ ...common, ...settings, ...boundValues(parameters), query: text });
      await using file = await open(path);
      const answer = await readAll({
        path: `/?${query}`,
        method: "POST",
        body: file.createReadStream({ autoClose: false }),
        headers: { "content-encoding": "zstd" },
        signal,
      });
      requireNoError(answer);
    },
    async read({ text, parameters, settings, signal }) {
      const path = `/?${search({ ...common, ...settings, ...boundValues(parameters) })}`;
      if (path.length > maximumPathLength)
        throw new StoreError("The statement's parameters are too long.", { kind: "too_large" });
      return bytesOf(await call({ path, method: "POST", body: text, signal }), signal);
    },
    pinned: () => connection,
    addresses: () => [],
    async close() {
      await pool.destroy();
    },
  };
  return connection;
}
