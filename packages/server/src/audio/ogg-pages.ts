/** Writes the packets of one logical Ogg stream into pages. https://www.rfc-editor.org/rfc/rfc3533 */

/** Segments that a page can have; a packet takes one more than its length divided by 255. */
const segmentLimit = 255;
const pageHeaderBytes = 27;

export interface OggPage {
  readonly packets: readonly Uint8Array[];
  /** The stream's position after the last packet of the page. */
  readonly granulePosition: bigint;
  readonly isFirst?: boolean;
  readonly isLast?: boolean;
}

/** Segments that a packet takes in a page's table. */
export function segmentsOf(packet: Uint8Array): number {
  return Math.floor(packet.length / 255) + 1;
}

/** Whether packets that take this many segments fit into one page. */
export function fitsIntoPage(segments: number): boolean {
  return segments <= segmentLimit;
}

/** A writer of pages: each call returns one page, numbered in order. Packets are never split over pages. */
export function createPageWriter(serialNumber: number): (page: OggPage) => Uint8Array {
  let sequence = 0;
  return ({ packets, granulePosition, isFirst = false, isLast = false }) => {
    const segments = packets.flatMap((packet) => [
      ...Array.from({ length: segmentsOf(packet) - 1 }, () => 255),
      packet.length % 255,
    ]);
    if (!fitsIntoPage(segments.length)) throw new RangeError("too many packets for one Ogg page");
    const header = Buffer.alloc(pageHeaderBytes + segments.length);
    header.write("OggS", 0, "latin1");
    header[5] = (isFirst ? 2 : 0) | (isLast ? 4 : 0);
    header.writeBigInt64LE(granulePosition, 6);
    header.writeUInt32LE(serialNumber, 14);
    header.writeUInt32LE(sequence, 18);
    header[26] = segments.length;
    header.set(segments, pageHeaderBytes);
    sequence += 1;
    const page = Buffer.concat([header, ...packets]);
    page.writeUInt32LE(crc32(page), 22);
    return page;
  };
}

/** Ogg's own CRC-32: polynomial 0x04C11DB7, most significant bit first, no inversion. */
const crcTable = Uint32Array.from({ length: 256 }, (_, index) => {
  let value = index << 24;
  for (let bit = 0; bit < 8; bit += 1) {
    value = value & 0x8000_0000 ? (value << 1) ^ 0x04c1_1db7 : value << 1;
  }
  return value >>> 0;
});

function crc32(bytes: Uint8Array): number {
  let crc = 0;
  for (const byte of bytes) {
    crc = ((crc << 8) ^ (crcTable[((crc >>> 24) ^ byte) & 0xff] ?? 0)) >>> 0;
  }
  return crc;
}
