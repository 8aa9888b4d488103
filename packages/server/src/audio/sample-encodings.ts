/**
 * Decodes samples from bytes to floats with full scale at -1 and 1.
 * A-law and mu-law: https://www.itu.int/rec/T-REC-G.711
 */

export interface SampleEncoding {
  readonly name: string;
  /** Bytes of one sample of one channel. */
  readonly bytes: number;
  read(view: DataView, offset: number): number;
}

export type SampleEncodingName =
  | "pcm8"
  | "pcm16"
  | "pcm16BigEndian"
  | "pcm24"
  | "pcm32"
  | "float32"
  | "float64"
  | "aLaw"
  | "muLaw";

export const sampleEncodings: Readonly<Record<SampleEncodingName, SampleEncoding>> = {
  pcm8: { name: "8-bit PCM", bytes: 1, read: (view, offset) => (view.getUint8(offset) - 128) / 128 },
  pcm16: { name: "16-bit PCM", bytes: 2, read: (view, offset) => view.getInt16(offset, true) / 2 ** 15 },
  pcm16BigEndian: {
    name: "16-bit PCM, big-endian",
    bytes: 2,
    read: (view, offset) => view.getInt16(offset, false) / 2 ** 15,
  },
  pcm24: {
    name: "24-bit PCM",
    bytes: 3,
    read: (view, offset) => (view.getUint16(offset, true) + view.getInt8(offset + 2) * 2 ** 16) / 2 ** 23,
  },
  pcm32: { name: "32-bit PCM", bytes: 4, read: (view, offset) => view.getInt32(offset, true) / 2 ** 31 },
  float32: { name: "32-bit float", bytes: 4, read: (view, offset) => boundedSample(view.getFloat32(offset, true)) },
  float64: { name: "64-bit float", bytes: 8, read: (view, offset) => boundedSample(view.getFloat64(offset, true)) },
  aLaw: { name: "A-law", bytes: 1, read: (view, offset) => aLawValues[view.getUint8(offset)] ?? 0 },
  muLaw: { name: "mu-law", bytes: 1, read: (view, offset) => muLawValues[view.getUint8(offset)] ?? 0 },
};

/** Floats may hold anything: NaN becomes silence, values beyond full scale are clipped. */
export function boundedSample(value: number): number {
  if (value >= -1 && value <= 1) return value;
  return Number.isNaN(value) ? 0 : Math.sign(value);
}

const aLawValues = Float32Array.from({ length: 256 }, (_, code) => {
  const bits = code ^ 0x55;
  const segment = (bits & 0x70) >> 4;
  const step = ((bits & 0x0f) << 4) + 8;
  const size = segment === 0 ? step : (step + 0x100) << (segment - 1);
  return (bits & 0x80 ? size : -size) / 2 ** 15;
});

const muLawValues = Float32Array.from({ length: 256 }, (_, code) => {
  const bits = ~code;
  const size = ((((bits & 0x0f) << 3) + 0x84) << ((bits & 0x70) >> 4)) - 0x84;
  return (bits & 0x80 ? -size : size) / 2 ** 15;
});
