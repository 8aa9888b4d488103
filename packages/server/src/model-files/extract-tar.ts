/** Extracts the files and folders of a tar archive. */
import { spawn } from "node:child_process";
import { createReadStream } from "node:fs";
import { Transform, type Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ReadEntry } from "tar";
import { AppError } from "../errors.ts";
import { ArchiveGuard, mostEntries, mostExpansion, unusableArchive, type Extraction } from "./archive-guard.ts";
import { deepestPath } from "./member-names.ts";

/** Bytes of tar's own headers for each entry, with those of a long name. */
const headerBytes = 4096;

export async function extractTar(
  { archive, folder, mostBytes, keep = () => true, signal }: Extraction,
  compression: "bzip2" | "gzip" | undefined,
): Promise<void> {
  const guard = new ArchiveGuard(mostBytes);
  let refusal: AppError | undefined;
  const accepts = (entry: ReadEntry): boolean => {
    const { path, type, size: sizeBytes } = entry;
    const kind = type === "Directory" ? "folder" : /^(?:Old|Contiguous)?File$/.test(type) ? "file" : undefined;
    try {
      const segments = guard.admit({ path, kind, type, sizeBytes });
      entry.mode = kind === "folder" ? 0o755 : 0o644;
      return refusal === undefined && (kind === "folder" || keep(segments));
    } catch (error) {
      refusal ??= error as AppError;
      return false;
    }
  };
  const { extract } = await import("tar");
  const unpack = extract({
    cwd: folder,
    strict: true,
    // Files belong to the current user, also for root, with ordinary permissions: no setuid, setgid or sticky bits.
    preserveOwner: false,
    maxDepth: deepestPath + 1,
    maxDecompressionRatio: mostExpansion,
    filter: (_path, header) => accepts(header as ReadEntry),
  });
  const packed = compression === "bzip2" ? bunzip(archive, signal) : createReadStream(archive);
  try {
    const bounded = atMost(mostBytes + mostEntries * headerBytes, () => refusal);
    await pipeline(packed, bounded, unpack as unknown as NodeJS.WritableStream, { signal });
  } catch (error) {
    signal.throwIfAborted();
    throw refusal ?? (error instanceof AppError ? error : unusableArchive("it is damaged", error));
  }
  if (refusal !== undefined) throw refusal;
}

/** Limits the unpacked bytes, and stops once the archive is refused: tar does not count bytes after the last file. */
function atMost(mostBytes: number, refusal: () => AppError | undefined): Transform {
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      const tooMany = bytes > mostBytes ? unusableArchive(`it has more than ${mostBytes} bytes`) : undefined;
      const problem = refusal() ?? tooMany;
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
  child.once("error", (cause) => child.stdout.destroy(unusableArchive("the program bzip2 cannot be started", cause)));
  child.once("close", (code) => {
    if (code !== 0) child.stdout.destroy(unusableArchive("it is damaged", new Error(complaint.trim())));
  });
  return child.stdout;
}

/** @throws AppError upstream_failed where the program is missing that decompresses .tar.bz2 archives */
export async function requireBunzip(): Promise<void> {
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
