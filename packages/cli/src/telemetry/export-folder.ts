/**
 * A folder of exported telemetry: `PROJECT/SIGNAL.jsonl` with an export request of OTLP per line, and `export.json`, which says
 * what is exported and how far, so that an interrupted export continues where it was.
 */
import { mkdir, open, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { CliError } from "../cli-error.ts";
import { exitCodes } from "../exit-codes.ts";

export const signals = ["traces", "logs", "metrics"] as const;
export type Signal = (typeof signals)[number];

/** One file. */
export interface ExportedFile {
  readonly project: string;
  readonly signal: Signal;
  /** Bytes that are complete; what follows them is of an interrupted page. */
  readonly bytes: number;
  /** Where the next page begins; null at the beginning and at the end. */
  readonly cursor: string | null;
  readonly isComplete: boolean;
}

export interface ExportState {
  readonly format: 1;
  /** The server's address. */
  readonly url: string;
  readonly start: string;
  readonly end: string;
  readonly files: readonly ExportedFile[];
}

const stateFile = "export.json";

/** Undefined if the folder has none. @throws CliError if it cannot be read */
export async function readExportState(folder: string): Promise<ExportState | undefined> {
  const path = join(folder, stateFile);
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new CliError(`${path} cannot be read: ${(error as Error).message}`, exitCodes.failed, { cause: error });
  }
  const state = parse(text);
  if (state?.format === 1 && Array.isArray(state.files) && state.files.every(isFile)) return state;
  throw new CliError(`${path} is not the state of an export of this version`, exitCodes.failed);
}

function parse(text: string): ExportState | undefined {
  try {
    return JSON.parse(text) as ExportState;
  } catch {
    return undefined;
  }
}

/** Names of projects become names of folders only if they are encoded. */
function isFile(value: unknown): value is ExportedFile {
  const { bytes, project, signal } = value as Partial<ExportedFile>;
  return typeof project === "string" && signals.includes(signal!) && Number.isSafeInteger(bytes);
}

/** Replaces the file at once, so that it is never half-written. */
export async function writeExportState(folder: string, state: ExportState): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, stateFile);
  await writeFile(`${path}.new`, `${JSON.stringify(state, undefined, 2)}\n`, { mode: 0o600, flush: true });
  await rename(`${path}.new`, path);
}

/** Characters that file systems treat differently are encoded, as in URLs. */
export function pathOfFile(folder: string, { project, signal }: Pick<ExportedFile, "project" | "signal">): string {
  const name = encodeURIComponent(project).replaceAll(
    /[.*'()!~]/g,
    (character) => `%${character.charCodeAt(0).toString(16)}`,
  );
  return join(folder, name, `${signal}.jsonl`);
}

/** Writes a page after the complete bytes, to the disk. @returns the file's size */
export async function appendPage(path: string, bytes: number, page: Uint8Array): Promise<number> {
  await mkdir(join(path, ".."), { recursive: true, mode: 0o700 });
  await using file = await open(path, "a", 0o600);
  await file.truncate(bytes);
  await file.write(page);
  await file.sync();
  return bytes + page.length;
}
