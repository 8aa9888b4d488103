/** Files of a backup: comparing them with the manifest, and errors of the file system as errors for the caller. */
import { createHash } from "node:crypto";
import { AppError } from "../errors.ts";
import type { StoredFile } from "./backup-storage.ts";
import { manifestFile } from "./manifest.ts";

export function storedFileOf(content: Uint8Array): StoredFile {
  return { bytes: content.length, sha256: createHash("sha256").update(content).digest("hex") };
}

/** @throws AppError invalid_request if a file is not as the manifest says */
export function requireSame(path: string, found: StoredFile, expected: StoredFile): void {
  if (found.bytes === expected.bytes && found.sha256 === expected.sha256) return;
  const reason =
    found.bytes === expected.bytes
      ? "its checksum differs from the manifest's"
      : `it has ${found.bytes} bytes instead of ${expected.bytes}`;
  throw damaged(path, reason);
}

export function lacksManifest(location: string, cause: unknown): AppError {
  return new AppError(
    "invalid_request",
    `${location} has no ${manifestFile}: it is not a backup, or the backup was interrupted.`,
    { cause },
  );
}

export function damaged(path: string, reason: string): AppError {
  return new AppError("invalid_request", `The backup is damaged: ${path}: ${reason}.`);
}

const reasons: Readonly<Record<string, string>> = {
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
  EACCES: "permission denied",
  EROFS: "the file system is read-only",
  ENOENT: "it does not exist",
  ENOTDIR: "a part of the path is not a folder",
  EEXIST: "it exists already",
};

export function toFileError(error: unknown, path: string, done: string): unknown {
  if (error instanceof AppError || !(error instanceof Error)) return error;
  const { code = "" } = error as NodeJS.ErrnoException;
  return new AppError("internal", `${path} cannot be ${done}: ${reasons[code] ?? error.message}.`, { cause: error });
}
