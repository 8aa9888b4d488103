/** Bounds what is unpacked from an archive of any format: names, kinds, number and size of its members. */
import { AppError } from "../errors.ts";
import { inputLimit } from "../input-limits.ts";
import { isSafePath, MemberNames } from "./member-names.ts";

/** Files and folders of one archive. A voice with all its pronunciation data has some hundred. */
export const mostEntries = inputLimit({
  area: "Configuration and model files",
  bounds: "Files and folders in a pulled or added archive, package or folder",
  value: 10_000,
  error: { instead: "`sounding models pull` and `add` fail" },
});
/** Bytes of one archive's files together, also where the disk has more. */
export const mostUnpackedBytes = inputLimit({
  area: "Configuration and model files",
  bounds: "Unpacked size of a pulled or added archive, package or folder",
  value: 64 * 2 ** 30,
  unit: "bytes",
  error: { instead: "`sounding models pull` and `add` fail" },
});
/** Unpacked bytes for each packed one. Networks shrink to half at best. */
export const mostExpansion = inputLimit({
  area: "Configuration and model files",
  bounds: "Ratio of unpacked to packed bytes of an archive",
  value: 200,
  error: { instead: "`sounding models pull` and `add` fail" },
});

export interface Extraction {
  readonly archive: string;
  /** An empty folder. */
  readonly folder: string;
  /** Most bytes of all files together. */
  readonly mostBytes: number;
  /** Whether a file is wanted; absent: all are. */
  keep?(segments: readonly string[]): boolean;
  readonly signal: AbortSignal;
}

export interface ExtractedFile {
  readonly segments: readonly string[];
  readonly sizeBytes: number;
  readonly sha256: string;
}

export function unusableArchive(problem: string, cause?: unknown): AppError {
  return new AppError(
    "upstream_failed",
    `The archive cannot be used: ${problem}.`,
    cause === undefined ? {} : { cause },
  );
}

export interface ArchiveMember {
  readonly path: string;
  /** Undefined for what is neither. */
  readonly kind: "file" | "folder" | undefined;
  /** What it is, for a message. */
  readonly type: string;
  readonly sizeBytes: number;
}

export class ArchiveGuard {
  readonly #mostBytes: number;
  readonly #names = new MemberNames();
  #entries = 0;
  #bytes = 0;

  /** @param mostBytes of all members together */
  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  /** The path of the next member, one segment each; none for the archive's top. @throws AppError upstream_failed */
  admit({ path, kind, type, sizeBytes }: ArchiveMember): string[] {
    this.#entries++;
    this.#bytes += sizeBytes;
    if (this.#entries > mostEntries) throw unusableArchive(`it has more than ${mostEntries} files`);
    if (this.#bytes > this.#mostBytes)
      throw unusableArchive(`its files need more than ${this.#mostBytes} bytes, which is the limit on this disk`);
    const shown = JSON.stringify(path.slice(0, 500));
    if (kind === undefined) throw unusableArchive(`${shown} is a ${type}, not a file or folder`);
    if (path === "./") return [];
    const segments = path.replace(/^\.\//, "").replace(/\/$/, "").split("/");
    if (!isSafePath(segments))
      throw unusableArchive(`${shown} is a path that leads outside, is too long or is too deep`);
    const collision = this.#names.collision(segments, kind);
    if (collision !== undefined) throw unusableArchive(collision);
    return segments;
  }
}
