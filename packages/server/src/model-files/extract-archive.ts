/** Extracts the files of an archive into a folder. */
import { statfs } from "node:fs/promises";
import { mostUnpackedBytes, type ExtractedFile, type Extraction } from "./archive-guard.ts";
import { extractTar, requireBunzip } from "./extract-tar.ts";
import { extractZip } from "./extract-zip.ts";

export type ArchiveFormat = "zip" | "tar" | "tar.gz" | "tar.bz2";

/** Free disk space that unpacking must leave. */
const spareBytes = 64 * 2 ** 20;
const archiveName = /^(?<name>.+?)\.(?:tar\.(?<long>bz2|gz)|(?<short>tbz2|tgz)|(?<plain>tar|zip|whl))$/i;

/** What an archive with this file name is called without its extension, and its format; undefined for another file. */
export function readArchiveName(
  file: string,
): { readonly name: string; readonly format: ArchiveFormat; readonly isWheel: boolean } | undefined {
  const groups = archiveName.exec(file)?.groups;
  if (groups === undefined) return undefined;
  const { long, short, plain } = groups;
  const suffix = (long ?? short ?? plain)!.toLowerCase();
  const isWheel = suffix === "whl";
  const format =
    isWheel || suffix === "zip" ? "zip" : suffix === "tar" ? "tar" : suffix.includes("bz2") ? "tar.bz2" : "tar.gz";
  return { name: groups["name"]!, format, isWheel };
}

/** Bytes that may be written to the disk of this folder. */
export async function writableBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return Math.max(0, Math.min(bavail * bsize - spareBytes, mostUnpackedBytes));
}

/**
 * Only files and folders, nothing outside the folder, and no more than fits.
 * @throws AppError upstream_failed, or the signal's reason
 */
export async function extractArchive(
  format: ArchiveFormat,
  extraction: Omit<Extraction, "mostBytes">,
): Promise<readonly ExtractedFile[] | undefined> {
  const whole = { ...extraction, mostBytes: await writableBytes(extraction.folder) };
  if (format === "zip") return extractZip(whole);
  await extractTar(whole, format === "tar" ? undefined : format === "tar.gz" ? "gzip" : "bzip2");
  return undefined;
}

/** @throws AppError upstream_failed where archives of this format cannot be unpacked */
export async function requireUnpacker(format: ArchiveFormat): Promise<void> {
  if (format === "tar.bz2") await requireBunzip();
}
