/**
 * Copies telemetry out of the store and into it, in files of one table and one day, in ClickHouse's Native format, compressed with
 * zstd. The embedded engine reads and writes the files in its spool folder; a remote server sends and takes their bytes.
 * docs/adr/0042-deletion-backup-and-move.md
 */
import { randomUUID } from "node:crypto";
import { createWriteStream } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createZstdCompress } from "node:zlib";
import { answerRows, answerText } from "../answer-text.ts";
import type { Settings } from "../connection.ts";
import { migrate, missingColumns, readStoredVersion, schemaVersion, unknownTable } from "../migrations.ts";
import { describesOthers, type TableName, tables } from "../schema.ts";
import { bind } from "../statement.ts";
import { StoreError } from "../store-error.ts";
import type { TableDefinition } from "../table-definition.ts";
import { type StoreAccess, toAccessError } from "./store-access.ts";

/** The rows of one table and, if the table is divided into days, of one day. */
export interface TablePart {
  readonly table: TableName;
  /** `2026-11-24`; undefined for a table that is not divided. */
  readonly day: string | undefined;
}

/** What a part has of an organization. */
export interface PartRows {
  readonly organization: string;
  readonly rows: number;
  /** When the first of them expires, in UNIX seconds. */
  readonly expiresAt: number;
}

export interface TransferOptions {
  /** Only this organization's rows. */
  readonly organization?: string | undefined;
  /** Only rows that files with higher numbers have. They may have rows of earlier blocks, too. */
  readonly afterBlock?: number | undefined;
  readonly signal: AbortSignal;
}

const statementTimeoutMs = 3_600_000;
const countTimeoutMs = 600_000;
const migrationTimeoutMs = 600_000;
/** Bounds the memory of an insert: rows are gathered up to this size before they are written. */
const insertBlocks: Settings = {
  min_insert_block_size_rows: 250_000,
  min_insert_block_size_bytes: 67_108_864,
  max_insert_block_size: 250_000,
};
/** The name of the parameter with the organization. A statement with another name does not wait for queries. */
const tenantParameter = "tenant";

const definitionOf = (table: TableName): TableDefinition => tables[table];

/** The columns with their types, as the engine reads them from a file. */
function structureOf(table: TableName, columns: readonly string[]): string {
  return columns.map((name) => `${name} ${definitionOf(table).columns[name]!.type.sql}`).join(", ");
}

/** Data first: rows that arrive meanwhile may refer to descriptions, which are stored before them. */
export const tablesInOrder: readonly TableName[] = (Object.keys(tables) as TableName[]).toSorted(
  (left, right) => Number(describesOthers(left)) - Number(describesOthers(right)),
);

export function columnsOf(table: TableName): readonly string[] {
  return Object.keys(definitionOf(table).columns);
}

/** Its methods throw AppErrors. */
export class TelemetryTransfer {
  readonly #access: StoreAccess;

  constructor(access: StoreAccess) {
    this.#access = access;
  }

