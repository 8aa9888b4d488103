/** Parses a JSON body: charges its memory first, and yields to other requests between steps. */
import { isAscii, isUtf8 } from "node:buffer";
import { AppError } from "../errors.ts";
import { rememberMembers } from "../json-members.ts";
import { isObject } from "../json-object.ts";
import type { MemoryCharge } from "../memory-budget.ts";
import { longStep, CooperativeYield } from "../scheduling/cooperative-yield.ts";
import { measureStep } from "../scheduling/main-thread-time.ts";
import { CutTexts, cutTexts } from "./json-outline.ts";
import { JsonScan } from "./json-scan.ts";

export interface JsonLimits {
  /** JSON values and member names in one body. */
  readonly maxValues: number;
  readonly charge: MemoryCharge;
}

export interface ParsedJson {
  readonly value: unknown;
  /** Present if long texts of the value are cut. */
  readonly texts?: CutTexts;
}

/** Upper bound of the heap that a parsed value or name takes; measured with empty objects, unique names and the like. */
const bytesPerValue = 96;
/** Bytes scanned between two checks of the clock. */
const scanStepBytes = 131_072;
/** From this size on, decoding and parsing get a time slice each. */
const largeBytes = 1_048_576;

/** Up to this size, a body is parsed in one step. */
const smallBytes = 16_384;

/**
 * @returns a promise for large bodies only
 * @throws AppError invalid_json, payload_too_large, or what the charge throws
 */
export function parseJson(bytes: Buffer, limits: JsonLimits): unknown {
  const parsing = parseOutline(bytes, limits);
  if (!(parsing instanceof Promise)) return parsing.value;
  return parsing.then(async ({ value, texts }) => {
    await texts?.restore();
    return value;
  });
}

/** The same, but a large body's long texts are cut. */
export function parseOutline(bytes: Buffer, limits: JsonLimits): ParsedJson | Promise<ParsedJson> {
  if (bytes.length === 0) throw new AppError("invalid_json", "The body is empty; expected a JSON object.");
  if (bytes.length > smallBytes) return parseLargeJson(bytes, limits);
  checkUtf8(bytes);
  return { value: measureStep("parse", () => parseSmallJson(bytes, limits)) };
}

function checkUtf8(bytes: Buffer): void {
  if (!isUtf8(bytes)) throw new AppError("invalid_json", "The body is not valid UTF-8.");
}

function parseSmallJson(bytes: Buffer, { charge, maxValues }: JsonLimits): unknown {
  const scan = new JsonScan(bytes, maxValues);
  scan.run(bytes.length);
  const textBytes = textSize(bytes);
  charge.add(textBytes * 2 + scan.values * bytesPerValue);
  try {
    return JSON.parse(bytes.toString("utf8")) as unknown;
  } catch (error) {
    throw notJson(error);
  } finally {
    charge.remove(textBytes);
  }
}

/** V8 stores text beyond Latin-1 with two bytes per character. */
function textSize(bytes: Buffer): number {
  return isAscii(bytes) ? bytes.length : bytes.length * 2;
}

async function parseLargeJson(bytes: Buffer, { charge, maxValues }: JsonLimits): Promise<ParsedJson> {
  const scan = new JsonScan(bytes, maxValues);
  const yielder = new CooperativeYield();
  for (let end = 0; end < bytes.length;) {
    end = Math.min(bytes.length, end + scanStepBytes);
    scan.run(end);
    if (yielder.isDue(longStep)) await yielder.yield();
  }
  const { isAscii: isPlain, longTexts } = scan;
  if (!isPlain) checkUtf8(bytes);
  // The parser says where the damage is.
  const isCut = longTexts.length > 0 && !scan.isDamaged;
  const outline = isCut ? await cutTexts(bytes, longTexts, yielder) : bytes;
  const textBytes = textSize(outline);
  charge.add(textBytes * 2 + scan.values * bytesPerValue);
  const isLarge = outline.length >= largeBytes;
  if (isLarge) await yielder.yield();
  const text = measureStep("decode", () => outline.toString("utf8"));
  if (isLarge) await yielder.yield();
  try {
    const value = measureStep("parse", () => JSON.parse(text) as unknown);
    if (isObject(value)) rememberMembers(bytes, scan.memberOffsets);
    return isCut ? { value, texts: new CutTexts(bytes, value, { longTexts, charge }) } : { value };
  } catch (error) {
    throw notJson(isCut ? errorOf(bytes) : error);
  } finally {
    charge.remove(textBytes);
  }
}

/** What the parser says of the whole text. */
function errorOf(bytes: Buffer): unknown {
  try {
    JSON.parse(bytes.toString("utf8"));
    return undefined;
  } catch (error) {
    return error;
  }
}

/** An error with the position of the first invalid character. */
function notJson(error: unknown): AppError {
  const where =
    error instanceof SyntaxError ? /at position \d+(?: \(line \d+ column \d+\))?/.exec(error.message)?.[0] : undefined;
  return new AppError(
    "invalid_json",
    `The body is not valid JSON${where === undefined ? "" : `: unexpected text ${where}`}.`,
    { cause: error },
  );
}
