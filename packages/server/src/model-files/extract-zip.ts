/**
 * Extracts the files and folders of a ZIP archive, such as a wheel.
 * https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT
 */
import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { mkdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { crc32 } from "node:zlib";
import type { Entry, ZipFile } from "yauzl";
import { AppError } from "../errors.ts";
import {
  ArchiveGuard,
  mostEntries,
  mostExpansion,
  unusableArchive,
  type ExtractedFile,
  type Extraction,
} from "./archive-guard.ts";

export async function extractZip(extraction: Extraction): Promise<ExtractedFile[]> {
  const { openPromise } = await import("yauzl");
  const { archive, signal } = extraction;
  let zip: ZipFile | undefined;
  try {
    zip = await openPromise(archive, { strictFileNames: true });
    return await extractEntries(zip, extraction);
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof AppError ? error : unusableArchive(describe(error), error);
  } finally {
    zip?.close();
  }
}

/** The reader's messages name the file that is wrong. */
function describe(error: unknown): string {
  const message = error instanceof Error ? error.message.split("\n")[0]!.slice(0, 300) : "";
  return `it is damaged, or no ZIP archive${message === "" ? "" : ` (${message})`}`;
}

async function extractEntries(
  zip: ZipFile,
  { archive, folder, mostBytes, keep = () => true, signal }: Extraction,
): Promise<ExtractedFile[]> {
  if (zip.entryCount > mostEntries) throw unusableArchive(`it has more than ${mostEntries} files`);
  const guard = new ArchiveGuard(mostBytes);
  const { size: archiveBytes } = await stat(archive);
  let [packed, unpacked] = [0, 0];
  const files: ExtractedFile[] = [];
  for await (const entry of zip.eachEntry()) {
    signal.throwIfAborted();
    packed += entry.compressedSize;
    unpacked += entry.uncompressedSize;
    // Entries that share their bytes have more of them than the archive.
    if (packed > archiveBytes) throw unusableArchive("its files overlap");
    if (unpacked > archiveBytes * mostExpansion)
      throw unusableArchive(`its files expand more than ${mostExpansion} times`);
    const kind = kindOf(entry);
    const segments = guard.admit({
      path: entry.fileName,
      kind,
      type: "link or a special file",
      sizeBytes: entry.uncompressedSize,
    });
    if (kind === "folder" || !keep(segments)) continue;
    if (!entry.canDecodeFileData())
      throw unusableArchive(`${JSON.stringify(entry.fileName)} is encrypted, or compressed in an unusual way`);
    await mkdir(join(folder, ...segments.slice(0, -1)), { recursive: true });
    const target = join(folder, ...segments);
    files.push({ segments, ...(await writeEntry(zip, entry, { target, signal })) });
  }
  return files;
}

/** From the mode that Unix programs keep in the upper half; other programs write none. */
function kindOf({ fileName, externalFileAttributes, versionMadeBy }: Entry): "file" | "folder" | undefined {
  const isFromUnix = versionMadeBy >>> 8 === 3;
  const type = isFromUnix ? (externalFileAttributes >>> 16) & 0o170000 : 0;
  if (type !== 0 && type !== 0o100000 && type !== 0o040000) return undefined;
  return fileName.endsWith("/") ? "folder" : "file";
}

/** The reader compares the size. */
async function writeEntry(
  zip: ZipFile,
  entry: Entry,
  { target, signal }: { target: string; signal: AbortSignal },
): Promise<Omit<ExtractedFile, "segments">> {
  const hash = createHash("sha256");
  let sum = 0;
  const measured = async function* (chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      hash.update(chunk);
      sum = crc32(chunk, sum);
      yield chunk;
    }
  };
  const content = await zip.openReadStreamPromise(entry);
  await pipeline(content, measured, createWriteStream(target, { flags: "wx", mode: 0o644 }), { signal });
  if (sum !== entry.crc32) throw unusableArchive(`${JSON.stringify(entry.fileName)} is damaged`);
  return { sizeBytes: entry.uncompressedSize, sha256: hash.digest("hex") };
}
