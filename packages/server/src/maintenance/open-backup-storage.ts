/** Opens the place of a backup: a folder, or a prefix in S3-compatible storage. */
import type { S3Settings } from "../config/s3-settings.ts";
import { AppError } from "../errors.ts";
import { S3Connection, type S3Timing } from "../object-storage/s3-connection.ts";
import { parseS3Location } from "../object-storage/s3-location.ts";
import { defaultPartBytes } from "../object-storage/s3-upload.ts";
import { BackupBucket } from "./backup-bucket.ts";
import { BackupFolder } from "./backup-folder.ts";
import type { BackupStorage } from "./backup-storage.ts";

export interface StorageOptions {
  /** A folder, or `s3://bucket/prefix`. */
  readonly location: string;
  /** Called only for locations in S3. @throws AppError invalid_request if a setting is missing */
  readonly s3: () => S3Settings;
  readonly timing?: Partial<S3Timing> | undefined;
  /** Size of the parts of large files, in bytes. */
  readonly partBytes?: number | undefined;
}

/** @throws AppError invalid_request */
export function openBackupStorage({
  location,
  partBytes = defaultPartBytes,
  s3,
  timing,
}: StorageOptions): BackupStorage {
  const scheme = /^(?<name>[a-z][a-z0-9+.-]+):\/\//i.exec(location)?.groups?.["name"];
  if (scheme === undefined) return new BackupFolder(location);
  if (scheme !== "s3")
    throw new AppError(
      "invalid_request",
      `${location.slice(0, 100)}: backups are in a folder or in s3://bucket/prefix.`,
    );
  const { bucket, prefix } = parseS3Location(location);
  return new BackupBucket(new S3Connection(bucket, s3(), timing), prefix, partBytes);
}
