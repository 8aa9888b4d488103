/** Builds grammars of strings and numbers from the keywords of JSON Schema. */
import { AppError } from "../../../errors.ts";
import type { Grammar } from "./grammar.ts";
import type { SchemaReader } from "./schema-node.ts";
import { integer, maximumDigits, number, stringOf } from "./json-text.ts";
import { integersBetween, numbersBetween } from "./number-range.ts";
import { PatternError, stringMatching } from "./pattern.ts";

/** Formats as patterns: narrower than the standards where these allow odd forms. https://json-schema.org/draft/2020-12/json-schema-validation#section-7.3 */
const date =
  "(?:19|20)[0-9]{2}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-9]|1[0-9]|2[0-8]))";
const time = "(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\\.[0-9]{1,9})?(?:Z|[+-](?:0[0-9]|1[0-3]):[0-5][0-9])";
const byteNumber = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])";
const formats: Readonly<Record<string, string>> = {
  date: `^${date}$`,
  time: `^${time}$`,
  "date-time": `^${date}T${time}$`,
  uuid: "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$",
  ipv4: `^${byteNumber}(?:\\.${byteNumber}){3}$`,
  email: "^[A-Za-z0-9_]{1,32}(?:[.-][A-Za-z0-9_]{1,16}){0,2}@[a-z0-9]{1,32}(?:-[a-z0-9]{1,16})?\\.[a-z]{2,10}$",
};

/** The values of a minimum and a maximum keyword, 0 and Infinity where absent. */
export function bounds(reader: SchemaReader, least: string, most: string): [minimum: number, maximum: number] {
  const minimum = reader.number(least) ?? 0;
  const maximum = reader.number(most) ?? Infinity;
  if (
    minimum < 0 ||
    maximum < minimum ||
    !Number.isInteger(minimum) ||
    (maximum !== Infinity && !Number.isInteger(maximum))
  ) {
    throw new AppError("invalid_request", `${least} ${minimum} and ${most} ${maximum} allow no value.`, {
      param: least,
    });
  }
  return [minimum, maximum];
}

function matching(reader: SchemaReader, keyword: string, pattern: string): Grammar | undefined {
  if (reader.schema["minLength"] !== undefined || reader.schema["maxLength"] !== undefined) {
    reader.refuse(keyword, "not together with minLength or maxLength");
    return undefined;
  }
  try {
    return stringMatching(pattern);
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    reader.refuse(keyword, `${JSON.stringify(pattern)} ${error.message}`);
    return undefined;
  }
}

export function stringGrammar(reader: SchemaReader): Grammar {
  const { pattern, format } = reader.schema;
  if (pattern !== undefined && format !== undefined) reader.refuse("format", "not together with pattern");
  if (typeof pattern === "string") {
    const grammar = matching(reader, "pattern", pattern);
    if (grammar !== undefined) return grammar;
  } else if (format !== undefined) {
    const known = typeof format === "string" ? formats[format] : undefined;
    if (known === undefined)
      reader.refuse("format", `${JSON.stringify(format)} is not one of ${Object.keys(formats).join(", ")}`);
    const grammar = known === undefined ? undefined : matching(reader, "format", known);
    if (grammar !== undefined) return grammar;
  }
  return stringOf(...bounds(reader, "minLength", "maxLength"));
}

interface NumberBounds {
  readonly minimum: number;
  readonly maximum: number;
  readonly exclusiveMinimum: number;
  readonly exclusiveMaximum: number;
}

function numberBounds(reader: SchemaReader): NumberBounds | undefined {
  const keywords = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"] as const;
  if (keywords.every((keyword) => reader.schema[keyword] === undefined)) return undefined;
  return {
    minimum: reader.number("minimum") ?? -Infinity,
    maximum: reader.number("maximum") ?? Infinity,
    exclusiveMinimum: reader.number("exclusiveMinimum") ?? -Infinity,
    exclusiveMaximum: reader.number("exclusiveMaximum") ?? Infinity,
  };
}

function requireSome(low: number, high: number): void {
  const largest = 10 ** maximumDigits;
  if (low <= high && low < largest && high > -largest) return;
  throw new AppError("invalid_request", `No number of up to ${maximumDigits} digits lies between ${low} and ${high}.`, {
    param: "minimum",
  });
}

export function integerGrammar(reader: SchemaReader): Grammar {
  const limits = numberBounds(reader);
  if (limits === undefined) return integer;
  const low = Math.max(Math.ceil(limits.minimum), Math.floor(limits.exclusiveMinimum) + 1);
  const high = Math.min(Math.floor(limits.maximum), Math.ceil(limits.exclusiveMaximum) - 1);
  requireSome(low, high);
  return integersBetween(low, high);
}

export function numberGrammar(reader: SchemaReader): Grammar {
  const limits = numberBounds(reader);
  if (limits === undefined) return number;
  for (const keyword of ["exclusiveMinimum", "exclusiveMaximum"] as const) {
    if (reader.schema[keyword] !== undefined)
      reader.refuse(keyword, "supported only for integers; use an inclusive bound");
  }
  for (const keyword of ["minimum", "maximum"] as const) {
    const value = reader.number(keyword);
    if (value !== undefined && !Number.isInteger(value)) reader.refuse(keyword, `${value} is not a whole number`);
  }
  const low = Math.ceil(limits.minimum);
  const high = Math.floor(limits.maximum);
  requireSome(low, high);
  return numbersBetween(low, high);
}
