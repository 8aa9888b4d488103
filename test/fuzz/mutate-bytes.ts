/** Mutates bytes: flips, cuts, repeats, extreme numbers. */
import type { Random } from "./random.ts";

const extremes = [0, 1, 0x7f, 0x80, 0xff] as const;
const words = [0, 1, 0x7fff, 0x8000, 0xffff, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff] as const;

/** The bytes with some changes, one to eight by default; the argument is not modified. */
export function mutateBytes(bytes: Uint8Array, random: Random, changes = 1 + random.size(7)): Buffer {
  let result: Buffer = Buffer.from(bytes);
  for (let change = 0; change < changes && result.length > 0; change += 1) result = changeOnce(result, random);
  return result;
}

function changeOnce(bytes: Buffer, random: Random): Buffer {
  // Heads decide what the rest means: half of the changes hit the first 128 bytes.
  const at = random.chance(0.5) ? random.below(Math.min(128, bytes.length)) : random.below(bytes.length);
  switch (random.below(10)) {
    case 0:
      bytes[at]! ^= 1 << random.below(8);
      return bytes;
    case 1:
      bytes[at] = random.pick(extremes);
      return bytes;
    case 2:
      bytes[at] = random.uint32();
      return bytes;
    case 3:
      return bytes.subarray(0, at);
    case 4: {
      const length = random.size(Math.min(4096, bytes.length - at));
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + length)]);
    }
    case 5: {
      const length = 1 + random.size(Math.min(512, bytes.length - at));
      const copies = 1 + random.size(20);
      return Buffer.concat([
        bytes.subarray(0, at),
        ...Array<Buffer>(copies).fill(bytes.subarray(at, at + length)),
        bytes.subarray(at),
      ]);
    }
    case 6:
      return Buffer.concat([bytes.subarray(0, at), random.bytes(1 + random.size(64)), bytes.subarray(at)]);
    case 7:
      if (at + 4 > bytes.length) return bytes;
      if (random.chance(0.5)) bytes.writeUInt32LE(random.pick(words), at);
      else bytes.writeUInt32BE(random.pick(words), at);
      return bytes;
    case 8:
      bytes.fill(random.pick(extremes), at, Math.min(bytes.length, at + 1 + random.size(256)));
      return bytes;
    default: {
      const from = random.below(bytes.length);
      bytes.copyWithin(at, from, Math.min(bytes.length, from + 1 + random.size(256)));
      return bytes;
    }
  }
}

/** The text with one to four changes. */
export function mutateText(text: string, random: Random, fragments: readonly string[]): string {
  let result = text;
  const changes = 1 + random.size(3);
  for (let change = 0; change < changes; change += 1) {
    const at = random.below(result.length + 1);
    const length = random.size(Math.min(40, result.length - at));
    switch (random.below(4)) {
      case 0:
        result = result.slice(0, at) + random.pick(fragments) + result.slice(at);
        break;
      case 1:
        result = result.slice(0, at) + result.slice(at + length);
        break;
      case 2:
        result =
          result.slice(0, at) +
          result.slice(at, at + length).repeat(1 + random.size(random.chance(0.05) ? 2000 : 8)) +
          result.slice(at);
        break;
      default:
        result = result.slice(0, at) + random.pick(fragments) + result.slice(at + length);
    }
  }
  return result;
}
