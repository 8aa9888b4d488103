/**
 * Prometheus' hash of a label set: xxHash64 of its length-prefixed names and values. `limit_ratio` samples by it, so
 * the same hash samples the same series. https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md
 */
import type { Labels } from "./labels.ts";

const shares = new WeakMap<Labels, number>();

/** The hash as a fraction between 0 and 1. */
export function labelsHashShare(labels: Labels): number {
  let share = shares.get(labels);
  if (share === undefined) {
    share = Number(xxHash64(encodeLabels(labels))) / 2 ** 64;
    shares.set(labels, share);
  }
  return share;
}

function encodeLabels(labels: Labels): Uint8Array {
  const encoder = new TextEncoder();
  const bytes: number[] = [];
  for (const part of labels.pairs) {
    const encoded = encoder.encode(part);
    const { length } = encoded;
    if (length < 255) bytes.push(length);
    else bytes.push(255, length & 0xff, (length >> 8) & 0xff, (length >> 16) & 0xff);
    bytes.push(...encoded);
  }
  return Uint8Array.from(bytes);
}

const prime1 = 0x9e3779b185ebca87n;
const prime2 = 0xc2b2ae3d27d4eb4fn;
const prime3 = 0x165667b19e3779f9n;
const prime4 = 0x85ebca77c2b2ae63n;
const prime5 = 0x27d4eb2f165667c5n;

const wrap = (value: bigint): bigint => BigInt.asUintN(64, value);
const rotate = (value: bigint, bits: bigint): bigint => wrap((value << bits) | (value >> (64n - bits)));
const round = (accumulator: bigint, lane: bigint): bigint =>
  wrap(rotate(wrap(accumulator + lane * prime2), 31n) * prime1);

/** xxHash64 with seed 0. */
export function xxHash64(bytes: Uint8Array): bigint {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let offset = 0;
  let hash = prime5;
  if (bytes.length >= 32) {
    const lanes = [wrap(prime1 + prime2), prime2, 0n, wrap(-prime1)];
    for (; offset + 32 <= bytes.length; offset += 32) {
      for (let lane = 0; lane < 4; lane++) {
        lanes[lane] = round(lanes[lane]!, view.getBigUint64(offset + lane * 8, true));
      }
    }
    hash = wrap([1n, 7n, 12n, 18n].reduce((sum, bits, lane) => sum + rotate(lanes[lane]!, bits), 0n));
    for (const lane of lanes) hash = wrap((hash ^ round(0n, lane)) * prime1 + prime4);
  }
  hash = wrap(hash + BigInt(bytes.length));
  for (; offset + 8 <= bytes.length; offset += 8) {
    hash = wrap(rotate(hash ^ round(0n, view.getBigUint64(offset, true)), 27n) * prime1 + prime4);
  }
  for (; offset + 4 <= bytes.length; offset += 4) {
    hash = wrap(rotate(hash ^ wrap(BigInt(view.getUint32(offset, true)) * prime1), 23n) * prime2 + prime3);
  }
  for (; offset < bytes.length; offset++) {
    hash = wrap(rotate(hash ^ wrap(BigInt(bytes[offset]!) * prime5), 11n) * prime1);
  }
  hash = wrap((hash ^ (hash >> 33n)) * prime2);
  hash = wrap((hash ^ (hash >> 29n)) * prime3);
  return hash ^ (hash >> 32n);
}
