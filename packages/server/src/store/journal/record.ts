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
  /** Where the first record that is torn or corrupt begins; the number of bytes if none is. */
  readonly validBytes: number;
}

/** The records up to the first that is torn or corrupt. Their blocks share the memory of `bytes`. */
export async function decodeRecords(bytes: Buffer, from: number): Promise<DecodedRecords> {
  const records: JournalRecord[] = [];
  let at = from;
  for (let steps = stepBytes; at + prefixBytes <= bytes.length;) {
    const length = bytes.readUInt32LE(at);
    const start = at + prefixBytes;
    if (start + length > bytes.length) break;
    const payload = bytes.subarray(start, start + length);
    if ((await checksum(payload)) !== bytes.readUInt32LE(at + 4)) break;
    const record = decodePayload(payload);
    if (record === undefined) break;
    records.push(record);
    at = start + length;
    steps -= length;
    if (steps < 0) {
      await setImmediate();
      steps = stepBytes;
    }
  }
  return { records, validBytes: at };
}

/** Undefined for what no version writes, such as a run of zeros, whose checksum is right. */
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