  /** The schema version of the store; 0 for an empty one. @throws Error if this version cannot work with it */
  async storedVersion(signal: AbortSignal): Promise<number> {
    try {
      return await readStoredVersion(this.#access.connection, signal);
    } catch (error) {
      if (error instanceof StoreError && error.code === unknownTable) return 0;
      throw toAccessError(error, "read");
    }
  }

  /** @throws AppError, or Error if a newer version migrated the store */
  async migrate(signal: AbortSignal): Promise<void> {
    const { connection, layout } = this.#access;
    const limited = AbortSignal.any([signal, AbortSignal.timeout(migrationTimeoutMs)]);
    await migrate(connection.pinned(), layout, limited).catch((error: unknown) => {
      throw toAccessError(error, `migrated to schema version ${schemaVersion}`);
    });
  }

  /** Columns of this version that the store lacks, as steps of a migration. */
  async missingColumns(signal: AbortSignal): Promise<string[]> {
    const { connection, layout } = this.#access;
    const missing = await missingColumns(connection, layout, signal).catch((error: unknown) => {
      throw toAccessError(error, "read");
    });
    return missing.map(({ declaration, table }) => `add the column ${table}.${declaration.split(" ", 1)[0]}`);
  }

  /** Whether no table has rows. */
  async isEmpty(signal: AbortSignal): Promise<boolean> {
    for (const table of tablesInOrder) {
      const rows = await this.#rows<[number]>(`SELECT 1 FROM ${table} LIMIT 1 FORMAT JSONCompactEachRow`, { signal });
      if (rows.length > 0) return false;
    }
    return true;
  }

  /** The parts of a table, and their rows without duplicates. */
  async parts(
    table: TableName,
    { organization, signal }: TransferOptions,
    day?: string,
  ): Promise<{ readonly part: TablePart; readonly rows: readonly PartRows[] }[]> {
    const { partitioned, timeColumn } = definitionOf(table);
    const seconds = `toInt64(toUnixTimestamp(toDateTime(${timeColumn})))`;
    const text = `SELECT ${partitioned ? `toString(toDate(${timeColumn}))` : "''"} AS part_day, organization, count(), min(${seconds} + days * 86400)
FROM ${table} FINAL WHERE ${conditionOf({ table, day }, organization)}
GROUP BY part_day, organization ORDER BY part_day, organization FORMAT JSONCompactEachRow`;
    const found = await this.#rows<[string, string, string, string]>(text, { organization, day, signal });
    return [...Map.groupBy(found, ([partDay]) => partDay)].map(([partDay, rows]) => ({
      part: { table, day: partDay === "" ? undefined : partDay },
      rows: rows.map(([, id, count, expiresAt]) => ({
        organization: id,
        rows: Number(count),
        expiresAt: Number(expiresAt),
      })),
    }));
  }

  /** Writes a part's rows to a new file and calls the function with its path; the file is removed afterwards. */
  async exported<Result>(
    part: TablePart,
    { afterBlock, organization, signal }: TransferOptions,
    work: (path: string) => Promise<Result>,
    directory: string,
  ): Promise<Result> {
    const { connection, readSettings, spoolDirectory } = this.#access;
    const path = join(spoolDirectory ?? directory, randomUUID());
    const columns = columnsOf(part.table);
    const select = `SELECT ${columns.join(", ")} FROM ${part.table} FINAL WHERE ${conditionOf(part, organization, afterBlock)}`;
    const block = afterBlock === undefined ? undefined : String(afterBlock);
    const bound = { organization, block, day: part.day };
    try {
      if (spoolDirectory === undefined) {
        const text = `${select} FORMAT Native`;
        const limited = AbortSignal.any([signal, AbortSignal.timeout(statementTimeoutMs)]);
        const bytes = await connection.read({
          text,
          parameters: parametersOf(bound),
          settings: readSettings,
          signal: limited,
        });
        await pipeline(Readable.from(bytes), createZstdCompress(), createWriteStream(path, { mode: 0o600 }), {
          signal,
        });
      } else {
        await answerText(connection, {
          text: `INSERT INTO FUNCTION file({path:String}, 'Native', {structure:String}, 'zstd') ${select}`,
          parameters: parametersOf({ ...bound, path, structure: structureOf(part.table, columns) }),
          settings: { ...readSettings, engine_file_truncate_on_insert: 1 },
          signal,
          timeoutMs: statementTimeoutMs,
        });
      }
      return await work(path);
    } catch (error) {
      signal.throwIfAborted();
      throw toAccessError(error, `copied (${nameOf(part)})`);
    } finally {
      await rm(path, { force: true });
    }
  }

  /** A path in the folder from which `insert` reads. The caller removes the file. */
  inputPath(directory: string): string {
    return join(this.#access.spoolDirectory ?? directory, randomUUID());
  }

  /**
   * Inserts the rows of a file.
   * @param columns those of the file, which the table has
   * @param token the same if the insert is repeated
   */
  async insert({ columns, part, path, token }: InsertedFile, { organization, signal }: TransferOptions): Promise<void> {
    const { connection, spoolDirectory } = this.#access;
    const names = columns.join(", ");
    const into = `INSERT INTO ${part.table} (${names})`;
    const where = organization === undefined ? "" : ` WHERE organization = {${tenantParameter}:String}`;
    const structure = structureOf(part.table, columns);
    const settings = { ...this.#access.insertSettings, ...insertBlocks, insert_deduplication_token: token };
    try {
      if (spoolDirectory === undefined) {
        await connection.insertFile({
          text:
            organization === undefined
              ? `${into} FORMAT Native`
              : `${into} SELECT ${names} FROM input({structure:String})${where} FORMAT Native`,
          path,
          parameters: organization === undefined ? new Map() : parametersOf({ organization, structure }),
          settings,
          signal: AbortSignal.any([signal, AbortSignal.timeout(statementTimeoutMs)]),
        });
      } else {
        await answerText(connection, {
          text: `${into} SELECT ${names} FROM file({path:String}, 'Native', {structure:String}, 'zstd')${where}`,
          parameters: parametersOf({ organization, path, structure }),
          settings,
          signal,
          timeoutMs: statementTimeoutMs,
        });
      }
    } catch (error) {
      signal.throwIfAborted();
      throw toAccessError(error, `filled (${nameOf(part)})`);
    }
  }

  async #rows<Row extends readonly unknown[]>(
    text: string,
    {
      signal,
      ...values
    }: { readonly signal: AbortSignal } & Partial<Record<"organization" | "day", string | undefined>>,
  ): Promise<Row[]> {
    const { connection, readSettings: settings } = this.#access;
    const read = { text, parameters: parametersOf(values), settings, signal, timeoutMs: countTimeoutMs };
    return await answerRows<Row>(connection, read).catch((error: unknown) => {
      signal.throwIfAborted();
      throw toAccessError(error, "read");
    });
  }
}

interface InsertedFile {
  readonly part: TablePart;
  readonly columns: readonly string[];
  readonly path: string;
  readonly token: string;
}

export function nameOf({ day, table }: TablePart): string {
  return day === undefined ? table : `${table} of ${day}`;
}

function conditionOf({ day, table }: TablePart, organization: string | undefined, afterBlock?: number): string {
  const conditions = [
    // Files are named <partition>_<first block>_<last block>_….
    ...(afterBlock === undefined ? [] : ["toUInt64OrZero(splitByChar('_', _part)[3]) > {block:UInt64}"]),
    ...(organization === undefined ? [] : [`organization = {${tenantParameter}:String}`]),
    ...(day === undefined ? [] : [`toDate(${definitionOf(table).timeColumn}) = {day:Date}`]),
  ];
  return conditions.length === 0 ? "1" : conditions.join(" AND ");
}

function parametersOf({
  organization,
  ...others
}: Readonly<Record<string, string | undefined>>): ReadonlyMap<string, string> {
  const all = Object.entries({ [tenantParameter]: organization, ...others });
  return new Map(all.flatMap(([name, value]) => (value === undefined ? [] : [[name, bind.text(value).encoded]])));
}
