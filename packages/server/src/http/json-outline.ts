/**
 * Parses large JSON bodies without their long texts: who only forwards a prompt never reads it. Each long text is replaced by
 * its beginning and a mark, and comes back when it is asked for.
 * docs/adr/0009-upstreams-and-wires.md
 */
import { randomBytes } from "node:crypto";
import { isAscii } from "node:buffer";
import type { MemoryCharge } from "../memory-budget.ts";
import { CooperativeYield, longStep } from "../scheduling/cooperative-yield.ts";
import type { LongText } from "./json-scan.ts";

/** Marks what was cut, after its beginning; unknown to clients, so that no text of theirs looks like it. */
const nonce = randomBytes(12).toString("base64url");
const nonceBytes = Buffer.from(nonce, "latin1");
const numberDigits = 7;
const markLength = nonce.length + numberDigits;
/** What is left of a text is enough for prefixes such as `data:` and those of kept reasoning. */
const keptBytes = 48;
/** Bytes decoded between two checks of the clock. */
const stepBytes = 262_144;

/** The JSON with its long texts cut. */
export async function cutTexts(
  text: Buffer,
  longTexts: readonly LongText[],
  yielder: CooperativeYield,
): Promise<Buffer> {
  const cut = Buffer.allocUnsafe(outlineBytes(text, longTexts));
  let from = 0;
  let at = 0;
  for (let index = 0; index < longTexts.length; index += 1) {
    const { start, end } = longTexts[index]!;
    at += text.copy(cut, at, from, plainEnd(text, start));
    for (let next = 0; next < nonceBytes.length; next += 1) cut[at++] = nonceBytes[next]!;
    for (let rest = index, digit = numberDigits - 1; digit >= 0; digit -= 1) {
      cut[at + digit] = 0x30 + (rest % 10);
      rest = Math.floor(rest / 10);
    }
    at += numberDigits;
    from = end;
    if (yielder.isDue()) await yielder.yield();
  }
  at += text.copy(cut, at, from);
  return cut.subarray(0, at);
}

/** At most. */
function outlineBytes(text: Buffer, longTexts: readonly LongText[]): number {
  let bytes = text.length;
  for (const { start, end } of longTexts) bytes += start - end + keptBytes + markLength;
  return bytes;
}

/** The end of the beginning that is kept: ASCII without escapes. */
function plainEnd(text: Buffer, start: number): number {
  let at = start;
  for (; at < start + keptBytes; at += 1) if (text[at]! >= 0x80 || text[at] === 0x5c) break;
  return at;
}

interface CutParts {
  readonly longTexts: readonly LongText[];
  readonly charge: MemoryCharge;
}

/** The long texts of a parsed body. */
export class CutTexts {
  readonly #text: Buffer;
  readonly #longTexts: readonly LongText[];
  readonly #charge: MemoryCharge;
  readonly #value: unknown;
  #left: number;
  #restoring: Promise<void> | undefined;

  /** @param value the parsed outline */
  constructor(text: Buffer, value: unknown, { longTexts, charge }: CutParts) {
    this.#text = text;
    this.#value = value;
    this.#longTexts = longTexts;
    this.#charge = charge;
    this.#left = longTexts.length;
  }

  /**
   * Puts the texts back into the parsed value, which is changed in place, and yields to other requests meanwhile.
   * @throws AppError what the charge throws
   */
  restore(): Promise<void> {
    return (this.#restoring ??= this.#restore());
  }

  async #restore(): Promise<void> {
    this.#charge.add(this.#textBytes());
    const yielder = new CooperativeYield();
    const open: unknown[] = [this.#value];
    for (let parent = open.pop(); parent !== undefined && this.#left > 0; parent = open.pop()) {
      const members = parent as Record<string, unknown>;
      for (const name in members) {
        const member = members[name];
        if (typeof member === "object" && member !== null) open.push(member);
        const cut = typeof member === "string" ? this.#cutOf(member) : undefined;
        if (cut === undefined) {
          if (yielder.isDue()) await yielder.yield();
          continue;
        }
        members[name] = await decode(this.#text, cut, yielder);
        this.#left -= 1;
      }
    }
  }

  #textBytes(): number {
    let bytes = 0;
    for (const { start, end } of this.#longTexts) bytes += end - start;
    // V8 stores text beyond Latin-1 with two bytes per character.
    return isAscii(this.#text) ? bytes : bytes * 2;
  }

  #cutOf(text: string): LongText | undefined {
    const markAt = text.length - markLength;
    if (markAt < 0 || !text.startsWith(nonce, markAt)) return undefined;
    return this.#longTexts[Number(text.slice(-numberDigits))];
  }
}

async function decode(text: Buffer, { start, end, hasEscapes }: LongText, yielder: CooperativeYield): Promise<string> {
  let decoded = "";
  for (let at = start; at < end;) {
    const next = safeEnd(text, at, Math.min(end, at + stepBytes));
    const piece = text.toString("utf8", at, next);
    decoded += hasEscapes ? (JSON.parse(`"${piece}"`) as string) : piece;
    at = next;
    if (yielder.isDue(longStep)) await yielder.yield();
  }
  return decoded;
}

/** The last index up to `end` that divides no character and no escape. */
function safeEnd(text: Buffer, start: number, end: number): number {
  let at = end;
  while ((text[at]! & 0xc0) === 0x80) at -= 1;
  // An escape has at most six bytes. A backslash begins one if an even number of them precedes it.
  for (let escape = at - 1; escape >= Math.max(start, at - 5); escape -= 1) {
    if (text[escape] !== 0x5c) continue;
    let before = escape;
    while (before > start && text[before - 1] === 0x5c) before -= 1;
    const begins = (escape - before) % 2 === 0;
    if (begins && escape + (text[escape + 1] === 0x75 ? 6 : 2) > at) return escape;
    break;
  }
  return at;
}
