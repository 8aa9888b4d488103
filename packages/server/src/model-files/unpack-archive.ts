/** Unpacks an archive into a new folder, which appears once everything is unpacked. */
import { mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { unusableArchive } from "./archive-guard.ts";
import { extractArchive, type ArchiveFormat } from "./extract-archive.ts";
import { convertWhispers } from "./whisper/convert-whisper.ts";

/** In an unpacked folder: records its source. */
export const originFile = ".sounding-origin.json";

interface UnpackOptions {
  readonly archive: string;
  /** The folder to create or replace: the archive's own top folder if it has just one. */
  readonly target: string;
  readonly format: ArchiveFormat;
  /** Text of the file that records the folder's source. */
  readonly origin: string;
  readonly signal: AbortSignal;
  /** Called with bytes that a conversion has written. */
  onConverted?(doneBytes: number, totalBytes: number): void;
}

/**
 * @throws AppError upstream_failed, or the signal's reason; then nothing remains.
 */
export async function unpackArchive(options: UnpackOptions): Promise<void> {
  const { archive, target, format, origin, signal, onConverted } = options;
  const folder = stagingOf(target);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  try {
    await extractArchive(format, { archive, folder, signal });
    const [only, ...others] = await readdir(folder, { withFileTypes: true });
    if (only === undefined) throw unusableArchive("it is empty");
    const whole = others.length === 0 && only.isDirectory() ? join(folder, only.name) : folder;
    await convertWhispers(whole, { signal, ...(onConverted === undefined ? {} : { onProgress: onConverted }) });
    await replaceFolder(whole, target, origin);
  } finally {
    // Of an archive that was refused some files may still be on their way.
    await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  }
}

/** Where a folder is prepared before it gets its name; a hidden folder is not served. */
export function stagingOf(target: string): string {
  return join(dirname(target), `.${target.split(/[\\/]/).at(-1)}.unpacking`);
}

/** Puts a prepared folder, with the note on its source, in the place of one that was prepared before. */
export async function replaceFolder(folder: string, target: string, origin: string): Promise<void> {
  const note = join(folder, originFile);
  await rm(note, { recursive: true, force: true });
  await writeFile(note, origin);
  await rm(target, { recursive: true, force: true });
  await rename(folder, target);
}
