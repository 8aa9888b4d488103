/**
 * Downloads one file: resumes earlier attempts, retries broken connections, verifies size and checksum, and only then moves
 * the file into place.
 */
import { createHash } from "node:crypto";
import { mkdir, open, readdir, rename, rm, stat, statfs, type FileHandle } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { AppError } from "../errors.ts";
import { networkFailure } from "../network/network-failure.ts";
import { proxyOf } from "../network/proxies.ts";
import { publishedBytes } from "./piper-voice.ts";
import { sha256Of } from "./file-checksum.ts";
import { explainNoResponse, NoResponse } from "./no-response.ts";
import { requestFile, type RemoteFileInfo, type RemoteFile } from "./remote-file.ts";

export interface DownloadProgress {
  readonly phase: "downloading" | "copying" | "verifying" | "converting";
  readonly doneBytes: number;
  /** Undefined until the server sends the size. */
  readonly totalBytes: number | undefined;
}

/** An attempt failed, and another follows. */
export interface DownloadRetry {
  readonly problem: string;
  readonly pauseMs: number;
  /** Of the next attempt, counted since the last progress; the first one is not a retry. */
  readonly attempt: number;
  readonly mostAttempts: number;
}

export interface DownloadOptions {
  readonly file: RemoteFile;
  readonly target: string;
  /** The expected checksum; default: the hub's, if it sends one. */
  readonly sha256: string | undefined;
  readonly signal: AbortSignal;
  onProgress?(progress: DownloadProgress): void;
  onRetry?(retry: DownloadRetry): void;
  /** Checks the complete file before it is moved into place; returns the problem, if any. */
  check?(path: string): Promise<string | undefined>;
  /** Pause before the first retry; it doubles with each retry. */
  readonly retryPauseMs?: number;
  /** Longest time without data from the server. */
  readonly idleTimeoutMs?: number;
  /** Maximum number of consecutive attempts without progress. */
  readonly attempts?: number;
}

const usualAttempts = 5;
const spareBytes = 64 * 2 ** 20;
/** Bytes between checks of the free space, if the size is unknown. */
const bytesPerLook = 64 * 2 ** 20;

async function sizeOf(path: string): Promise<number> {
  return stat(path).then(
    ({ size }) => size,
    () => 0,
  );
}

async function requireSpace(directory: string, neededBytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(directory);
  const freeBytes = bavail * bsize;
  if (freeBytes >= neededBytes + spareBytes) return;
  const gib = (bytes: number): string => (bytes / 2 ** 30).toFixed(2);
  throw new AppError(
    "upstream_failed",
    `The file needs ${gib(neededBytes)} GiB more, but only ${gib(freeBytes)} GiB are free on the disk of ${directory}. Free some space.`,
  );
}

/**
 * Metadata from the server before the download; none if it does not support HEAD. What keeps every request from an answer, such
 * as an unknown name or a refused certificate, is reported at once.
 */
async function askFacts({ file, signal }: DownloadOptions): Promise<RemoteFileInfo> {
  try {
    return await requestFile(file, { method: "HEAD", signal });
  } catch (error) {
    if (error instanceof AppError && (error.code === "not_found" || error.code === "permission_denied")) throw error;
    signal.throwIfAborted();
    if (error instanceof NoResponse && !error.failure.passing) explainNoResponse(error);
    return { sizeBytes: undefined, sha256: undefined, version: undefined };
  }
}

/** Path of the partial file, which depends on the file's version on the server. */
function partPath(target: string, { sha256, version }: RemoteFileInfo): string {
  const mark = createHash("sha256")
    .update(sha256 ?? version ?? "unknown")
    .digest("hex")
    .slice(0, 8);
  return join(dirname(target), `.${basename(target)}.${mark}.part`);
}

/** Removes unfinished files of the target, all but one. @returns how many */
export async function removeParts(target: string, except?: string): Promise<number> {
  const names = await readdir(dirname(target)).catch(() => []);
  const parts = names
    .filter((name) => name.startsWith(`.${basename(target)}.`) && name.endsWith(".part"))
    .map((name) => join(dirname(target), name))
    .filter((path) => path !== except);
  await Promise.all(parts.map((path) => rm(path, { force: true })));
  return parts.length;
}

