/** Reads and writes recordings of applications: the calls that they sent, and the spans that they exported. */
import { readFile, writeFile } from "node:fs/promises";

/** A chat completion as it arrived. */
export interface RecordedCall {
  readonly traceparent: string | undefined;
  readonly body: string;
}

export interface Recording {
  /** Versions by package. */
  readonly packages: Readonly<Record<string, string>>;
  readonly calls: readonly RecordedCall[];
  /** OTLP/JSON requests, in order. */
  readonly exports: readonly unknown[];
}

function fileOf(name: string): URL {
  return new URL(`recordings/${name}.jsonl`, import.meta.url);
}

/** One line for the packages, then one for each call and export. */
export async function writeRecording(name: string, { calls, exports, packages }: Recording): Promise<void> {
  const lines = [{ packages }, ...calls.map((call) => ({ call })), ...exports.map((each) => ({ export: each }))];
  await writeFile(fileOf(name), `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`);
}

type Line =
  | { readonly packages: Recording["packages"] }
  | { readonly call: RecordedCall }
  | { readonly export: unknown };

export async function readRecording(name: string): Promise<Recording> {
  const lines = (await readFile(fileOf(name), "utf8")).trimEnd().split("\n");
  const parsed = lines.map((line) => JSON.parse(line) as Line);
  return {
    packages: parsed.flatMap((line) => ("packages" in line ? [line.packages] : []))[0]!,
    calls: parsed.flatMap((line) => ("call" in line ? [line.call] : [])),
    exports: parsed.flatMap((line) => ("export" in line ? [line.export] : [])),
  };
}

/** The export with all times moved, so that its last span ended now. */
export function endingNow(exported: unknown, lastEnd: bigint): unknown {
  const delta = BigInt(Date.now()) * 1_000_000n - lastEnd;
  return JSON.parse(JSON.stringify(exported), (key, value: unknown) =>
    isTime(key, value) ? String(BigInt(value) + delta) : value,
  );
}

/** When the last span ended, in nanoseconds. */
export function lastEndOf(exports: readonly unknown[]): bigint {
  let last = 0n;
  JSON.parse(JSON.stringify(exports), (key, value: unknown) => {
    if (isTime(key, value) && BigInt(value) > last) last = BigInt(value);
    return value;
  });
  return last;
}

function isTime(key: string, value: unknown): value is string {
  return key.endsWith("imeUnixNano") && typeof value === "string";
}
