/**
 * Reads one organization's rows. Organizations are isolated twice: each statement must compare with the bound organization,
 * and ClickHouse filters every table by it regardless of the statement.
 */
import { abortable, sleep } from "../abort.ts";
import { AppError } from "../errors.ts";
import type { TelemetryCipher } from "../encryption/telemetry-cipher.ts";
import type { Scope } from "../tenant.ts";
import { maskContent, readsContent } from "./content-mask.ts";
import type { Connection, Settings } from "./connection.ts";
import type { DescriptionVersions } from "./description-versions.ts";
import { readBlocks } from "./native-reader.ts";
import { openBlocks, type OpenSealed } from "./open-sealed.ts";
import { rowsOf } from "./row-reader.ts";
import type { ReadLimiter } from "./read-limiter.ts";
import type { RowCaches } from "./row-cache.ts";
import { organizationFilterSetting, organizationParameterName, type Statement } from "./statement.ts";
import { StoreError, toReadError } from "./store-error.ts";
import type { QueryOptions, Row, TenantReader } from "./store.ts";
import { inputLimit } from "../input-limits.ts";

export interface ReaderOptions {
  readonly connection: Connection;
  /** All table names through which a statement can read tenants' rows. */
  readonly tables: readonly string[];
  /** The installation's settings for every query. */
  readonly settings: Settings;
  /** Settings for a statement's priority among the organizations; absent: the store has no priorities. */
  readonly settingsFor?: ((priority: number) => Settings) | undefined;
  readonly queryTimeoutMs: number;
  readonly caches: RowCaches;
  /** Absent if other servers may write to the store. */
  readonly descriptionVersions: DescriptionVersions | undefined;
  readonly reads: ReadLimiter;
  readonly usesRollups: boolean;
  readonly cipher: TelemetryCipher;
  /** Resolves once an embedded store that ended answers again. Absent: a remote store, whose connection asks other addresses. */
  readonly whenReplaced?: ((signal: AbortSignal) => Promise<void>) | undefined;
  /** Resolves when statements see every row of the organization that is acknowledged now; undefined if they do. */
  readonly whenVisible: (organizationId: string) => Promise<void> | undefined;
}

/** How long a reader's first statement waits for the organization's own rows before it reads without them. */
const visibleWaitMs = 5000;
const defaultMaximumRows = 100_000;
const maximumAnswerBytes = 268_435_456;
/** Maximum characters of all parameters, before URL encoding. connection.ts limits the URL itself. */
const maximumParameterLength = inputLimit({
  area: "Logs, traces and metrics",
  bounds: "Length of all names and values in one statement of a query",
  value: 900_000,
  unit: "characters",
  error: "invalid_request",
});

/** Identifiers of organizations are ours (tenancy/identifier.ts); what is none cannot stand between quotes. */
const organizationPattern = /^[\w-]{1,100}$/;

function tableFilters(tables: readonly string[], organizationId: string): string {
  if (!organizationPattern.test(organizationId)) {
    throw new AppError("internal", "The organization's identifier cannot be used in the telemetry store.");
  }
  return `{${tables.map((table) => `'${table}':'organization = \\'${organizationId}\\''`).join(",")}}`;
}

/** Numbers stay exact, maps keep their order, times are `seconds.nanoseconds`. One line per row. */
const rowFormat: Settings = {
  default_format: "JSONCompactEachRowWithNames",
  output_format_json_quote_64bit_integers: 1,
  output_format_json_quote_denormals: 1,
  output_format_json_map_as_array_of_tuples: 1,
  output_format_json_named_tuples_as_objects: 0,
  date_time_output_format: "unix_timestamp",
};

const columnFormat: Settings = { default_format: "Native" };

/** Memory per byte of the response: as text, as rows, as the objects built from them, and as the text of our response. */
const memoryPerByte = 4;

/** @throws StoreError if the result alone exceeds the memory of a request; AppError if others hold the memory */
async function* charged(
  body: AsyncIterable<Uint8Array>,
  memory: NonNullable<QueryOptions["memory"]>,
  bytesPerByte: number,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) {
    try {
      memory.add(chunk.length * bytesPerByte);
    } catch (error) {
      if (error instanceof AppError && error.code === "payload_too_large")
        throw new StoreError("The result needs more memory than a request may use.", {
          kind: "too_large",
          cause: error,
        });
      throw error;
    }
    yield chunk;
  }
}

/** Exceeding a limit is always an error, regardless of the server's profile: a truncated result would look complete. */
const overflowModes: Settings = {
  result_overflow_mode: "throw",
  timeout_overflow_mode: "throw",
  read_overflow_mode: "throw",
  sort_overflow_mode: "throw",
  group_by_overflow_mode: "throw",
  distinct_overflow_mode: "throw",
  set_overflow_mode: "throw",
  join_overflow_mode: "throw",
};

async function waitAtMost(ms: number, promise: Promise<void>): Promise<void> {
  const isOver = new AbortController();
  await Promise.race([promise, sleep(ms, isOver.signal)]);
  isOver.abort();
}

async function* readAfter(
  visible: Promise<void>,
  signal: AbortSignal,
  bytes: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  // The read itself reports an abort.
  await abortable(visible, signal).catch(() => {});
  yield* bytes;
}

interface Answer {
  readonly body: AsyncIterable<Uint8Array>;
  /** Undefined: the statement reads nothing that can be encrypted. */
  readonly openSealed: OpenSealed | undefined;
}

/** What a caller without `content_read` sees of an encrypted value that is not hidden by its name. */
const hidden = "[encrypted]";

