/** Reads quantities with units: `10 kg`, `60mph`, `32°F`, `5'10"`, `50%`, `3x4`. */
import { magnitudes, numberPattern, numberWords } from "./numbers.ts";
import { adjacent, one, say, type Reading, type Sentence } from "./tokens.ts";
import type { Rewrite } from "../spoken-text.ts";

/** One and several of a unit; those marked `attached` only right after the number, because they are also words or names. */
interface Unit {
  readonly unit: string;
  readonly units: string;
  readonly attached?: true;
}

/** Letters that are also names or other words. */
const attachedOnly = new Set(["l", "V", "W"]);

const units: Readonly<Record<string, Unit>> = {
  ...regular({
    µg: "microgram",
    mcg: "microgram",
    mg: "milligram",
    g: "gram",
    kg: "kilogram",
    lb: "pound",
    lbs: "pound",
    oz: "ounce",
  }),
  ...regular({
    nm: "nanometer",
    µm: "micrometer",
    mm: "millimeter",
    cm: "centimeter",
    dm: "decimeter",
    m: "meter",
    km: "kilometer",
    mi: "mile",
    yd: "yard",
  }),
  ...regular({
    µl: "microliter",
    µL: "microliter",
    ml: "milliliter",
    mL: "milliliter",
    cl: "centiliter",
    cL: "centiliter",
    dl: "deciliter",
    dL: "deciliter",
    hl: "hectoliter",
    hL: "hectoliter",
    l: "liter",
    L: "liter",
    gal: "gallon",
  }),
  ...regular({ ms: "millisecond", µs: "microsecond", ns: "nanosecond" }),
  ...regular({
    sec: "second",
    secs: "second",
    min: "minute",
    mins: "minute",
    hr: "hour",
    hrs: "hour",
    yr: "year",
    yrs: "year",
  }),
  ...regular({
    bit: "bit",
    kB: "kilobyte",
    KB: "kilobyte",
    MB: "megabyte",
    GB: "gigabyte",
    TB: "terabyte",
    PB: "petabyte",
  }),
  ...regular({ KiB: "kibibyte", MiB: "mebibyte", GiB: "gibibyte", TiB: "tebibyte" }),
  ...regular({
    W: "watt",
    kW: "kilowatt",
    MW: "megawatt",
    GW: "gigawatt",
    Wh: "watt hour",
    kWh: "kilowatt hour",
    MWh: "megawatt hour",
  }),
  ...regular({ V: "volt", mV: "millivolt", kV: "kilovolt", mA: "milliamp", mAh: "milliamp hour", Ω: "ohm" }),
  ...regular({
    kJ: "kilojoule",
    kcal: "kilocalorie",
    cal: "calorie",

    dB: "decibel",
    px: "pixel",
    ha: "hectare",
  }),
  ...invariable({
    Hz: "hertz",
    kHz: "kilohertz",
    MHz: "megahertz",
    GHz: "gigahertz",
    Pa: "pascals",
    hPa: "hectopascals",
    kPa: "kilopascals",
    MPa: "megapascals",
  }),
  ...invariable({
    mph: "miles per hour",
    kph: "kilometers per hour",
    rpm: "R-P-M",
    fps: "frames per second",
    psi: "P-S-I",
  }),
  ...invariable({ kbps: "kilobits per second", Mbps: "megabits per second", Gbps: "gigabits per second" }),
  "%": { unit: "percent", units: "percent" },
  "‰": { unit: "per mille", units: "per mille" },
  ft: { unit: "foot", units: "feet" },
  sqft: { unit: "square foot", units: "square feet" },
  "°": { unit: "degree", units: "degrees" },
  "°C": { unit: "degree Celsius", units: "degrees Celsius" },
  "°F": { unit: "degree Fahrenheit", units: "degrees Fahrenheit" },
  "℃": { unit: "degree Celsius", units: "degrees Celsius" },
  "℉": { unit: "degree Fahrenheit", units: "degrees Fahrenheit" },
  "°N": { unit: "degree north", units: "degrees north" },
  "°S": { unit: "degree south", units: "degrees south" },
  "°E": { unit: "degree east", units: "degrees east" },
  "°W": { unit: "degree west", units: "degrees west" },
  s: { unit: "second", units: "seconds", attached: true },
  h: { unit: "hour", units: "hours", attached: true },
  in: { unit: "inch", units: "inches", attached: true },
};
const powers: Readonly<Record<string, string>> = { "²": "square ", "³": "cubic " };

function regular(names: Readonly<Record<string, string>>): Record<string, Unit> {
  return Object.fromEntries(
    Object.entries(names).map(([key, unit]) => [
      key,
      { unit, units: `${unit}s`, ...(attachedOnly.has(key) ? { attached: true as const } : {}) },
    ]),
  );
}

function invariable(names: Readonly<Record<string, string>>): Record<string, Unit> {
  return Object.fromEntries(Object.entries(names).map(([key, unit]) => [key, { unit, units: unit }]));
}

