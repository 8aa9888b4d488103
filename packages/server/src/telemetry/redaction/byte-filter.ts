/**
 * Tells, in one pass over bytes, whether they may contain sensitive data: nearly all records contain none and need no other search.
 * It is never wrong about bytes in which a detector finds something.
 */
import type { SensitiveKind } from "../../sensitive-data/kinds.ts";

export type ByteFilter = (bytes: Uint8Array, start: number, end: number) => boolean;

/** What to do at a byte. */
const mark = { none: 0, digit: 1, at: 2, percent: 3, key: 4, phone: 5 } as const;

/** Digits of the shortest card and phone number, and what follows the check digits of the shortest account number. */
const fewestDigits = { card: 14, phone: 8 };
const shortestAccount = 11;
const longestPhoneNumber = 46;

/** The filter for these kinds. */
export function byteFilter(kinds: ReadonlySet<SensitiveKind>): ByteFilter {
  const marks = new Uint8Array(256);
  const set = (characters: string, value: number): void => {
    for (const character of characters) marks[character.charCodeAt(0)] = value;
  };
  const [findsCards, findsIbans] = [kinds.has("card_number"), kinds.has("iban")];
  const findsPhones = kinds.has("phone_number");
  if (findsCards || findsIbans || findsPhones) set("0123456789", mark.digit);
  if (findsPhones) set("+(", mark.phone);
  if (kinds.has("api_key")) set("-_KSzJ", mark.key);
  if (kinds.has("email")) {
    set("@", mark.at);
    set("%", mark.percent);
  }

  /** Where the digits and single separators end that begin here; -1 if they may be what is looked for. */
  const endOfDigits = (bytes: Uint8Array, start: number, end: number): number => {
    if (findsIbans && mayBeAccount(bytes, start, end)) return -1;
    let cardDigits = 0;
    let isSeparated = false;
    let at = start;
    for (; at < end; at += 1) {
      const byte = bytes[at]!;
      if (isDigit(byte)) {
        isSeparated = false;
        // No card number begins with 0, 1, 7, 8 or 9, as most times and many IDs do.
        if (cardDigits > 0 || (byte >= 0x32 && byte <= 0x36)) cardDigits += 1;
        continue;
      }
      const isSeparator = byte === 0x20 || byte === 0x2d;
      if (findsPhones && (byte === 0x2d || byte === 0x2e) && isNorthAmerican(bytes, at)) return -1;
      if (!isSeparator || isSeparated) break;
      isSeparated = true;
    }
    return findsCards && cardDigits >= fewestDigits.card ? -1 : at;
  };

  return (bytes, start, end) => {
    for (let at = start; at < end; at += 1) {
      const found = marks[bytes[at]!]!;
      if (found === mark.none) continue;
      if (found === mark.digit) {
        const next = endOfDigits(bytes, at, end);
        if (next === -1) return true;
        at = next - 1;
      } else if (found === mark.key) {
        if (mayBeKey(bytes, at)) return true;
      } else if (found === mark.phone) {
        if (mayBePhoneNumber(bytes, at + 1, end)) return true;
      } else if (found === mark.at) {
        if (mayBeAddress(bytes, at - 1, at + 1, end)) return true;
      } else if (bytes[at + 1] === 0x34 && bytes[at + 2] === 0x30 && mayBeAddress(bytes, at - 1, at + 3, end))
        return true;
    }
    return false;
  };
}

function isDigit(byte: number | undefined): boolean {
  return byte! >= 0x30 && byte! <= 0x39;
}

function isUpper(byte: number | undefined): boolean {
  return byte! >= 0x41 && byte! <= 0x5a;
}

/** Letters, with all that is not ASCII. */
function isLetter(byte: number | undefined): boolean {
  return isUpper(byte) || (byte! >= 0x61 && byte! <= 0x7a) || byte! >= 0x80;
}

