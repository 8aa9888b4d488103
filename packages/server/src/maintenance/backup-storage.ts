/** What creating and restoring backups need of the place where they are. */
import type { Manifest } from "./manifest.ts";

export interface StoredFile {
  readonly bytes: number;
  readonly sha256: string;
}

/** Paths are those of `manifest.ts`. Methods throw AppErrors, or the signal's reason. */
export interface BackupStorage extends AsyncDisposable {
  /** The folder's path, or the URL. */
  readonly location: string;
  /** The folder, which has room for one more file of the backup; undefined if the storage is on other machines. */
  readonly folder: string | undefined;
  /** Begins a backup. @throws AppError invalid_request unless the storage is empty */
  begin(signal: AbortSignal): Promise<void>;
  /** Writes a small file. */
  write(path: string, content: string | Uint8Array, signal: AbortSignal): Promise<StoredFile>;
  /** Copies a local file into the backup. */
  add(path: string, source: string, signal: AbortSignal): Promise<StoredFile>;
  /** Writes the manifest, which completes the backup. */
  complete(manifest: Manifest, signal: AbortSignal): Promise<void>;
  /** Removes what `begin` and later calls wrote. Resolves with a sentence about what could not be removed. */
  discard(): Promise<string | undefined>;
  /** @throws AppError invalid_request if this is not a complete backup */
  readManifest(signal: AbortSignal): Promise<Manifest>;
  /** A small file, compared with its checksum. */
  read(path: string, expected: StoredFile, signal: AbortSignal): Promise<Buffer>;
  /** Compares a file with its checksum and copies it to `target`, a new file, if that is set. */
  verify(path: string, expected: StoredFile, options: VerifyOptions): Promise<void>;
  /**
   * What a restore checks before it writes anything: in a folder all checksums; in remote storage the sizes, because files are
   * compared with their checksums when they are read.
   */
  verifyAll(files: readonly ExpectedFile[], signal: AbortSignal): Promise<void>;
}

export type ExpectedFile = readonly [path: string, expected: StoredFile];

export interface VerifyOptions {
  readonly target?: string | undefined;
  readonly signal: AbortSignal;
}
