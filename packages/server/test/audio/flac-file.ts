/** Writes uncompressed FLAC files, with any metadata. https://www.rfc-editor.org/rfc/rfc9639 */

interface FlacOptions {
  readonly sampleRate?: number;
  readonly channels?: number;
  readonly blockSize?: number;
  /** The header's claims, if they are false. */
  readonly declaredSamples?: bigint;
}

function crc(bytes: Uint8Array, polynomial: number, bits: 8 | 16): number {
  const top = 1 << (bits - 1);
  const mask = bits === 8 ? 0xff : 0xffff;
  let value = 0;
  for (const byte of bytes) {
    value ^= byte << (bits - 8);
    for (let bit = 0; bit < 8; bit += 1) value = ((value & top) === 0 ? value << 1 : (value << 1) ^ polynomial) & mask;
  }
  return value;
}

function frameNumber(value: number): number[] {
  return value < 0x80 ? [value] : [0xc0 | (value >> 6), 0x80 | (value & 0x3f)];
}

/** A file of so many frames; each channel of a frame is one constant if `samples` is undefined, otherwise verbatim. */
export function flacFile(frames: number, samples: Int16Array | undefined, options: FlacOptions = {}): Buffer {
  const { sampleRate = 16_000, channels = 1, blockSize = samples === undefined ? 65_535 : 256 } = options;
  const info = Buffer.alloc(42);
  info.write("fLaC", 0, "latin1");
  info.writeUInt32BE(0x8000_0022, 4);
  info.writeUInt16BE(blockSize, 8);
  info.writeUInt16BE(blockSize, 10);
  const total = options.declaredSamples ?? BigInt(frames) * BigInt(blockSize);
  // 20 bits of rate, 3 of channels, 5 of bits per sample, 36 of samples.
  info.writeBigUInt64BE(
    (BigInt(sampleRate) << 44n) | (BigInt(channels - 1) << 41n) | (15n << 36n) | (total & 0xf_ffff_ffffn),
    18,
  );
  const parts: Buffer[] = [info];
  for (let frame = 0; frame < frames; frame += 1) {
    // Block size in 16 bits after the header, 16 kHz, 16 bits per sample.
    const head = [
      0xff,
      0xf8,
      0x75,
      ((channels - 1) << 4) | 0x08,
      ...frameNumber(frame % 2048),
      ((blockSize - 1) >> 8) & 0xff,
      (blockSize - 1) & 0xff,
    ];
    const body: number[] = [...head, crc(Uint8Array.from(head), 0x07, 8)];
    for (let channel = 0; channel < channels; channel += 1) {
      if (samples === undefined) {
        body.push(0x00, frame & 0xff, 0x10);
        continue;
      }
      body.push(0x02);
      for (let index = 0; index < blockSize; index += 1) {
        const sample = samples[(frame * blockSize + index) % samples.length]!;
        body.push((sample >> 8) & 0xff, sample & 0xff);
      }
    }
    const bytes = Buffer.from(body);
    const sum = crc(bytes, 0x8005, 16);
    parts.push(bytes, Buffer.from([sum >> 8, sum & 0xff]));
  }
  return Buffer.concat(parts);
}
