/** Files that are expensive for decoders. */

/** An empty WebM segment of unknown length in which nothing follows: 112 bytes. */
export const endlessWebm = Buffer.concat([
  Buffer.from("1a45dfa39f4286810142f7810142f2810442f381084282847765626d428781044285810218538067", "hex"),
  Buffer.from("01ffffffffffffff", "hex"),
  Buffer.alloc(64),
]);

interface SilentFlac {
  readonly frames: number;
  readonly channels: number;
}

/** Silence in frames of 65,535 samples at 44,100 Hz. A frame has at least 13 bytes. */
export function silentFlac({ frames, channels }: SilentFlac): Buffer {
  const parts = Array.from({ length: frames }, (_, number) => {
    const head = frameHead(number, channels);
    // One constant subframe per channel: its type, then its 16-bit value.
    const frame = Buffer.concat([head, Buffer.alloc(3 * channels), Buffer.alloc(2)]);
    frame.writeUInt16BE(crc16(frame.subarray(0, -2)), frame.length - 2);
    return frame;
  });
  return Buffer.concat([streamInfo(channels), ...parts]);
}

/** 512 kB of FLAC frame starts without ends: each start is compared with every other. */
export function endlessFlac(): Buffer {
  const heads = Array.from({ length: 50_000 }, (_, number) => frameHead(number % 128, 1));
  return Buffer.concat([streamInfo(1), ...heads]);
}

function streamInfo(channels: number): Buffer {
  const block = Buffer.alloc(42);
  block.write("fLaC", 0, "latin1");
  block[4] = 0x80;
  block[7] = 34;
  block.writeUInt16BE(0xffff, 8);
  block.writeUInt16BE(0xffff, 10);
  // 20 bits of rate, 3 of channels minus one, 5 of bits per sample minus one.
  block.writeUInt32BE(((44_100 << 12) | ((channels - 1) << 9) | (15 << 4)) >>> 0, 18);
  return block;
}

/** https://www.rfc-editor.org/rfc/rfc9639#section-9.1: 16 bits of block size and rate follow the number. */
function frameHead(number: number, channels: number): Buffer {
  const bytes = [0xff, 0xf8, 0x7d, ((channels - 1) << 4) | 8, ...utf8Number(number), 0xff, 0xfe, 0xac, 0x44];
  return Buffer.from([...bytes, crc8(bytes)]);
}

function utf8Number(number: number): Buffer {
  return Buffer.from(String.fromCodePoint(number < 0xd800 ? number : number + 0x800));
}

function crc8(bytes: readonly number[]): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 0x80 ? ((crc << 1) ^ 0x07) & 0xff : crc << 1;
  }
  return crc;
}

function crc16(bytes: Uint8Array): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 0x8000 ? ((crc << 1) ^ 0x8005) & 0xffff : crc << 1;
  }
  return crc;
}
