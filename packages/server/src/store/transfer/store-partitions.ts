/**
 * The partitions of the store's tables: what has changed in them, what they contain, and their removal. A partition has one day of
 * one table, or all of a table that is not divided. docs/adr/0042-deletion-backup-and-move.md
 */
import { answerRows, answerText } from "../answer-text.ts";
import { tables, type TableName } from "../schema.ts";
import { bind } from "../statement.ts";
import type { TableDefinition } from "../table-definition.ts";
import { onCluster, storedName } from "../table-layout.ts";
import { type StoreAccess, toAccessError } from "./store-access.ts";
import { columnsOf, nameOf, tablesInOrder, type TablePart } from "./telemetry-transfer.ts";

export interface StoredPartition {
  readonly part: TablePart;
  /** Rises with every insert. */
  readonly lastBlock: number;
  /** Changes with every mutation, and while one runs. */
  readonly mutations: string;
  /** When the first of its rows expires, in UNIX seconds; 0 if unknown. */
  readonly expiresAt: number;
  /** Including rows that others replace. */
  readonly rows: number;
  readonly bytes: number;
  readonly files: readonly StoredFile[];
}

interface StoredFile {
  readonly lastBlock: number;
  readonly rows: number;
  readonly bytes: number;
}

/** The rows of an organization, without those that expire before a time. */
interface OrganizationRows {
  readonly rows: number;
  readonly checksum: string;
}
export type Fingerprint = ReadonlyMap<string, OrganizationRows>;

const statementTimeoutMs = 3_600_000;
const listTimeoutMs = 60_000;

/** Its methods throw AppErrors. */
export class StorePartitions {
  readonly #access: StoreAccess;

  constructor(access: StoreAccess) {
    this.#access = access;
  }

  /** Whether several servers have the rows: then the numbers of blocks say nothing, and copies arrive later on some. */
  get isCluster(): boolean {
    return this.#access.layout.cluster !== undefined;
  }

  /** Those that have rows. @param only one of them */
  async list(signal: AbortSignal, only?: TablePart): Promise<StoredPartition[]> {
    const { connection, layout, readSettings: settings } = this.#access;
    const { cluster } = layout;
    const parts = cluster === undefined ? "system.parts" : "clusterAllReplicas({cluster:String}, system.parts)";
    // The fifth part of a file's name is the last mutation that it includes.
    const text = `SELECT table, partition_id, toString(max_block_number), splitByChar('_', name)[5],
  toUnixTimestamp(delete_ttl_info_min), toString(rows), toString(bytes_on_disk)
FROM ${parts} WHERE active AND rows > 0 AND database = currentDatabase() AND table IN {tables:Array(String)}
${only === undefined ? "" : "AND partition_id = {partition:String}"} FORMAT JSONCompactEachRow`;
    const listed = only === undefined ? tablesInOrder : [only.table];
    const names = new Map(listed.map((table) => [storedName(table, layout), table]));
    const parameters = new Map([["tables", bind.texts([...names.keys()]).encoded]]);
    if (only !== undefined) parameters.set("partition", bind.text(partitionOf(only)).encoded);
    if (cluster !== undefined) parameters.set("cluster", bind.text(cluster).encoded);
    const read = { text, parameters, settings, signal, timeoutMs: listTimeoutMs };
    const rows = await answerRows<FileRow>(connection, read).catch((error: unknown) => {
      signal.throwIfAborted();
      throw toAccessError(error, "read");
    });
    const grouped = Map.groupBy(rows, ([table, partition]) => `${table} ${partition}`);
    return [...grouped.values()].map((files) => toPartition(names.get(files[0]![0])!, files));
  }

  /** What the part has of each organization. @param expireAfter rows that expire before are not counted, in UNIX seconds */
  async fingerprint(part: TablePart, expireAfter: number, signal: AbortSignal): Promise<Fingerprint> {
    const { connection, readSettings: settings } = this.#access;
    const { identity, timeColumn } = tables[part.table] as TableDefinition;
    const days = identity === undefined ? "days" : "days + 2";
    // The table's own expression of the expiry (table-statements.ts).
    const conditions = [`toDateTime(${timeColumn}) + toIntervalDay(${days}) > toDateTime({expire_after:UInt32})`];
    const parameters = new Map([["expire_after", bind.uint32(expireAfter).encoded]]);
    if (part.day !== undefined) {
      conditions.push(`toDate(${timeColumn}) = {day:Date}`);
      parameters.set("day", bind.text(part.day).encoded);
    }
    const text = `SELECT organization, toString(count()), toString(sum(hash)), toString(groupBitXor(hash)) FROM (
  SELECT organization, cityHash64(${columnsOf(part.table).join(", ")}) AS hash
  FROM ${part.table} FINAL WHERE ${conditions.join(" AND ")}
) GROUP BY organization FORMAT JSONCompactEachRow`;
    const read = { text, parameters, settings, signal, timeoutMs: statementTimeoutMs };
    const rows = await answerRows<[string, string, string, string]>(connection, read).catch((error: unknown) => {
      signal.throwIfAborted();
      throw toAccessError(error, `read (${nameOf(part)})`);
    });
    return new Map(
      rows.map(([organization, count, sum, xor]) => [organization, { rows: Number(count), checksum: `${sum} ${xor}` }]),
    );
  }

  /** Removes all rows of the part, and what the store derived from them to find traces. */
  async remove(part: TablePart, signal: AbortSignal): Promise<void> {
    const { connection, layout } = this.#access;
    const names = part.table === "spans" ? ["spans", "trace_index"] : [part.table];
    for (const name of names) {
      const text = `ALTER TABLE ${storedName(name, layout)}${onCluster(layout)} DROP PARTITION ID {partition:String}`;
      const parameters = new Map([["partition", bind.text(partitionOf(part)).encoded]]);
      const command = { text, parameters, settings: {}, signal, timeoutMs: statementTimeoutMs };
      await answerText(connection, command).catch((error: unknown) => {
        signal.throwIfAborted();
        throw toAccessError(error, `emptied (${nameOf(part)})`);
      });
    }
  }
}

/** The store's name of the partition. */
function partitionOf({ day }: TablePart): string {
  return day?.replaceAll("-", "") ?? "all";
}

type FileRow = [table: string, partition: string, block: string, mutation: string, ...numbers: FileNumbers];
type FileNumbers = [expiresAt: number, rows: string, bytes: string];

function toPartition(table: TableName, rows: readonly FileRow[]): StoredPartition {
  const files = rows.map(([, , block, mutation, expiresAt, count, bytes]) => ({
    lastBlock: Number(block),
    mutation: Number(mutation),
    expiresAt,
    rows: Number(count),
    bytes: Number(bytes),
  }));
  const mutation = Math.max(...files.map((file) => file.mutation));
  // Blocks and mutations are numbered together.
  const waiting = files.filter((file) => file.lastBlock < mutation && file.mutation < mutation).length;
  const [, year, month, day] = /^(\d{4})(\d\d)(\d\d)$/.exec(rows[0]![1]) ?? [];
  return {
    part: { table, day: year === undefined ? undefined : `${year}-${month}-${day}` },
    lastBlock: Math.max(...files.map((file) => file.lastBlock)),
    mutations: `${mutation}/${waiting}`,
    expiresAt: Math.min(...files.map((file) => file.expiresAt)),
    rows: files.reduce((sum, file) => sum + file.rows, 0),
    bytes: files.reduce((sum, file) => sum + file.bytes, 0),
    files,
  };
}
