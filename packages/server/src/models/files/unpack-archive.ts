/** Unpacks a tar archive into a new folder: files and folders alone, nothing outside, nothing that does not fit. */
import { spawn } from "node:child_process";
import { createReadStream } from "node:fs";
import { mkdir, readdir, rename, rm, statfs } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ReadEntry } from "tar";
import { AppError } from "../../errors.ts";
import { isSafePath, type ArchiveSource } from "./model-source.ts";

interface UnpackOptions {
  readonly archive: string;
  /** The folder that comes to be, in place of one that is there: the archive's own if it has just one. */
  readonly target: string;
  readonly compression: ArchiveSource["compression"];
  readonly signal: AbortSignal;
}

const mostEntries = 100_000;
const spareBytes = 64 * 2 ** 20;

function unusable(problem: string, cause?: unknown): AppError {
  return new AppError(
    "upstream_failed",
    `The archive cannot be used: ${problem}.`,
    cause === undefined ? {} : { cause },
  );
}

/**
 * @throws AppError upstream_failed; the signal's reason when it aborts. Then nothing of it is there.
 */
export async function unpackArchive({ archive, target, compression, signal }: UnpackOptions): Promise<void> {
  const folder = join(dirname(target), `.${target.split(/[\\/]/).at(-1)}.unpacking`);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const { bavail, bsize } = await statfs(folder);
  try {
    await extractAll(compression === "bzip2" ? bunzip(archive, signal) : createReadStream(archive), {
      folder,
      mostBytes: bavail * bsize - spareBytes,
      signal,
    });
    const [only, ...others] = await readdir(folder, { withFileTypes: true });
    if (only === undefined) throw unusable("nothing is in it");
    const whole = others.length === 0 && only.isDirectory() ? join(folder, only.name) : folder;
    await rm(target, { recursive: true, force: true });
    await rename(whole, target);
  } finally {
    // Of an archive that was refused some files may still be on their way.
    await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  }
}

async function extractAll(
  packed: Readable,
  { folder, mostBytes, signal }: { folder: string; mostBytes: number; signal: AbortSignal },
): Promise<void> {
  let refusal: AppError | undefined;
  let entries = 0;
  let bytes = 0;
  const problemOf = ({ path, type, size }: ReadEntry): string | undefined => {
    entries++;
    bytes += size;
    if (type !== "File" && type !== "OldFile" && type !== "ContiguousFile" && type !== "Directory") {
      return `${JSON.stringify(path)} is a ${type}, not a file or folder`;
    }
    if (!isSafePath(path.replace(/^\.\//, "").replace(/\/$/, "").split("/")) && path !== "./") {
      return `${JSON.stringify(path)} is a path that leads elsewhere`;
    }
    if (entries > mostEntries) return `it has more than ${mostEntries} files`;
    return bytes > mostBytes ? "it needs more space than the disk has" : undefined;
  };
  const { extract } = await import("tar");
  const unpack = extract({
    cwd: folder,
    strict: true,
    filter: (_path, entry) => {
      const problem = problemOf(entry as ReadEntry);
      if (problem !== undefined) refusal ??= unusable(problem);
      return refusal === undefined;
    },
  });
  try {
    await pipeline(packed, unpack as unknown as NodeJS.WritableStream, { signal });
  } catch (error) {
    signal.throwIfAborted();
    throw refusal ?? (error instanceof AppError ? error : unusable("it is damaged", error));
  }
  if (refusal !== undefined) throw refusal;
}

/** What the program bzip2 makes of the file. */
function bunzip(archive: string, signal: AbortSignal): Readable {
  const child = spawn("bzip2", ["-dc", archive], { stdio: ["ignore", "pipe", "pipe"], signal, killSignal: "SIGKILL" });
  let complaint = "";
  child.stderr.on("data", (text: Buffer) => (complaint = `${complaint}${text.toString()}`.slice(-500)));
  child.once("error", (cause) => child.stdout.destroy(unusable("the program bzip2 cannot be started", cause)));
  child.once("close", (code) => {
    if (code !== 0) child.stdout.destroy(unusable("it is damaged", new Error(complaint.trim())));
  });
  return child.stdout;
}

/** @throws AppError upstream_failed where archives of this kind cannot be unpacked */
export async function requireUnpacker(compression: ArchiveSource["compression"]): Promise<void> {
  if (compression !== "bzip2") return;
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const child = spawn("bzip2", ["--help"], { stdio: "ignore" });
  child.once("error", () => resolve(false));
  child.once("close", () => resolve(true));
  if (await promise) return;
  throw new AppError(
    "upstream_failed",
    "A .tar.bz2 archive needs the program bzip2, which is not installed (Debian: apt-get install bzip2).",
  );
}
