/**
 * Sends signed requests to one bucket of S3-compatible storage, and repeats those that failed for a reason that may pass. Every
 * request is signed with the SHA-256 of its body, so the server refuses bytes that were damaged on the way.
 * docs/adr/0042-deletion-backup-and-move.md
 */
import { createHash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { Readable } from "node:stream";
import { AwsV4Signer } from "aws4fetch";
import { Agent, type Dispatcher, ProxyAgent } from "undici";
import { sleep } from "../abort.ts";
import type { S3Settings } from "../config/s3-settings.ts";
import { retryAfterMs } from "../engines/upstream-http/retry-after.ts";
import { networkFailure } from "../network/network-failure.ts";
import { findProxy, proxyOf } from "../network/proxies.ts";
import { S3Error, toAppError, toS3Error } from "./s3-error.ts";
import { parseXml, type XmlElement } from "./xml.ts";

export interface S3Timing {
  readonly connectTimeoutMs: number;
  /** Longest time without a byte in either direction. */
  readonly idleTimeoutMs: number;
  /** Before the second attempt; doubles with each one. */
  readonly retryPauseMs: number;
}

/** S3 may need minutes to join the parts of a large object, but sends spaces meanwhile. */
const defaultTiming: S3Timing = { connectTimeoutMs: 10_000, idleTimeoutMs: 60_000, retryPauseMs: 250 };
const mostAttempts = 7;
const longestPauseMs = 20_000;
/** A longer `Retry-After` is shortened to this. */
const longestWaitMs = 120_000;
const maximumAnswerBytes = 16_777_216;
const maximumErrorBytes = 65_536;
const pieceBytes = 65_536;
const emptyBody = Buffer.alloc(0);

export interface S3Request {
  readonly method: "GET" | "PUT" | "POST" | "DELETE";
  /** Undefined: the bucket itself. */
  readonly key?: string | undefined;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer;
  readonly signal: AbortSignal;
}

export interface S3Response {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The caller reads or destroys it. */
  readonly body: Readable;
}

/** Like encodeURIComponent, and the other characters that a signature needs encoded. */
function encode(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (each) => `%${each.codePointAt(0)!.toString(16).toUpperCase()}`,
  );
}

export class S3Connection implements AsyncDisposable {
  readonly bucket: string;
  readonly #settings: S3Settings;
  readonly #timing: S3Timing;
  readonly #base: string;
  readonly #dispatcher: Dispatcher;
  readonly #signingKeys = new Map<string, ArrayBuffer>();