const sign = "[-−+±~≈<>≤≥]?";
const quantity = new RegExp(`^(${sign})(${numberPattern})(?:([-–x×])(${numberPattern}))?([A-Za-z%‰°º℃℉µμΩ²³/]{1,9})$`);
const bare = new RegExp(`^(${sign})(${numberPattern})(?:[-–](${numberPattern}))?$`);
const feetAndInches = /^(\d{1,4})['′’](\d{1,2}(?:\.\d{1,3})?)["″”]?$/;
const primed = /^(\d{1,4})([′″])$/;
const dimensions = new RegExp(`^(${numberPattern})[x×](${numberPattern})(?:[x×](${numberPattern}))?$`);
const signs: Readonly<Record<string, string>> = {
  "-": "minus ",
  "−": "minus ",
  "+": "plus ",
  "±": "plus or minus ",
  "~": "about ",
  "≈": "about ",
  "<": "less than ",
  ">": "more than ",
  "≤": "at most ",
  "≥": "at least ",
};

export function signWords(text: string): string {
  return signs[text] ?? "";
}

export function readMeasure(sentence: Sentence, index: number): Reading | undefined {
  return withUnit(sentence, index) ?? beforeUnit(sentence, index) ?? heightOrArea(sentence, index);
}

function withUnit({ tokens, british }: Sentence, index: number): Reading | undefined {
  const token = tokens[index]!;
  const [, minus, first, between, second, name] = quantity.exec(token.text) ?? [];
  if (first === undefined) return undefined;
  const unit = unitWords(name!, (second ?? first) === "1");
  const words = `${signWords(minus!)}${numberWords(first, british)}`;
  const joined = between === "x" || between === "×" ? "by" : "to";
  const more = second === undefined ? "" : ` ${joined} ${numberWords(second, british)}`;
  if (unit !== undefined) return one(token, `${words}${more} ${unit}`);
  const scale = /^(?:[kKMB]|bn)$/.test(name!) && !/^\d[BK]$/.test(token.text) ? magnitudes[name!] : undefined;
  return scale === undefined ? undefined : one(token, `${words}${more} ${scale}`);
}

/** A number and its unit, apart: each is read for itself. */
function beforeUnit(sentence: Sentence, index: number): Reading | undefined {
  const token = sentence.tokens[index]!;
  const [, minus, first, second] = bare.exec(token.text) ?? [];
  const next = adjacent(sentence, index);
  if (first === undefined || next === undefined) return undefined;
  const isOne = (second ?? first) === "1";
  const square = /^(?:sq|cu)$/.test(next.text) ? sentence.tokens[index + 2] : undefined;
  const named = square === undefined ? unitWords(next.text, isOne, true) : unitWords(square.text, isOne, true);
  const isInch = next.text === "in" && (next.after.startsWith(".") || sentence.tokens[index - 1]?.text === "ft");
  const unit = isInch ? (isOne ? "inch" : "inches") : named;
  if (unit === undefined) return undefined;
  const number = `${signWords(minus!)}${numberWords(first, sentence.british)}`;
  const words = second === undefined ? number : `${number} to ${numberWords(second, sentence.british)}`;
  const rewrites = [say(token, words)];
  if (square !== undefined) rewrites.push(say(next, next.text === "sq" ? "square" : "cubic"));
  rewrites.push(unitRewrite(sentence, index + rewrites.length, unit));
  return { rewrites, count: rewrites.length };
}

/** The full stop of `min.` and `in.` belongs to the unit inside a sentence. */
function unitRewrite({ tokens }: Sentence, index: number, spoken: string): Rewrite {
  const token = tokens[index]!;
  const dotted = token.after === "." && index < tokens.length - 1 && /^[a-z]+$/.test(token.text);
  return { start: token.start, end: token.end + (dotted ? 1 : 0), spoken };
}

/** `kg`, `m²`, `km/h`. */
export function unitWords(name: string, isOne: boolean, apart = false): string | undefined {
  const [main = "", ...below] = name.split("/");
  if (below.length > 1) return undefined;
  const over = below.length === 0 ? "" : simpleUnit(below[0]!, true, false);
  const words = simpleUnit(main, isOne, apart && below.length === 0);
  return over === undefined || words === undefined ? undefined : over === "" ? words : `${words} per ${over}`;
}

function simpleUnit(written: string, isOne: boolean, apart: boolean): string | undefined {
  // The Greek letter, and the sign of an ordinal that keyboards have.
  const name = written.replace("μ", "µ").replace("º", "°");
  const power = powers[name.at(-1) ?? ""];
  const key = power === undefined ? name : name.slice(0, -1);
  const unit = Object.hasOwn(units, key) ? units[key]! : undefined;
  if (unit === undefined || (apart && unit.attached === true)) return undefined;
  return `${power ?? ""}${isOne ? unit.unit : unit.units}`;
}

function heightOrArea({ tokens, british }: Sentence, index: number): Reading | undefined {
  const token = tokens[index]!;
  const area = dimensions.exec(token.text);
  if (area !== null && !token.text.startsWith("0x")) {
    const sides = area.slice(1).filter((side) => side !== undefined);
    return one(token, sides.map((side) => numberWords(side, british)).join(" by "));
  }
  const [, feet, inches] = feetAndInches.exec(token.text) ?? [];
  if (inches !== undefined) {
    const end = token.end + (/^["”]/.test(token.after) ? 1 : 0);
    const spoken = `${lengthWords(feet!, foot)} ${lengthWords(inches, inch)}`;
    return { rewrites: [{ start: token.start, end, spoken }], count: 1 };
  }
  const [, number, prime] = primed.exec(token.text) ?? [];
  if (number === undefined) return undefined;
  // 90° 5′ 30″ is an angle.
  const isAngle = tokens[index - (prime === "′" ? 1 : 2)]?.text.endsWith("°") === true;
  const [wide, narrow] = isAngle ? [minute, second] : [foot, inch];
  return one(token, lengthWords(number, prime === "′" ? wide : narrow));
}

const foot = ["foot", "feet"] as const;
const inch = ["inch", "inches"] as const;
const minute = ["minute", "minutes"] as const;
const second = ["second", "seconds"] as const;

function lengthWords(number: string, [unit, units]: readonly [string, string]): string {
  return `${numberWords(number)} ${number === "1" ? unit : units}`;
}
