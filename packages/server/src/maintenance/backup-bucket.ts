/** A backup in S3-compatible storage: objects under a prefix, which is empty when the backup begins. */
import { randomUUID } from "node:crypto";
import { open } from "node:fs/promises";
import { AppError } from "../errors.ts";
import type { S3Connection } from "../object-storage/s3-connection.ts";
import { downloadObject } from "../object-storage/s3-download.ts";
import { createObject, deleteObject, listObjects, putObject, readObject } from "../object-storage/s3-objects.ts";
import { abortUploads, uploadFile } from "../object-storage/s3-upload.ts";
import { damaged, lacksManifest, requireSame, storedFileOf, toFileError } from "./backup-files.ts";
import type { BackupStorage, ExpectedFile, StoredFile, VerifyOptions } from "./backup-storage.ts";
import { incompleteMark, type Manifest, manifestFile, parseManifest, printManifest } from "./manifest.ts";

const maximumManifestBytes = 268_435_456;
const cleanUpTimeoutMs = 60_000;
const parallelDeletions = 4;

export class BackupBucket implements BackupStorage {
  readonly location: string;
  readonly folder = undefined;
  readonly #connection: S3Connection;
  readonly #prefix: string;
  readonly #partBytes: number;
  /** Keys that this backup may have written. Others' objects are never deleted. */
  readonly #written = new Set<string>();

  constructor(connection: S3Connection, prefix: string, partBytes: number) {
    this.location = `s3://${connection.bucket}/${prefix}`.replace(/\/$/, "");
    this.#connection = connection;
    this.#prefix = prefix;
    this.#partBytes = partBytes;
  }

  async begin(signal: AbortSignal): Promise<void> {
    for await (const { key } of listObjects(this.#connection, this.#prefix, signal)) {
      // Consoles create an object of this name for a folder.
      if (key !== this.#prefix) throw notEmpty(this.location, key);
    }
    const key = this.#keyOf(incompleteMark);
    // Another backup that began at the same time finds the mark.
    const isOurs = await createObject(this.#connection, { key, body: Buffer.from(randomUUID()) }, signal);
    if (!isOurs) throw notEmpty(this.location, key);
    this.#written.add(key);
  }

  async write(path: string, content: string | Uint8Array, signal: AbortSignal): Promise<StoredFile> {
    const body = Buffer.from(content as Uint8Array);
    await putObject(this.#connection, { key: this.#writtenKey(path), body }, signal);
    return storedFileOf(body);
  }

  async add(path: string, source: string, signal: AbortSignal): Promise<StoredFile> {
    try {
      const upload = { key: this.#writtenKey(path), path: source, partBytes: this.#partBytes, signal };
      return await uploadFile(this.#connection, upload);
    } catch (error) {
      signal.throwIfAborted();
      throw toFileError(error, source, "read");
    }
  }

  async complete(manifest: Manifest, signal: AbortSignal): Promise<void> {
    const key = this.#writtenKey(manifestFile);
    const body = Buffer.from(printManifest(manifest));
    const isOurs = await createObject(this.#connection, { key, body }, signal);
    if (!isOurs) {
      this.#written.delete(key);
      throw new AppError("conflict", `Another backup wrote ${this.location}/${manifestFile} meanwhile.`);
    }
    // The backup is complete with the manifest; the mark does not matter any more.
    await deleteObject(this.#connection, this.#keyOf(incompleteMark), signal).catch(() => {});
  }

  async discard(): Promise<string | undefined> {
    const signal = AbortSignal.timeout(cleanUpTimeoutMs);
    const connection = this.#connection;
    const keys = [...this.#written];
    const left: string[] = [];
    const worker = async (): Promise<void> => {
      for (let key = keys.pop(); key !== undefined; key = keys.pop()) {
        try {
          await deleteObject(connection, key, signal);
        } catch {
          left.push(key);
        }
      }
    };
    const uploads = abortUploads(connection, { keys: new Set(keys), prefix: this.#prefix, signal }).then(
      () => true,
      () => false,
    );
    await Promise.all(Array.from({ length: parallelDeletions }, worker));
    const parts = (await uploads)
      ? ""
      : " Multipart uploads may be left too; a lifecycle rule of the bucket removes them.";
    if (left.length > 0)
      return `${left.length} objects could not be deleted from ${this.location}, such as ${left[0]}. Delete them.${parts}`;
    return parts === ""
      ? undefined
      : `Multipart uploads may be left in ${this.location}; a lifecycle rule of the bucket removes them.`;
  }

  async readManifest(signal: AbortSignal): Promise<Manifest> {
    const key = this.#keyOf(manifestFile);
    try {
      const body = await readObject(this.#connection, key, { maximumBytes: maximumManifestBytes, signal });
      return parseManifest(body.toString("utf8"));
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== "not_found" || error.message.includes("NoSuchBucket"))
        throw error;
      throw lacksManifest(this.location, error);
    }
  }

  async read(path: string, expected: StoredFile, signal: AbortSignal): Promise<Buffer> {
    const chunks: Buffer[] = [];
    await this.#download(path, expected, { signal, write: async (chunk) => void chunks.push(chunk) });
    return Buffer.concat(chunks);
  }

  async verify(path: string, expected: StoredFile, { signal, target }: VerifyOptions): Promise<void> {
    if (target === undefined) return await this.#download(path, expected, { signal, write: async () => {} });
    try {
      await using file = await open(target, "wx", 0o600);
      await this.#download(path, expected, { signal, write: (chunk) => file.writeFile(chunk) });
    } catch (error) {
      signal.throwIfAborted();
      throw toFileError(error, target, "written");
    }
  }

  async verifyAll(files: readonly ExpectedFile[], signal: AbortSignal): Promise<void> {
    const found = new Map<string, number>();
    for await (const { bytes, key } of listObjects(this.#connection, this.#prefix, signal)) found.set(key, bytes);
    for (const [path, { bytes }] of files) {
      const stored = found.get(this.#keyOf(path));
      if (stored === undefined) throw damaged(path, "it does not exist");
      if (stored !== bytes) throw damaged(path, `it has ${stored} bytes instead of ${bytes}`);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connection[Symbol.asyncDispose]();
  }

  async #download(
    path: string,
    expected: StoredFile,
    options: { readonly signal: AbortSignal; readonly write: (chunk: Buffer) => Promise<void> },
  ): Promise<void> {
    const key = this.#keyOf(path);
    const found = await downloadObject(this.#connection, { key, maximumBytes: expected.bytes, ...options });
    requireSame(path, found, expected);
  }

  #keyOf(path: string): string {
    return `${this.#prefix}${path}`;
  }

  #writtenKey(path: string): string {
    const key = this.#keyOf(path);
    this.#written.add(key);
    return key;
  }
}

function notEmpty(location: string, key: string): AppError {
  return new AppError(
    "invalid_request",
    `${location} is not empty: it has the object ${key}. Name a prefix without objects.`,
  );
}