  constructor(bucket: string, settings: S3Settings, timing: Partial<S3Timing> = {}) {
    this.bucket = bucket;
    this.#settings = settings;
    this.#timing = { ...defaultTiming, ...timing };
    this.#base = baseUrl(bucket, settings);
    const { connectTimeoutMs, idleTimeoutMs } = this.#timing;
    const options: Agent.Options = {
      connect: { timeout: connectTimeoutMs },
      headersTimeout: idleTimeoutMs,
      bodyTimeout: idleTimeoutMs,
      pipelining: 1,
    };
    const proxy = findProxy(this.#base, settings.proxies);
    this.#dispatcher = proxy === undefined ? new Agent(options) : new ProxyAgent({ ...options, uri: proxy });
  }

  /** One attempt. @throws S3Error for any status from 300, or the signal's reason */
  async send(request: S3Request): Promise<S3Response> {
    const { body = emptyBody, method, signal } = request;
    signal.throwIfAborted();
    const url = this.#urlOf(request);
    const { accessKeyId, region, secretAccessKey, sessionToken } = this.#settings;
    const signed = await new AwsV4Signer({
      method,
      url,
      headers: { ...request.headers, "x-amz-content-sha256": createHash("sha256").update(body).digest("hex") },
      accessKeyId,
      secretAccessKey,
      ...(sessionToken === undefined ? {} : { sessionToken }),
      service: "s3",
      region,
      cache: this.#signingKeys,
    }).sign();
    const headers: Record<string, string> = Object.fromEntries(signed.headers);
    if (method === "PUT" || method === "POST") headers["content-length"] = String(body.length);
    try {
      const answer = await this.#dispatcher.request({
        origin: new URL(url).origin,
        path: url.slice(new URL(url).origin.length),
        method,
        headers,
        // In pieces, so that a slow connection that makes progress is not idle.
        body: body.length === 0 ? null : Readable.from(piecesOf(body), { objectMode: false }),
        signal,
      });
      if (answer.statusCode < 300) return { status: answer.statusCode, headers: answer.headers, body: answer.body };
      const region = answer.headers["x-amz-bucket-region"];
      throw toS3Error({
        status: answer.statusCode,
        body: await readText(answer.body, maximumErrorBytes),
        region: typeof region === "string" ? region : undefined,
        retryAfterMs: retryAfterMs({ status: answer.statusCode, headers: answer.headers, body: undefined }, Date.now()),
      });
    } catch (error) {
      throw this.failure(error, signal);
    }
  }

  /** Sends, reads the answer's XML, and repeats. Undefined if the answer is empty. @throws S3Error, or the signal's reason */
  async call(
    request: S3Request,
  ): Promise<{ readonly headers: IncomingHttpHeaders; readonly root: XmlElement | undefined }> {
    return await this.repeated(request.signal, async () => {
      const { body, headers } = await this.send(request);
      const text = await readText(body, maximumAnswerBytes).catch((error: unknown) => {
        throw this.failure(error, request.signal);
      });
      // The answer to CompleteMultipartUpload begins before its outcome is known.
      if (/<Error\b/.test(text.slice(0, 1000)))
        throw toS3Error({ status: 500, body: text.trim(), region: undefined, retryAfterMs: undefined });
      if (text.trim() === "") return { headers, root: undefined };
      try {
        return { headers, root: parseXml(text.trim()) };
      } catch (cause) {
        throw new S3Error("The response is not S3's XML", { status: 0, code: "", passing: true, cause });
      }
    });
  }

  /**
   * Repeats an attempt that failed for a reason that may pass. `attempt` counts from 1; an attempt that made progress resets the
   * count by calling `progressed`.
   * @throws S3Error, or the signal's reason
   */
  async repeated<Result>(
    signal: AbortSignal,
    run: (attempt: number, progressed: () => void) => Promise<Result>,
  ): Promise<Result> {
    let failures = 0;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await run(attempt, () => (failures = 0));
      } catch (error) {
        signal.throwIfAborted();
        failures += 1;
        if (!(error instanceof S3Error) || !error.passing) throw error;
        if (failures >= mostAttempts) {
          const { code, message, region, status } = error;
          throw new S3Error(`${message} (after ${failures} attempts)`, {
            status,
            code,
            region,
            passing: true,
            cause: error,
          });
        }
        // Random, so that several clients do not repeat at the same time.
        const pauseMs =
          Math.min(longestPauseMs, this.#timing.retryPauseMs * 2 ** (failures - 1)) * (0.5 + Math.random() / 2);
        await sleep(Math.max(pauseMs, Math.min(error.retryAfterMs ?? 0, longestWaitMs)), signal);
        signal.throwIfAborted();
      }
    }
  }

  /** An error of the network, while a request is sent or a response is read, as an S3Error. */
  failure(error: unknown, signal: AbortSignal): unknown {
    if (signal.aborted) return signal.reason;
    if (error instanceof S3Error || !(error instanceof Error) || error instanceof TypeError) return error;
    const code = (error as NodeJS.ErrnoException).code ?? "";
    const isIdle = code === "UND_ERR_HEADERS_TIMEOUT" || code === "UND_ERR_BODY_TIMEOUT";
    const { what, passing } = isIdle
      ? { what: `${new URL(this.#base).host} sent nothing for ${this.#timing.idleTimeoutMs / 1000} s`, passing: true }
      : networkFailure(error, this.#base, proxyOf(this.#base, this.#settings.proxies));
    return new S3Error(what, { status: 0, code: "", passing, cause: error });
  }

  /** Turns an S3Error into the error for the caller. @param what such as `the bucket cannot be listed` */
  explained(error: unknown, what: string): unknown {
    return error instanceof S3Error ? toAppError(error, what, this.#settings.region) : error;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#dispatcher.destroy();
  }

  #urlOf({ key, query = {} }: S3Request): string {
    const path = key === undefined ? "/" : `/${key.split("/").map(encode).join("/")}`;
    const search = Object.entries(query).map(([name, value]) => `${encode(name)}=${encode(value)}`);
    return `${this.#base}${path}${search.length === 0 ? "" : `?${search.join("&")}`}`;
  }
}

/** With an endpoint, and for buckets whose name has a dot (which AWS's certificates do not cover), the bucket is in the path. */
function baseUrl(bucket: string, { endpoint, region }: S3Settings): string {
  if (endpoint !== undefined) return `${endpoint}/${bucket}`;
  const domain = `s3.${region}.amazonaws.com${region.startsWith("cn-") ? ".cn" : ""}`;
  return bucket.includes(".") ? `https://${domain}/${bucket}` : `https://${bucket}.${domain}`;
}

function* piecesOf(body: Buffer): Generator<Buffer> {
  for (let at = 0; at < body.length; at += pieceBytes) yield body.subarray(at, at + pieceBytes);
}

/** @throws S3Error if there are more bytes */
export async function readText(body: Readable, maximumBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maximumBytes)
      throw new S3Error(`The response has more than ${maximumBytes} bytes`, { status: 0, code: "", passing: false });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
