/** Unpacks a tar archive into a new folder: only files and folders, nothing outside it, and no more than fits. */
import { spawn } from "node:child_process";
import { createReadStream } from "node:fs";
import { mkdir, readdir, rename, rm, statfs, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Transform, type Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ReadEntry } from "tar";
import { AppError } from "../errors.ts";
import { deepestPath, isSafePath, MemberNames } from "./member-names.ts";
import type { ArchiveSource } from "./model-source.ts";
import { inputLimit } from "../input-limits.ts";

/** In an unpacked folder: records its source. */
export const originFile = ".sounding-origin.json";

interface UnpackOptions {
  readonly archive: string;
  /** The folder to create or replace: the archive's own top folder if it has just one. */
  readonly target: string;
  readonly compression: ArchiveSource["compression"];
  /** Text of the file that records the folder's source. */
  readonly origin: string;
  readonly signal: AbortSignal;
}

/** Files and folders of one archive. A voice with all its pronunciation data has some hundred. */
export const mostEntries = inputLimit({
  area: "Configuration and model files",
  bounds: "Files and folders in a pulled archive",
  value: 10_000,
  error: { instead: "`sounding models pull` fails" },
});
/** Bytes of one archive's files together, also where the disk has more. */
export const mostUnpackedBytes = inputLimit({
  area: "Configuration and model files",
  bounds: "Unpacked size of a pulled archive",
  value: 64 * 2 ** 30,
  unit: "bytes",
  error: { instead: "`sounding models pull` fails" },
});
/** Free disk space that unpacking must leave. */
const spareBytes = 64 * 2 ** 20;
/** Unpacked bytes for each packed one. Networks shrink to half at best. */
const mostExpansion = inputLimit({
  area: "Configuration and model files",
  bounds: "Ratio of unpacked to packed bytes of an archive",
  value: 200,
  error: { instead: "`sounding models pull` fails" },
});
/** Bytes of tar's own headers for each entry, with those of a long name. */
const headerBytes = 4096;

function unusable(problem: string, cause?: unknown): AppError {
  return new AppError(
    "upstream_failed",
    `The archive cannot be used: ${problem}.`,
    cause === undefined ? {} : { cause },
  );
}

/**
 * @throws AppError upstream_failed, or the signal's reason; then nothing remains.
 */
export async function unpackArchive({ archive, target, compression, origin, signal }: UnpackOptions): Promise<void> {
  const folder = join(dirname(target), `.${target.split(/[\\/]/).at(-1)}.unpacking`);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const { bavail, bsize } = await statfs(folder);
  try {
    await extractAll(compression === "bzip2" ? bunzip(archive, signal) : createReadStream(archive), {
      folder,
      mostBytes: Math.min(bavail * bsize - spareBytes, mostUnpackedBytes),
      signal,
    });
    const [only, ...others] = await readdir(folder, { withFileTypes: true });
    if (only === undefined) throw unusable("it is empty");
    const whole = others.length === 0 && only.isDirectory() ? join(folder, only.name) : folder;
    const note = join(whole, originFile);
    await rm(note, { recursive: true, force: true });
    await writeFile(note, origin);
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
  const names = new MemberNames();
  const problemOf = ({ path, type, size }: ReadEntry): string | undefined => {
    entries++;
    bytes += size;
    if (entries > mostEntries) return `it has more than ${mostEntries} files`;
    if (bytes > mostBytes) return `its files need more than ${mostBytes} bytes, which is the limit on this disk`;
    const shown = JSON.stringify(path.slice(0, 500));
    if (type !== "File" && type !== "OldFile" && type !== "ContiguousFile" && type !== "Directory") {
      return `${shown} is a ${type}, not a file or folder`;
    }
    if (path === "./") return undefined;
    const segments = path.replace(/^\.\//, "").replace(/\/$/, "").split("/");
    if (!isSafePath(segments)) return `${shown} is a path that leads outside, is too long or is too deep`;
    return names.collision(segments, type === "Directory" ? "folder" : "file");
  };
  const { extract } = await import("tar");
  const unpack = extract({
    cwd: folder,
    strict: true,
    // Files belong to the current user, also for root, with ordinary permissions: no setuid, setgid or sticky bits.
    preserveOwner: false,
    maxDepth: deepestPath + 1,
    maxDecompressionRatio: mostExpansion,
    filter: (_path, header) => {
      const entry = header as ReadEntry;
      const problem = problemOf(entry);
      if (problem !== undefined) refusal ??= unusable(problem);
      entry.mode = entry.type === "Directory" ? 0o755 : 0o644;
      return refusal === undefined;
    },
  });
  try {
    const bounded = atMost(mostBytes + mostEntries * headerBytes, () => refusal);
    await pipeline(packed, bounded, unpack as unknown as NodeJS.WritableStream, { signal });
  } catch (error) {
    signal.throwIfAborted();
    throw refusal ?? (error instanceof AppError ? error : unusable("it is damaged", error));
  }
  if (refusal !== undefined) throw refusal;
}

/** Limits the unpacked bytes, and stops once the archive is refused: tar does not count bytes after the last file. */
function atMost(mostBytes: number, refusal: () => AppError | undefined): Transform {
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      const problem = refusal() ?? (bytes > mostBytes ? unusable(`it has more than ${mostBytes} bytes`) : undefined);
      if (problem === undefined) done(null, chunk);
      else done(problem);
    },
  });
}

/** Decompresses the file with the program bzip2. */
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