/** The only way to read tenants' rows. */
export function createTenantReader(options: ReaderOptions, scope: Scope): TenantReader {
  const { organizationId } = scope;
  // A job's reads share one place among the organizations that wait, whomever it reads for.
  const group = scope.key.job ?? organizationId;
  const { descriptionVersions } = options;
  const isMasked = !scope.may("content_read");
  const { cipher } = options;
  const openSealed: OpenSealed = isMasked ? () => hidden : (text) => cipher.open(text, organizationId);
  const filters = tableFilters(options.tables, organizationId);
  // A request's first statement waits for the rows that were acknowledged before it.
  let visible: Promise<void> | undefined;
  let isOpened = false;
  const whenVisible = (): Promise<void> | undefined => {
    if (isOpened) return visible;
    isOpened = true;
    const pending = options.whenVisible(organizationId);
    if (pending !== undefined) visible = waitAtMost(visibleWaitMs, pending).then(() => (visible = undefined));
    return visible;
  };

  /** Whether the store ended during a statement and a new one answers, so that the statement can be repeated. */
  const isReplaced = async (error: unknown, signal: AbortSignal): Promise<boolean> => {
    if (options.whenReplaced === undefined || signal.aborted) return false;
    if (!(error instanceof StoreError) || error.code !== undefined || error.kind !== "transient") return false;
    return options.whenReplaced(signal).then(
      () => true,
      () => false,
    );
  };

  const open = (statement: Statement, query: QueryOptions, format: Settings): Answer => {
    const { text: whole, parameters } = statement.render();
    const text = isMasked ? maskContent(whole) : whole;
    if (!parameters.has(organizationParameterName)) {
      throw new AppError("internal", "A telemetry statement does not name the organization that it reads.");
    }
    parameters.set(organizationParameterName, organizationId);
    if ([...parameters.values()].reduce((sum, value) => sum + value.length, 0) > maximumParameterLength) {
      throw new AppError("invalid_request", "The query contains too many names and values. Request fewer.");
    }
    const timeoutMs = query.timeoutMs ?? options.queryTimeoutMs;
    const timeout = AbortSignal.timeout(timeoutMs + 1000);
    const signal = query.signal === undefined ? timeout : AbortSignal.any([timeout, query.signal]);
    const deadlineMs = performance.now() + timeoutMs;
    const settings = {
      ...options.settings,
      ...format,
      final: query.duplicates === "kept" ? 0 : 1,
      max_result_rows: query.maximumRows ?? defaultMaximumRows,
      max_result_bytes: maximumAnswerBytes,
      ...overflowModes,
      [organizationFilterSetting]: filters,
    };
    const read = (priority: number): Promise<AsyncIterable<Uint8Array>> => {
      // Includes the time in the queue.
      const leftSeconds = Math.max(1, Math.ceil((deadlineMs - performance.now()) / 1000));
      const timed = { ...settings, ...options.settingsFor?.(priority), max_execution_time: leftSeconds };
      return options.connection.read({ text, parameters, settings: timed, signal });
    };
    const begin = async (priority: number): Promise<AsyncIterable<Uint8Array>> => {
      try {
        return await read(priority);
      } catch (error) {
        if (!(await isReplaced(error, signal))) throw error;
        return await read(priority);
      }
    };
    const rows = options.reads.read({ organizationId: group, signal, begin });
    const visible = whenVisible();
    const bytes = visible === undefined ? rows : readAfter(visible, signal, rows);
    const perByte = format === columnFormat ? 1 : memoryPerByte;
    return {
      body: query.memory === undefined ? bytes : charged(bytes, query.memory, perByte),
      openSealed: readsContent.test(whole) ? openSealed : undefined,
    };
  };

  async function* batches<Shape>(statement: Statement, query: QueryOptions = {}): AsyncGenerator<Shape[]> {
    try {
      const answer = open(statement, query, rowFormat);
      yield* rowsOf<Shape>(answer.body, answer.openSealed);
    } catch (error) {
      throw toReadError(error, query.signal);
    }
  }

  return {
    async *stream<Shape extends object = Row>(statement: Statement, query?: QueryOptions): AsyncGenerator<Shape> {
      // Not delegated: that would take a further promise for each row.
      for await (const rows of batches<Shape>(statement, query)) for (const row of rows) yield row;
    },
    cache: options.caches.of(organizationId),
    descriptionVersion:
      descriptionVersions &&
      (async () => {
        await whenVisible();
        return descriptionVersions.of(organizationId);
      }),
    usesRollups: options.usesRollups,
    encryptsContent: !isMasked && cipher.seal !== undefined,
    async query<Shape extends object = Row>(statement: Statement, query?: QueryOptions): Promise<Shape[]> {
      const found: Shape[] = [];
      for await (const rows of batches<Shape>(statement, query)) for (const row of rows) found.push(row);
      return found;
    },
    async columns(statement, query = {}) {
      try {
        const answer = open(statement, query, columnFormat);
        const blocks = await readBlocks(answer.body);
        return answer.openSealed === undefined
          ? blocks
          : await openBlocks(blocks, chargedOpen(answer.openSealed, query.memory));
      } catch (error) {
        throw toReadError(error, query.signal);
      }
    },
  };
}

/** The decrypted text is held besides what was read. */
function chargedOpen(open: OpenSealed, memory: QueryOptions["memory"]): OpenSealed {
  if (memory === undefined) return open;
  return (stored) => {
    memory.add(stored.length);
    return open(stored);
  };
}
