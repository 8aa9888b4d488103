/**
 * Declares limits on input: a fixed limit where the code enforces it, a configurable one on its setting. The page
 * docs/reference/limits.md is generated from both.
 */
import type { ErrorCode } from "./errors.ts";

/** The headings of the page, in order. */
export const limitAreas = [
  "HTTP",
  "Forms and uploads",
  "Chat completions",
  "Speech",
  "Transcription and audio",
  "Embeddings",
  "OpenTelemetry data",
  "Logs, traces and metrics",
  "PromQL",
  "LogQL",
  "TraceQL",
  "Alerts",
  "Requests, tokens and cost",
  "Administration",
  "Configuration and model files",
] as const;
export type LimitArea = (typeof limitAreas)[number];

/** What happens to input beyond a limit: an error of the table in `errors.ts`, or the described effect. */
export type LimitOutcome = ErrorCode | { readonly instead: string };

/** An entry of the page. */
export interface LimitEntry {
  readonly area: LimitArea;
  /** What the number counts, without the number: "Levels of nesting of a JSON body". */
  readonly bounds: string;
  readonly error: LimitOutcome;
}

/** A limit without a setting. */
export interface FixedLimit extends LimitEntry {
  readonly value: number;
  /** Absent for plain counts. */
  readonly unit?: "bytes" | "ms" | "seconds" | "Hz" | "characters";
}

const fixedLimits: FixedLimit[] = [];

/**
 * Declares a fixed limit and returns its number. Call it at the top level of a module without side effects:
 * the generator imports every module that declares limits.
 */
export function inputLimit(limit: FixedLimit): number {
  fixedLimits.push(limit);
  return limit.value;
}

/** The limits of all imported modules. */
export function declaredLimits(): readonly FixedLimit[] {
  return fixedLimits;
}

/** The option of a setting that bounds input. */
export interface SettingLimit {
  readonly inputLimit: Omit<LimitEntry, "bounds">;
}

/** Marks a setting as a limit on input; belongs in the options of its schema. */
export function limitsInput(area: LimitArea, error: LimitOutcome): SettingLimit {
  return { inputLimit: { area, error } };
}
