/**
 * Encodes the journal's records: the length of what follows the checksum, its CRC-32 (both 32 bits, little-endian), then the
 * table, the organization, the number of rows and the rows as the store takes them.
 */
import { setImmediate } from "node:timers/promises";
import { crc32 } from "node:zlib";
import type { TableName } from "../schema.ts";
import { tables } from "../schema.ts";

export interface JournalRecord {
  readonly table: TableName;
  readonly organizationId: string;
  readonly rowCount: number;
  readonly block: Uint8Array;
}

const prefixBytes = 8;
/** One step of a checksum takes less than a millisecond. */
const stepBytes = 2_097_152;

/** The bytes in front of the record's block. */
export async function encodeHead({ table, organizationId, rowCount, block }: JournalRecord): Promise<Uint8Array> {
  const names = [table, organizationId].map((name) => Buffer.from(name, "utf8"));
  const head = Buffer.allocUnsafe(prefixBytes + names.reduce((sum, { length }) => sum + 1 + length, 0) + 4);
  let at = prefixBytes;
  for (const name of names) {
    at = head.writeUInt8(name.length, at);
    at += name.copy(head, at);
  }
  head.writeUInt32LE(rowCount, at);
  head.writeUInt32LE(head.length - prefixBytes + block.length, 0);
  head.writeUInt32LE(await checksum(block, crc32(head.subarray(prefixBytes))), 4);
  return head;
}

async function checksum(bytes: Uint8Array, start = 0): Promise<number> {
  let sum = start;
  for (let at = 0; at < bytes.length; at += stepBytes) {
    if (at > 0) await setImmediate();
    sum = crc32(bytes.subarray(at, at + stepBytes), sum);
  }
  return sum;
}

export interface DecodedRecords {
  readonly records: readonly JournalRecord[];
  /** Where the first record begins that cannot be used; the number of bytes if there is none. */
  readonly validBytes: number;
  /**
   * What is there: nothing; a record whose writing was interrupted; a damaged record with others behind it; or a whole record
   * that this version does not know.
   */
  readonly end: "complete" | "torn" | "damaged" | "unknown";
}

/** A small record costs about as much as this many bytes of a large one. */
const recordCost = 2048;

/** The records up to the first that cannot be used. Their blocks share the memory of `bytes`. */
export async function decodeRecords(bytes: Buffer, from: number): Promise<DecodedRecords> {
  const records: JournalRecord[] = [];
  let at = from;
  let steps = stepBytes;
  while (at < bytes.length) {
    const payload = await payloadAt(bytes, at);
    if (payload === undefined) return { records, validBytes: at, end: await brokenEnd(bytes, at) };
    const record = decodePayload(payload);
    if (record === undefined) return { records, validBytes: at, end: "unknown" };
    records.push(record);
    at += prefixBytes + payload.length;
    steps -= payload.length + recordCost;
    if (steps < 0) {
      await setImmediate();
      steps = stepBytes;
    }
  }
  return { records, validBytes: at, end: "complete" };
}

/** The bytes behind a record's checksum, if they are whole. */
async function payloadAt(bytes: Buffer, at: number): Promise<Buffer | undefined> {
  const start = at + prefixBytes;
  if (start > bytes.length) return undefined;
  const length = bytes.readUInt32LE(at);
  // No record is empty, but a run of zeros looks like one.
  if (length === 0 || start + length > bytes.length) return undefined;
  const payload = bytes.subarray(start, start + length);
  return (await checksum(payload)) === bytes.readUInt32LE(at + 4) ? payload : undefined;
}

/** A whole record behind a broken one was written after it, so the broken one had been whole. */
async function brokenEnd(bytes: Buffer, at: number): Promise<"torn" | "damaged"> {
  const start = at + prefixBytes;
  if (start > bytes.length) return "torn";
  const next = start + bytes.readUInt32LE(at);
  return next > start && (await payloadAt(bytes, next)) !== undefined ? "damaged" : "torn";
}

/** Undefined for what this version does not write, such as rows of a table that it does not have. */
function decodePayload(payload: Buffer): JournalRecord | undefined {
  let at = 0;
  const name = (): string | undefined => {
    if (at >= payload.length) return undefined;
    const end = at + 1 + payload.readUInt8(at);
    const text = payload.toString("utf8", at + 1, end);
    at = end;
    return text;
  };
  const table = name();
  const organizationId = name();
  if (table === undefined || !Object.hasOwn(tables, table) || organizationId === undefined) return undefined;
  if (at + 4 > payload.length) return undefined;
  const rowCount = payload.readUInt32LE(at);
  return { table: table as TableName, organizationId, rowCount, block: payload.subarray(at + 4) };
}