function mustTryAgain(error: unknown, signal: AbortSignal): boolean {
  if (signal.aborted) return false;
  return !(error instanceof AppError) || error.code === "overloaded";
}

/** Appends the rest of the file; resolves when the response ends. */
async function fetchRest(options: DownloadOptions, handle: FileHandle, facts: RemoteFileInfo): Promise<RemoteFileInfo> {
  const idleTimeoutMs = options.idleTimeoutMs ?? 60_000;
  const idle = new AbortController();
  const timer = setTimeout(() => idle.abort(new Error(`no data arrived for ${idleTimeoutMs} ms`)), idleTimeoutMs);
  const signal = AbortSignal.any([options.signal, idle.signal]);
  try {
    let position = (await handle.stat()).size;
    if (facts.sizeBytes !== undefined && position === facts.sizeBytes && position > 0) return facts;
    const headers = position === 0 ? {} : { range: `bytes=${position}-` };
    const { response, ...answered } = await requestFile(options.file, { method: "GET", headers, signal });
    const start = /^bytes (\d+)-/.exec(response.headers.get("content-range") ?? "")?.[1];
    const fits =
      response.status === 206 &&
      Number(start) === position &&
      (facts.version === undefined || answered.version === facts.version);
    if (position > 0 && !fits) {
      await handle.truncate(0);
      position = 0;
      if (response.status !== 200) {
        await response.body?.cancel();
        throw new Error("the server did not resume the download at the requested position");
      }
    }
    const known = { ...facts, sizeBytes: facts.sizeBytes ?? answered.sizeBytes };
    for await (const chunk of response.body ?? []) {
      timer.refresh();
      if (known.sizeBytes !== undefined && position + chunk.length > known.sizeBytes)
        throw tooLong(options, known.sizeBytes);
      if (Math.floor((position + chunk.length) / bytesPerLook) > Math.floor(position / bytesPerLook))
        await requireSpace(dirname(options.target), 0);
      await handle.write(chunk, 0, chunk.length, position);
      position += chunk.length;
      options.onProgress?.({ phase: "downloading", doneBytes: position, totalBytes: known.sizeBytes });
    }
    return known;
  } finally {
    clearTimeout(timer);
  }
}

function tooLong({ file }: DownloadOptions, announced: number): AppError {
  return new AppError(
    "upstream_failed",
    `${new URL(file.url).host} declared ${announced} bytes but sent more; the download was stopped.`,
  );
}

/** Downloads until the file is complete, retrying as long as attempts make progress. */
async function fetchAll(options: DownloadOptions, part: string, facts: RemoteFileInfo): Promise<RemoteFileInfo> {
  await open(part, "a").then((created) => created.close());
  const handle = await open(part, "r+");
  try {
    // Without a version, an existing part may belong to an older file.
    if (facts.version === undefined && facts.sha256 === undefined) await handle.truncate(0);
    let known = facts;
    // A server that makes downloads restart must not count as progress.
    let longest = (await handle.stat()).size;
    let pauseMs = options.retryPauseMs ?? 1_000;
    const mostAttempts = options.attempts ?? usualAttempts;
    for (let fruitless = 0; ;) {
      let problem: unknown;
      try {
        known = await fetchRest(options, handle, known);
      } catch (error) {
        if (!mustTryAgain(error, options.signal)) throw error;
        problem = error;
      }
      const { size } = await handle.stat();
      if (size === 0 && problem instanceof NoResponse && !problem.failure.passing) explainNoResponse(problem);
      if (problem === undefined && (known.sizeBytes === undefined || size >= known.sizeBytes)) break;
      fruitless = size > longest ? 0 : fruitless + 1;
      longest = Math.max(longest, size);
      if (fruitless >= mostAttempts) throw interrupted(size, known.sizeBytes, { problem, options });
      const attempt = fruitless + 1;
      options.onRetry?.({ problem: describeProblem(problem, options), pauseMs, attempt, mostAttempts });
      await delay(pauseMs, undefined, { signal: options.signal });
      pauseMs = fruitless === 0 ? (options.retryPauseMs ?? 1_000) : pauseMs * 2;
    }
    await handle.sync();
    return known;
  } finally {
    await handle.close();
  }
}