/** Whether a name stands before the @, and a name with a dot and a letter after it. */
function mayBeAddress(bytes: Uint8Array, before: number, after: number, end: number): boolean {
  const last = bytes[before];
  if (!isLetter(last) && !isDigit(last) && !isOneOf(localSigns, last)) return false;
  for (let at = after; at < end; at += 1) {
    const byte = bytes[at];
    if (byte === 0x2e && at > after && isLetter(bytes[at + 1])) return true;
    if (!isLetter(byte) && !isDigit(byte) && byte !== 0x2d && byte !== 0x2e) return false;
  }
  return false;
}

const localSigns = signs("._%+'-");
const phoneSigns = signs(" ()./-");

function signs(characters: string): Uint8Array {
  const table = new Uint8Array(256);
  for (const character of characters) table[character.charCodeAt(0)] = 1;
  return table;
}

function isOneOf(table: Uint8Array, byte: number | undefined): boolean {
  return table[byte!] === 1;
}

function mayBePhoneNumber(bytes: Uint8Array, start: number, end: number): boolean {
  if (!isDigit(bytes[start])) return false;
  const limit = Math.min(end, start + longestPhoneNumber);
  let digits = 0;
  for (let at = start; at < limit; at += 1) {
    if (isDigit(bytes[at])) digits += 1;
    else if (!isOneOf(phoneSigns, bytes[at])) return false;
    if (digits === fewestDigits.phone) return true;
  }
  return false;
}

/** Whether the separator is the first one of a number such as 555-201-3344. */
function isNorthAmerican(bytes: Uint8Array, at: number): boolean {
  if (bytes[at] !== bytes[at + 4] || !isDigit(bytes[at + 8])) return false;
  for (let next = at - 3; next <= at + 8; next += 1) {
    if (next !== at && next !== at + 4 && !isDigit(bytes[next])) return false;
  }
  return true;
}

/** Whether a country and two check digits begin an account number; `at` is the first digit. */
function mayBeAccount(bytes: Uint8Array, at: number, end: number): boolean {
  if (!isUpper(bytes[at - 1]) || !isUpper(bytes[at - 2]) || !isDigit(bytes[at + 1])) return false;
  let count = 0;
  for (let next = at + 2; next < end; next += 1) {
    const byte = bytes[next];
    if (isDigit(byte) || isUpper(byte)) count += 1;
    else if (byte !== 0x20) return false;
    if (count === shortestAccount) return true;
  }
  return false;
}

const upper = { A: 0x41, I: 0x49, J: 0x4a } as const;
const lower = { a: 0x61, e: 0x65, f: 0x66, g: 0x67, h: 0x68, k: 0x6b, m: 0x6d, p: 0x70, r: 0x72 } as const;
const lastLower = { s: 0x73, t: 0x74, x: 0x78, y: 0x79, z: 0x7a } as const;

/** Whether the byte is the rarest one of the beginning of a key: the `-` of `sk-`, the `K` of `AKIA`. */
function mayBeKey(bytes: Uint8Array, at: number): boolean {
  const { A, I, J } = upper;
  const { a, e, f, g, h, k, m, p, r } = lower;
  const { s, t, x, y, z } = lastLower;
  const first = bytes[at - 1];
  const second = bytes[at - 2];
  const third = bytes[at - 3];
  switch (bytes[at]) {
    case 0x2d:
      // sk-, glpat-, xoxb-
      if (first === k) return second === s;
      return (first === t && second === a && third === p) || (second === x && bytes[at - 4] === x);
    case 0x5f:
      // sk_live_, rk_test_, ghp_, github_pat_, hf_, npm_
      if (first === k) return second === s || second === r;
      if (first === t) return second === a && third === p;
      return (third === g && second === h) || (first === f && second === h) || (first === m && second === p);
    case z:
      // AIza
      return first === I && second === A && bytes[at + 1] === a;
    case J:
      // eyJ
      return first === y && second === e;
    default:
      // AKIA, ASIA
      return first === A && bytes[at + 1] === I && bytes[at + 2] === A;
  }
}
