/** Objects of a bucket: list, write, delete. Errors name the bucket and the key. */
import { createHash } from "node:crypto";
import { type S3Connection, readText, type S3Request } from "./s3-connection.ts";
import { S3Error } from "./s3-error.ts";
import { childrenOf, textOf, type XmlElement } from "./xml.ts";

export interface ListedObject {
  readonly key: string;
  readonly bytes: number;
}

/** For Object Lock, which demands it; the signature covers the body for everything else. */
export function md5Of(body: Buffer): string {
  return createHash("md5").update(body).digest("base64");
}

export function nameOfObject({ bucket }: S3Connection, key: string): string {
  return `the object ${key} of the bucket ${bucket}`;
}

/** All objects whose key begins with the prefix, page by page. @throws AppError, or the signal's reason */
export async function* listObjects(
  connection: S3Connection,
  prefix: string,
  signal: AbortSignal,
): AsyncGenerator<ListedObject> {
  let next: Record<string, string> = {};
  for (;;) {
    const query = { "list-type": "2", prefix, ...next };
    const root = await answerOf(
      connection,
      { method: "GET", query, signal },
      `the bucket ${connection.bucket} cannot be listed`,
    );
    for (const each of childrenOf(root, "Contents"))
      yield { key: textOf(each, "Key") ?? "", bytes: Number(textOf(each, "Size") ?? Number.NaN) };
    const token = textOf(root, "NextContinuationToken");
    if (textOf(root, "IsTruncated") !== "true" || token === undefined) return;
    next = { "continuation-token": token };
  }
}

/** The answer to a request that always has one. @throws AppError, or the signal's reason */
export async function answerOf(connection: S3Connection, request: S3Request, what: string): Promise<XmlElement> {
  try {
    const { root } = await connection.call(request);
    if (root !== undefined) return root;
    throw new S3Error("the response is empty", { status: 0, code: "", passing: false });
  } catch (error) {
    throw connection.explained(error, what);
  }
}

/** @throws AppError, or the signal's reason */
export async function putObject(
  connection: S3Connection,
  { body, key }: { readonly key: string; readonly body: Buffer },
  signal: AbortSignal,
): Promise<void> {
  try {
    await connection.call({ method: "PUT", key, body, headers: { "content-md5": md5Of(body) }, signal });
  } catch (error) {
    throw connection.explained(error, `${nameOfObject(connection, key)} cannot be written`);
  }
}

/**
 * Writes an object that must not exist. A server without conditional writes replaces it.
 * @returns false if it exists with other content
 * @throws AppError, or the signal's reason
 */
export async function createObject(
  connection: S3Connection,
  { body, key }: { readonly key: string; readonly body: Buffer },
  signal: AbortSignal,
): Promise<boolean> {
  const headers = { "content-md5": md5Of(body), "if-none-match": "*" };
  try {
    await connection.call({ method: "PUT", key, body, headers, signal });
    return true;
  } catch (error) {
    if (!(error instanceof S3Error)) throw error;
    if (error.status === 501) {
      await putObject(connection, { key, body }, signal);
      return true;
    }
    // The response of an attempt that succeeded may have been lost.
    if (error.status === 412)
      return (await readObject(connection, key, { maximumBytes: body.length + 1, signal })).equals(body);
    throw connection.explained(error, `${nameOfObject(connection, key)} cannot be written`);
  }
}

/** @throws AppError, also if the object is larger, or the signal's reason */
export async function readObject(
  connection: S3Connection,
  key: string,
  { maximumBytes, signal }: { readonly maximumBytes: number; readonly signal: AbortSignal },
): Promise<Buffer> {
  try {
    return await connection.repeated(signal, async () => {
      const { body } = await connection.send({ method: "GET", key, signal });
      return Buffer.from(
        await readText(body, maximumBytes).catch((error: unknown) => {
          throw connection.failure(error, signal);
        }),
      );
    });
  } catch (error) {
    throw connection.explained(error, `${nameOfObject(connection, key)} cannot be read`);
  }
}

/** Also if it does not exist. @throws AppError, or the signal's reason */
export async function deleteObject(connection: S3Connection, key: string, signal: AbortSignal): Promise<void> {
  try {
    await connection.call({ method: "DELETE", key, signal });
  } catch (error) {
    if (error instanceof S3Error && error.status === 404) return;
    throw connection.explained(error, `${nameOfObject(connection, key)} cannot be deleted`);
  }
}