/** A sentence without a full stop. */
function describeProblem(problem: unknown, { file }: DownloadOptions): string {
  if (problem === undefined) return "the server ended its response early";
  if (problem instanceof AppError) return problem.message.replace(/\.$/, "");
  if (problem instanceof NoResponse) return problem.failure.what;
  // A body that breaks off.
  if (problem instanceof TypeError) return networkFailure(problem, file.url, proxyOf(file.url, file.proxies)).what;
  return problem instanceof Error ? problem.message : "the connection broke";
}

function interrupted(
  size: number,
  total: number | undefined,
  { problem: cause, options }: { problem: unknown; options: DownloadOptions },
): AppError {
  if (cause instanceof AppError) return cause;
  const of = total === undefined ? "" : ` of ${total}`;
  return new AppError(
    "upstream_failed",
    `The download stopped after ${size}${of} bytes and could not be resumed: ${describeProblem(cause, options)}. Run the same command again to continue.`,
    { cause },
  );
}

/** Compares size and checksum, and lets the caller look. A file that is wrong is removed. */
async function verify(options: DownloadOptions, part: string, facts: RemoteFileInfo): Promise<string> {
  const { size } = await stat(part);
  const expected = options.sha256 ?? facts.sha256;
  const fail = async (problem: string): Promise<never> => {
    await rm(part, { force: true });
    throw new AppError("upstream_failed", `The downloaded file is invalid and was removed: ${problem}.`);
  };
  if (facts.sizeBytes !== undefined && size !== facts.sizeBytes)
    return fail(`it has ${size} bytes instead of ${facts.sizeBytes}`);
  let doneBytes = 0;
  const actual = await sha256Of(part, (count) => {
    doneBytes += count;
    options.onProgress?.({ phase: "verifying", doneBytes, totalBytes: size });
  });
  if (expected !== undefined && actual !== expected) return fail(`its SHA-256 is ${actual} instead of ${expected}`);
  const problem = await options.check?.(part);
  return problem === undefined ? actual : fail(problem);
}

export interface Downloaded {
  readonly sha256: string;
  readonly sizeBytes: number;
  /** Whether the file was there already and is the one on the server. */
  readonly alreadyThere: boolean;
}

async function presentFile(
  { target, sha256 }: DownloadOptions,
  facts: RemoteFileInfo,
): Promise<Downloaded | undefined> {
  const expected = sha256 ?? facts.sha256;
  const sizeBytes = await publishedBytes(target).catch(() => 0);
  if (sizeBytes === 0 || (expected === undefined && sizeBytes !== facts.sizeBytes)) return undefined;
  const actual = await sha256Of(target, () => {}, sizeBytes);
  return expected === undefined || actual === expected ? { sha256: actual, sizeBytes, alreadyThere: true } : undefined;
}

/**
 * Downloads the file to `target`.
 * @throws AppError not_found, permission_denied, overloaded or upstream_failed; the signal's reason when aborted
 */
export async function download(options: DownloadOptions): Promise<Downloaded> {
  const { target, signal } = options;
  signal.throwIfAborted();
  const facts = await askFacts(options);
  const present = await presentFile(options, facts);
  if (present !== undefined) return present;
  await mkdir(dirname(target), { recursive: true });
  const part = partPath(target, facts);
  await removeParts(target, part);
  if (facts.sizeBytes !== undefined) await requireSpace(dirname(target), facts.sizeBytes - (await sizeOf(part)));
  const known = await fetchAll(options, part, facts);
  const sha256 = await verify(options, part, known);
  const sizeBytes = await sizeOf(part);
  await rename(part, target);
  return { sha256, sizeBytes, alreadyThere: false };
}
