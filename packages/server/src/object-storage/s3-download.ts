/** Downloads an object, with its checksum. A broken connection is continued where it ended. */
import { createHash, type Hash } from "node:crypto";
import type { S3Connection, S3Response } from "./s3-connection.ts";
import { S3Error } from "./s3-error.ts";
import { nameOfObject } from "./s3-objects.ts";

interface DownloadOptions {
  readonly key: string;
  /** More bytes are an error. */
  readonly maximumBytes: number;
  /** Called with each piece, in order. */
  readonly write: (chunk: Buffer) => Promise<void>;
  readonly signal: AbortSignal;
}

interface Position {
  bytes: number;
  /** The object's version; another one is not continued. */
  tag: string | undefined;
  readonly hash: Hash;
}

/** @throws AppError, the error of `write`, or the signal's reason */
export async function downloadObject(
  connection: S3Connection,
  options: DownloadOptions,
): Promise<{ readonly bytes: number; readonly sha256: string }> {
  const position: Position = { bytes: 0, tag: undefined, hash: createHash("sha256") };
  try {
    await connection.repeated(options.signal, (_attempt, progressed) =>
      readOn(connection, options, position, progressed),
    );
  } catch (error) {
    throw connection.explained(error, `${nameOfObject(connection, options.key)} cannot be read`);
  }
  return { bytes: position.bytes, sha256: position.hash.digest("hex") };
}

async function readOn(
  connection: S3Connection,
  { key, maximumBytes, signal, write }: DownloadOptions,
  position: Position,
  progressed: () => void,
): Promise<void> {
  const { body, headers } = await begin(connection, key, position, signal);
  if (body === undefined) return;
  position.tag ??= typeof headers.etag === "string" ? headers.etag : undefined;
  const chunks = body[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  try {
    for (;;) {
      const { done, value } = await chunks.next().catch((error: unknown) => {
        throw connection.failure(error, signal);
      });
      if (done === true) return;
      if (position.bytes + value.length > maximumBytes)
        throw new S3Error(`it has more than the expected ${maximumBytes} bytes`, {
          status: 0,
          code: "",
          passing: false,
        });
      position.bytes += value.length;
      position.hash.update(value);
      await write(value);
      progressed();
    }
  } finally {
    body.destroy();
  }
}

async function begin(
  connection: S3Connection,
  key: string,
  { bytes, tag }: Position,
  signal: AbortSignal,
): Promise<S3Response | { readonly body: undefined; readonly headers: S3Response["headers"] }> {
  if (bytes === 0) return await connection.send({ method: "GET", key, signal });
  const headers = { range: `bytes=${bytes}-`, ...(tag === undefined ? {} : { "if-match": tag }) };
  try {
    const response = await connection.send({ method: "GET", key, headers, signal });
    if (response.status === 206 && response.headers["content-range"]?.startsWith(`bytes ${bytes}-`) === true)
      return response;
    response.body.destroy();
    throw new S3Error(
      "a broken connection cannot be continued: the server does not answer with the rest of the object",
      {
        status: response.status,
        code: "",
        passing: false,
      },
    );
  } catch (error) {
    // Everything had arrived when the connection broke.
    if (error instanceof S3Error && error.status === 416) return { body: undefined, headers: {} };
    throw error;
  }
}
