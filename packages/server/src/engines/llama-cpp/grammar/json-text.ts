/** Defines the grammars of JSON's own syntax. https://www.rfc-editor.org/rfc/rfc8259 */
import { codePointOf, complement, contains, intersection, union, type CodePoints } from "./code-points.ts";
import {
  anyByteOf,
  byteRange,
  choice,
  literal,
  optional,
  reference,
  repeat,
  separated,
  sequence,
  type Grammar,
} from "./grammar.ts";

const space = byteRange(0x20, 0x20);
const newline = byteRange(0x0a, 0x0a);

/** White space as models write it: none, a space, or a new line with indentation; bounded, so that it must end. */
export const whiteSpace: Grammar = optional(choice(space, sequence(newline, repeat(space, 0, 40))));

export const comma = sequence(literal(","), whiteSpace);
export const digit = byteRange(0x30, 0x39);
const digitNotZero = byteRange(0x31, 0x39);

/** Numbers keep to what a double can hold: at most this many digits before the point, as many behind it. */
export const maximumDigits = 15;

const wholeNumber = choice(literal("0"), sequence(digitNotZero, repeat(digit, 0, maximumDigits - 1)));
export const fraction = optional(sequence(literal("."), repeat(digit, 1, maximumDigits)));
const exponent = optional(
  sequence(choice(literal("e"), literal("E")), optional(choice(literal("+"), literal("-"))), repeat(digit, 1, 2)),
);

export const integer: Grammar = sequence(optional(literal("-")), wholeNumber);
export const number: Grammar = sequence(integer, fraction, exponent);
export const boolean: Grammar = choice(literal("true"), literal("false"));

const controls: CodePoints = [[0, 0x1f]];
/** Characters that need no escape in a string. */
const rawCharacters = complement(union(controls, [[0x22, 0x22]], [[0x5c, 0x5c]]));
const shortEscapes: Readonly<Record<string, string>> = {
  '"': '\\"',
  "\\": "\\\\",
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
};

function escapesOf(set: CodePoints): Grammar[] {
  const codePoints = [...Array(0x20).keys(), 0x22, 0x5c].filter((codePoint) => contains(set, codePoint));
  return codePoints.map((codePoint) =>
    literal(shortEscapes[String.fromCodePoint(codePoint)] ?? `\\u${codePoint.toString(16).padStart(4, "0")}`),
  );
}

/** One character of the set, as written inside a JSON string. */
export function characterOf(set: CodePoints): Grammar {
  const raw = intersection(set, rawCharacters);
  return choice(...(raw.length === 0 ? [] : [codePointOf(raw)]), ...escapesOf(set));
}

const hexadecimal = choice(digit, byteRange(0x61, 0x66), byteRange(0x41, 0x46));
/** The four digits of `\uXXXX`, of anything but a surrogate. */
const unicodeDigits = choice(
  sequence(
    choice(digit, byteRange(0x61, 0x63), byteRange(0x41, 0x43), byteRange(0x65, 0x66), byteRange(0x45, 0x46)),
    hexadecimal,
    hexadecimal,
    hexadecimal,
  ),
  sequence(choice(literal("d"), literal("D")), byteRange(0x30, 0x37), hexadecimal, hexadecimal),
);
const anyCharacter = choice(
  codePointOf(rawCharacters),
  sequence(literal("\\"), choice(anyByteOf('"\\/bfnrt'), sequence(literal("u"), unicodeDigits))),
);

/** A string of `minimum` to `maximum` code points. */
export function stringOf(minimum = 0, maximum: number = Infinity): Grammar {
  return sequence(literal('"'), repeat(anyCharacter, minimum, maximum), literal('"'));
}

export function arrayOf(item: Grammar, minimum = 0, maximum: number = Infinity): Grammar {
  return sequence(literal("["), whiteSpace, separated(item, comma, minimum, maximum), whiteSpace, literal("]"));
}

/** `"name": value`, with the name given as a grammar of its JSON text. */
export function member(name: Grammar, value: Grammar): Grammar {
  return sequence(name, literal(":"), whiteSpace, value);
}

/** An object of any names with values of one kind. */
export function mapOf(value: Grammar): Grammar {
  const pairs = separated(member(stringOf(), value), comma, 0, Infinity);
  return sequence(literal("{"), whiteSpace, pairs, whiteSpace, literal("}"));
}

export const anyValue: Grammar = reference(() => anyValueAlternatives);
export const anyObject: Grammar = mapOf(anyValue);
const anyValueAlternatives = choice(stringOf(), number, boolean, literal("null"), arrayOf(anyValue), anyObject);
