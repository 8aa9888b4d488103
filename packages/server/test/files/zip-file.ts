/** Writes ZIP archives for tests, also such that no program would write. */
import { crc32, deflateRawSync } from "node:zlib";

export interface ZipEntry {
  readonly name: string;
  readonly content?: Uint8Array | string;
  /** Whether the content is compressed. */
  readonly compress?: boolean;
  /** The Unix mode; a file's if absent. */
  readonly mode?: number;
  /** What the directory says, where it is not true. */
  readonly declared?: Partial<
    Record<"crc32" | "compressedSize" | "uncompressedSize" | "flags" | "method" | "offset", number>
  >;
}

export function zipOf(entries: readonly ZipEntry[]): Buffer {
  const bodies: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, content = "", compress = false, mode = 0o100644, declared = {} } of entries) {
    const raw = Buffer.from(content);
    const packed = compress ? deflateRawSync(raw) : raw;
    const facts = {
      crc32: crc32(raw),
      compressedSize: packed.length,
      uncompressedSize: raw.length,
      flags: 0x800,
      method: compress ? 8 : 0,
      offset,
      ...declared,
    };
    const nameBytes = Buffer.from(name);
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x04034b50, 0);
    local.writeUInt16LE(20, 4);
    writeFacts(local, 6, facts);
    local.writeUInt16LE(nameBytes.length, 26);
    const central = Buffer.alloc(46);
    central.writeUInt32LE(0x02014b50, 0);
    central.writeUInt16LE(3 * 256 + 20, 4);
    central.writeUInt16LE(20, 6);
    writeFacts(central, 8, facts);
    central.writeUInt16LE(nameBytes.length, 28);
    central.writeUInt32LE(mode * 2 ** 16, 38);
    central.writeUInt32LE(facts.offset, 42);
    bodies.push(local, nameBytes, packed);
    directory.push(central, nameBytes);
    offset += local.length + nameBytes.length + packed.length;
  }
  const listing = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(listing.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...bodies, listing, end]);
}

function writeFacts(
  header: Buffer,
  at: number,
  facts: { flags: number; method: number; crc32: number; compressedSize: number; uncompressedSize: number },
): void {
  header.writeUInt16LE(facts.flags, at);
  header.writeUInt16LE(facts.method, at + 2);
  header.writeUInt32LE(facts.crc32, at + 8);
  header.writeUInt32LE(facts.compressedSize, at + 12);
  header.writeUInt32LE(facts.uncompressedSize, at + 16);
}
