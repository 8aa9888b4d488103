/** Where a page of an export ended, as text for the next request. */
import { exportedSignals, type ExportedSignal } from "../../api/observability-export.ts";
import { showValue } from "../../api/validate.ts";
import { AppError } from "../../errors.ts";
import type { TimeRange } from "../time-window.ts";

export interface ExportCursor {
  readonly signal: ExportedSignal;
  readonly project: string;
  readonly range: TimeRange;
  /** The last record's place in the signal's order: texts and decimal numbers. */
  readonly position: readonly string[];
}

export function encodeExportCursor({ position, project, range, signal }: ExportCursor): string {
  const parts = [signal, project, String(range.fromUnixNano), String(range.toUnixNano), ...position];
  return Buffer.from(JSON.stringify(parts)).toString("base64url");
}

/** @throws AppError invalid_request for a text that is no cursor */
export function decodeExportCursor(text: string): ExportCursor {
  const [signal, project, from, to, ...position] = listOf(text);
  const known = exportedSignals.find((each) => each === signal);
  if (known !== undefined && project !== undefined && isTime(from) && isTime(to) && position.length > 0)
    return { signal: known, project, range: { fromUnixNano: BigInt(from), toUnixNano: BigInt(to) }, position };
  throw invalidCursor(text);
}

export function invalidCursor(text: string): AppError {
  const message = `cursor is ${showValue(text)}; expected the x-next-cursor of a previous response.`;
  return new AppError("invalid_request", message, { param: "cursor" });
}

const largestTime = 2n ** 63n - 1n;
const largestId = 2n ** 64n - 1n;

/** Whether it is nanoseconds since 1970. */
export function isTime(text: string | undefined): text is string {
  return isUpTo(text, largestTime);
}

/** Whether it is an unsigned integer of 64 bits. */
export function isId(text: string | undefined): text is string {
  return isUpTo(text, largestId);
}

function isUpTo(text: string | undefined, largest: bigint): text is string {
  return text !== undefined && /^\d{1,20}$/.test(text) && BigInt(text) <= largest;
}

function listOf(text: string): string[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, "base64url").toString("utf8"));
    if (Array.isArray(value) && value.every((each) => typeof each === "string")) return value;
  } catch {
    // Then it is none.
  }
  return [];
}
