/** `printf` with the verbs and flags of Go's fmt package. https://pkg.go.dev/fmt#hdr-Printing */
import { formatFloat, formatValue } from "./format-value.ts";
import { typeName, type Value } from "./values.ts";

interface Flags {
  readonly plus: boolean;
  readonly minus: boolean;
  readonly sharp: boolean;
  readonly space: boolean;
  readonly zero: boolean;
  readonly width: number;
  /** -1 if absent. */
  readonly precision: number;
}

const directive = /%([+\-# 0]*)(\*|\d+)?(?:\.(\*|\d*))?(\p{Any})?/gu;
const largestSize = 1e6;

export function printf(format: string, values: readonly Value[]): string {
  let next = 0;
  const size = (text: string | undefined, missing: number): number | "bad" => {
    if (text === undefined) return missing;
    if (text !== "*") return Number(text) > largestSize ? "bad" : Number(text);
    const value = values[next++];
    return typeof value === "bigint" && value <= largestSize && value >= -largestSize ? Number(value) : "bad";
  };
  const text = format.replaceAll(
    directive,
    (_, flags: string, widthText: string | undefined, precisionText: string | undefined, verb: string | undefined) => {
      if (verb === undefined) return "%!(NOVERB)";
      let problem = "";
      let width = size(widthText, 0);
      if (width === "bad") {
        problem += "%!(BADWIDTH)";
        width = 0;
      }
      let precision = size(precisionText === "" ? "0" : precisionText, -1);
      if (precision === "bad") {
        problem += "%!(BADPREC)";
        precision = -1;
      }
      if (verb === "%") return `${problem}%`;
      if (next >= values.length) return `${problem}%!${verb}(MISSING)`;
      const minus = flags.includes("-") || width < 0;
      return (
        problem +
        formatVerb(verb, values[next++]!, {
          plus: flags.includes("+"),
          minus,
          sharp: flags.includes("#"),
          space: flags.includes(" "),
          zero: flags.includes("0") && !minus,
          width: Math.abs(width),
          precision,
        })
      );
    },
  );
  if (next >= values.length) return text;
  const extra = values
    .slice(next)
    .map((value) => (value === null ? "<nil>" : `${typeName(value)}=${formatValue(value)}`));
  return `${text}%!(EXTRA ${extra.join(", ")})`;
}

function formatVerb(verb: string, value: Value, flags: Flags): string {
  if (verb === "T") return pad(typeName(value), flags, false);
  if (verb === "v" && (value === null || typeof value === "object")) return pad(formatValue(value), flags, false);
  const text = formatPlain(verb, value, flags);
  if (text === undefined) {
    return value === null ? `%!${verb}(<nil>)` : `%!${verb}(${typeName(value)}=${formatValue(value)})`;
  }
  return pad(text, flags, typeof value === "bigint" || typeof value === "number");
}

/** undefined if the verb does not fit the value. */
function formatPlain(verb: string, value: Value, flags: Flags): string | undefined {
  switch (typeof value) {
    case "string":
      return formatText(verb, value, flags);
    case "bigint":
      return formatInteger(verb, value, flags);
    case "number":
      return formatNumber(verb, value, flags);
    case "boolean":
      return verb === "t" || verb === "v" ? String(value) : undefined;
    default:
      return verb === "s" && value !== null ? formatValue(value) : undefined;
  }
}

function formatText(verb: string, value: string, { precision, sharp, space }: Flags): string | undefined {
  const cut = precision < 0 ? value : Array.from(value).slice(0, precision).join("");
  switch (verb) {
    case "s":
    case "v":
      return sharp && verb === "v" ? quote(cut) : cut;
    case "q":
      return sharp && !cut.includes("`") ? `\`${cut}\`` : quote(cut);
    case "x":
    case "X": {
      const hex = Buffer.from(cut)
        .toString("hex")
        .replaceAll(/../g, (byte) => (space ? `${byte} ` : byte))
        .trimEnd();
      return verb === "X" ? hex.toUpperCase() : hex;
    }
    default:
      return undefined;
  }
}

/** A text in double quotes, as Go writes it. */
function quote(text: string): string {
  return `"${text.replaceAll(/["\\\p{C}\u2028\u2029\u00A0]/gu, (character) => escapeCharacter(character))}"`;
}

const shortEscapes: Readonly<Record<string, string>> = {
  '"': String.raw`\"`,
  "\\": "\\\\",
  "\u0007": String.raw`\a`,
  "\b": String.raw`\b`,
  "\f": String.raw`\f`,
  "\n": String.raw`\n`,
  "\r": String.raw`\r`,
  "\t": String.raw`\t`,
  "\v": String.raw`\v`,
};

function escapeCharacter(character: string): string {
  const short = shortEscapes[character];
  if (short !== undefined) return short;
  const codePoint = character.codePointAt(0)!;
  const hex = codePoint.toString(16);
  if (codePoint < 0x80) return `\\x${hex.padStart(2, "0")}`;
  return codePoint > 0xffff ? `\\U${hex.padStart(8, "0")}` : `\\u${hex.padStart(4, "0")}`;
}

const bases: Readonly<Record<string, [base: number, prefix: string]>> = {
  b: [2, "0b"],
  o: [8, "0"],
  O: [8, "0o"],
  d: [10, ""],
  v: [10, ""],
  x: [16, "0x"],
  X: [16, "0X"],
};

function formatInteger(verb: string, value: bigint, flags: Flags): string | undefined {
  if (verb === "c") return character(value);
  if (verb === "q") return `'${character(value)}'`;
  if (verb === "U") return `U+${value.toString(16).toUpperCase().padStart(4, "0")}`;
  const notation = bases[verb];
  if (notation === undefined) return undefined;
  const [base, prefix] = notation;
  let digits = (value < 0n ? -value : value).toString(base).padStart(Math.max(flags.precision, 0), "0");
  if (verb === "X") digits = digits.toUpperCase();
  if (verb === "O" || (flags.sharp && prefix !== "")) digits = prefix + digits;
  return withSign(value < 0n, digits, flags);
}

function character(value: bigint): string {
  return value >= 0n && value <= 0x10_ffffn ? String.fromCodePoint(Number(value)) : "\uFFFD";
}

function formatNumber(verb: string, value: number, flags: Flags): string | undefined {
  const lowered = verb.toLowerCase();
  const kind = lowered === "v" ? "g" : lowered;
  if ((kind !== "e" && kind !== "f" && kind !== "g") || verb === "V") return undefined;
  const precision = flags.precision < 0 && kind !== "g" ? 6 : flags.precision;
  const text = formatFloat(value, kind, precision);
  const isNegative = text.startsWith("-");
  const magnitude = text.replace(/^[+-]/, "");
  return withSign(isNegative, verb === "E" || verb === "G" ? magnitude.toUpperCase() : magnitude, flags);
}

function withSign(isNegative: boolean, digits: string, { plus, space }: Flags): string {
  if (isNegative) return `-${digits}`;
  if (plus || digits === "Inf") return `+${digits}`;
  return space ? ` ${digits}` : digits;
}

function pad(text: string, { minus, width, zero }: Flags, isNumber: boolean): string {
  const missing = width - Array.from(text).length;
  if (missing <= 0) return text;
  if (minus) return text + " ".repeat(missing);
  if (!zero || !(isNumber ? /\d/.test(text) : true)) return " ".repeat(missing) + text;
  const sign = isNumber && /^[+\- ]/.test(text) ? text[0]! : "";
  return sign + "0".repeat(missing) + text.slice(sign.length);
}
