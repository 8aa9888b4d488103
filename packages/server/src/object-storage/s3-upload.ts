/** Uploads a local file: in one request, or in parts of which few are in memory. A failed upload leaves no parts. */
import { createHash } from "node:crypto";
import { open, type FileHandle } from "node:fs/promises";
import type { S3Connection } from "./s3-connection.ts";
import { S3Error } from "./s3-error.ts";
import { answerOf, listObjects, md5Of, nameOfObject, putObject } from "./s3-objects.ts";
import { childrenOf, textOf } from "./xml.ts";

/** S3's limit. */
const maximumParts = 10_000;
const maximumBytesInMemory = 67_108_864;
const maximumParallel = 4;
export const defaultPartBytes = 16_777_216;
const abortTimeoutMs = 30_000;

export interface UploadedFile {
  readonly bytes: number;
  readonly sha256: string;
}

interface UploadOptions {
  readonly key: string;
  readonly path: string;
  /** Parts have at least this size; a file that is not larger is uploaded in one request. */
  readonly partBytes: number;
  readonly signal: AbortSignal;
}

/** @throws AppError, an error of the file, or the signal's reason */
export async function uploadFile(connection: S3Connection, options: UploadOptions): Promise<UploadedFile> {
  await using file = await open(options.path);
  const { size } = await file.stat();
  if (size > options.partBytes) return await uploadParts(connection, file, size, options);
  const body = await readPart(file, 0, size);
  await putObject(connection, { key: options.key, body }, options.signal);
  return { bytes: size, sha256: createHash("sha256").update(body).digest("hex") };
}

async function readPart(file: FileHandle, position: number, bytes: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafeSlow(bytes);
  for (let done = 0; done < bytes;) {
    const { bytesRead } = await file.read(buffer, done, bytes - done, position + done);
    if (bytesRead === 0) throw new Error("The file became shorter while it was read.");
    done += bytesRead;
  }
  return buffer;
}

async function uploadParts(
  connection: S3Connection,
  file: FileHandle,
  size: number,
  { key, partBytes: leastPartBytes, signal }: UploadOptions,
): Promise<UploadedFile> {
  const what = `${nameOfObject(connection, key)} cannot be written`;
  const created = await answerOf(connection, { method: "POST", key, query: { uploads: "" }, signal }, what);
  const uploadId = textOf(created, "UploadId") ?? "";
  try {
    const partBytes = Math.max(leastPartBytes, Math.ceil(size / maximumParts));
    const count = Math.ceil(size / partBytes);
    const hash = createHash("sha256");
    const tags: string[] = [];
    // The parts of a failed upload end before it is aborted, so that none is stored afterwards.
    const failed = new AbortController();
    const limited = AbortSignal.any([signal, failed.signal]);
    let next = 0;
    let reading = Promise.resolve();
    const worker = async (): Promise<void> => {
      try {
        while (next < count) {
          const index = next++;
          let body: Buffer | undefined;
          reading = reading.then(async () => {
            body = await readPart(file, index * partBytes, Math.min(partBytes, size - index * partBytes));
            hash.update(body);
          });
          await reading;
          tags[index] = await uploadPart(connection, {
            key,
            uploadId,
            number: index + 1,
            body: body!,
            signal: limited,
          });
        }
      } catch (error) {
        failed.abort(error);
        throw error;
      }
    };
    const parallel = Math.min(maximumParallel, count, Math.max(1, Math.floor(maximumBytesInMemory / partBytes)));
    const outcomes = await Promise.allSettled(Array.from({ length: parallel }, worker));
    signal.throwIfAborted();
    if (outcomes.some(({ status }) => status === "rejected")) throw failed.signal.reason;
    await complete(connection, { key, uploadId, tags, size, signal });
    return { bytes: size, sha256: hash.digest("hex") };
  } catch (error) {
    await abortUpload(connection, key, uploadId).catch(() => {});
    throw connection.explained(error, what);
  }
}

interface Part {
  readonly key: string;
  readonly uploadId: string;
  readonly number: number;
  readonly body: Buffer;
  readonly signal: AbortSignal;
}

/** Resolves with the part's tag. */
async function uploadPart(connection: S3Connection, { body, key, number, signal, uploadId }: Part): Promise<string> {
  const query = { partNumber: String(number), uploadId };
  const { headers } = await connection.call({
    method: "PUT",
    key,
    query,
    headers: { "content-md5": md5Of(body) },
    body,
    signal,
  });
  if (typeof headers.etag === "string") return headers.etag;
  throw new S3Error(`the response to part ${number} has no ETag`, { status: 0, code: "", passing: false });
}

async function complete(
  connection: S3Connection,
  {
    key,
    signal,
    size,
    tags,
    uploadId,
  }: { key: string; uploadId: string; tags: readonly string[]; size: number; signal: AbortSignal },
): Promise<void> {
  const parts = tags.map(
    (tag, index) =>
      `<Part><PartNumber>${index + 1}</PartNumber><ETag>${tag.replaceAll("&", "&amp;").replaceAll("<", "&lt;")}</ETag></Part>`,
  );
  const namespace = 'xmlns="http://s3.amazonaws.com/doc/2006-03-01/"';
  const body = Buffer.from(`<CompleteMultipartUpload ${namespace}>${parts.join("")}</CompleteMultipartUpload>`);
  const headers = { "content-type": "application/xml" };
  try {
    await connection.call({ method: "POST", key, query: { uploadId }, headers, body, signal });
  } catch (error) {
    // The response of an attempt that succeeded may have been lost.
    if (!(error instanceof S3Error) || error.code !== "NoSuchUpload") throw error;
    for await (const found of listObjects(connection, key, signal))
      if (found.key === key && found.bytes === size) return;
    throw error;
  }
}

/** Also after the caller's signal aborted. */
async function abortUpload(connection: S3Connection, key: string, uploadId: string): Promise<void> {
  const signal = AbortSignal.timeout(abortTimeoutMs);
  await connection.call({ method: "DELETE", key, query: { uploadId }, signal });
}

/** Aborts the multipart uploads of these keys, also those whose ID was lost with a response. @throws AppError */
export async function abortUploads(
  connection: S3Connection,
  {
    keys,
    prefix,
    signal,
  }: { readonly keys: ReadonlySet<string>; readonly prefix: string; readonly signal: AbortSignal },
): Promise<void> {
  let next: Record<string, string> = {};
  for (;;) {
    const query = { uploads: "", prefix, ...next };
    const what = `the multipart uploads of the bucket ${connection.bucket} cannot be listed`;
    const root = await answerOf(connection, { method: "GET", query, signal }, what);
    for (const upload of childrenOf(root, "Upload")) {
      const key = textOf(upload, "Key") ?? "";
      if (keys.has(key)) await abortUpload(connection, key, textOf(upload, "UploadId") ?? "");
    }
    const keyMarker = textOf(root, "NextKeyMarker");
    if (textOf(root, "IsTruncated") !== "true" || keyMarker === undefined) return;
    next = {
      "key-marker": keyMarker,
      "upload-id-marker": textOf(root, "NextUploadIdMarker") ?? "",
    };
  }
}
