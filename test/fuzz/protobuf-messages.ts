/** OTLP messages from the server's own table of fields: valid ones, and ones that break the encoding in every possible way. */
import { MessageType, wireTypeOf, type Field } from "../../packages/server/src/protobuf/message-type.ts";
import { hostileString } from "./hostile-values.ts";
import { mutateBytes } from "./mutate-bytes.ts";
import { presentMs, type Random } from "./random.ts";

export function varint(value: bigint, padding = 0): Buffer {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, value);
  while (rest >= 0x80n) {
    bytes.push(Number(rest & 0x7fn) | 0x80);
    rest >>= 7n;
  }
  bytes.push(Number(rest));
  for (let each = 0; each < padding; each += 1) {
    bytes[bytes.length - 1]! |= 0x80;
    bytes.push(0);
  }
  return Buffer.from(bytes);
}

interface Writing {
  readonly random: Random;
  /** The probability that a field breaks a rule. */
  readonly damage: number;
  /** The number of messages that may still be written; bounds the size. */
  left: number;
}

const nowNano = (random: Random): bigint => BigInt(presentMs - random.below(3_600_000)) * 1_000_000n;

/** @param damage 0 for a valid message */
export function randomMessage(type: MessageType, random: Random, damage: number): Buffer {
  return write(type, { random, damage, left: 200 }, 0);
}

function write(type: MessageType, writing: Writing, depth: number): Buffer {
  const { random } = writing;
  writing.left -= 1;
  const parts: Buffer[] = [];
  for (const field of type.byJsonName.values()) {
    if (writing.left < 0 || random.chance(depth > 8 ? 0.85 : depth < 3 ? 0.05 : 0.35)) continue;
    const copies = field.repeated ? 1 + random.size(depth < 3 ? 2 : 4) : random.chance(0.03) ? 2 : 1;
    for (let copy = 0; copy < copies; copy += 1) parts.push(writeField(field, writing, depth));
  }
  if (random.chance(writing.damage)) parts.push(unknownField(random));
  if (random.chance(writing.damage)) parts.reverse();
  return Buffer.concat(parts);
}

function writeField(field: Field, writing: Writing, depth: number): Buffer {
  const { random, damage } = writing;
  const wire = random.chance(damage) ? random.below(8) : wireTypeOf(field.kind);
  const number = random.chance(damage / 4) ? random.pick([0, 1, 15, 16, 2047, 536_870_911]) : field.number;
  const key = varint((BigInt(number) << 3n) | BigInt(wire), random.chance(damage / 2) ? random.between(1, 9) : 0);
  switch (wire) {
    case 0:
      return Buffer.concat([key, varint(integer(random), random.chance(damage) ? random.between(1, 11) : 0)]);
    case 1: {
      const bytes = random.bytes(8);
      if (/time/i.test(field.jsonName) && random.chance(0.95)) bytes.writeBigUInt64LE(nowNano(random));
      return Buffer.concat([key, bytes]);
    }
    case 5:
      return Buffer.concat([key, random.bytes(4)]);
    case 2: {
      const content = contentOf(field, writing, depth);
      const length = random.chance(damage)
        ? random.pick([0n, BigInt(content.length + 1), 2n ** 31n, 2n ** 32n - 1n, 2n ** 63n])
        : BigInt(content.length);
      return Buffer.concat([key, varint(length), content]);
    }
    default:
      return key;
  }
}

function contentOf({ kind, jsonName }: Field, writing: Writing, depth: number): Buffer {
  const { random, damage } = writing;
  if (kind instanceof MessageType) return write(kind, writing, depth + 1);
  if (kind === "id") return random.bytes(random.chance(damage) ? random.size(40) : jsonName === "traceId" ? 16 : 8);
  if (kind === "string" && random.chance(damage))
    return Buffer.from([0xff, 0xc0, 0x80, 0xed, 0xa0, 0x80, random.uint32() & 0xff]);
  if (kind === "string")
    return Buffer.from(
      random.chance(0.4)
        ? hostileString(random, 300)
        : random.pick(["fuzz_gauge", "service.name", "session.id", "a", "gen_ai.request.model"]),
    );
  return random.bytes(random.size(64));
}

function integer(random: Random): bigint {
  return random.chance(0.7)
    ? BigInt(random.below(10))
    : random.pick([2n ** 31n, 2n ** 32n, 2n ** 63n, 2n ** 64n - 1n, BigInt(random.uint32())]);
}

function unknownField(random: Random): Buffer {
  return random.pick([
    Buffer.from([0xa0, 0x06, 0x01]),
    Buffer.from([0xa3, 0x06, 0x08, 0x01, 0xa4, 0x06]),
    Buffer.from(Array.from({ length: random.between(1, 400) }, () => [0xa3, 0x06]).flat()),
    Buffer.from([0x07]),
    Buffer.from([0xa4, 0x06]),
    Buffer.alloc(12, 0xff),
  ]);
}

/** `levels` nested AnyValues, each a list that contains the next. */
function deepValue(levels: number): Buffer {
  let value: Buffer = Buffer.from([0x10, 0x01]);
  for (let level = 0; level < levels; level += 1) {
    const list = Buffer.concat([Buffer.from([0x0a]), varint(BigInt(value.length)), value]);
    value = Buffer.concat([Buffer.from([0x2a]), varint(BigInt(list.length)), list]);
  }
  return value;
}

/** A log request whose body is nested. */
function deepLog(levels: number): Buffer {
  const wrap = (field: number, content: Buffer): Buffer =>
    Buffer.concat([Buffer.from([(field << 3) | 2]), varint(BigInt(content.length)), content]);
  const time = Buffer.alloc(9);
  time[0] = 0x09;
  time.writeBigUInt64LE(BigInt(presentMs) * 1_000_000n, 1);
  return wrap(1, wrap(2, wrap(2, Buffer.concat([time, wrap(5, deepValue(levels))]))));
}

/** A request of this type as an exporter sends it, or as an attacker does. */
export function otlpMessage(type: MessageType, random: Random): Buffer {
  switch (random.below(10)) {
    case 0:
    case 1:
    case 2:
      return randomMessage(type, random, 0);
    case 3:
    case 4:
    case 5:
      return randomMessage(type, random, 0.02);
    case 6:
    case 7:
      return mutateBytes(randomMessage(type, random, 0), random);
    case 8:
      return random.chance(0.1) ? deepLog(random.size(3000)) : randomMessage(type, random, 0.2);
    default:
      return random.bytes(random.size(400));
  }
}
