/** Sends requests with `fetch`, retries if that is safe, and delivers the responses' bytes within the call's limits. */
import { ConfigurationError, ConnectionError, IncompleteStreamError, SoundingError } from "./errors.ts";
import { CallLifetime } from "./lifetime.ts";
import { checkedApiKey, type ApiKey, type Fetch } from "./options.ts";
import { crossOriginFailure } from "./page-origin.ts";
import { defaultTimeoutMs, type HttpRequest } from "./request.ts";
import { answerHead, errorOfAnswer, type AnswerHead, type WholeAnswer } from "./response.ts";
import { retryWaitMs } from "./retry.ts";
import { Upload } from "./upload.ts";

/** Maximum number of bytes read from the body of an error response. */
const longestErrorBytes = 1024 * 1024;

/** How long to wait for the end of a body after a stream's end marker, so that the connection can be reused. */
const endOfBodyMs = 1000;

/** The settings that a request is sent with. */
export interface Sender {
  readonly apiKey: ApiKey;
  readonly fetch: Fetch;
}

/** The body of a successful response, to be read as it arrives. */
export interface OpenBody {
  readonly head: AnswerHead;
  /**
   * The next bytes; undefined at the end, or when the caller has closed it. Throws AbortError, TimeoutError, or
   * IncompleteStreamError when the connection breaks.
   */
  read(): Promise<Uint8Array | undefined>;
  /** Throws AbortError or TimeoutError once the call has ended with one of them. */
  check(): void;
  readonly closed: boolean;
  /** Cancels the request. */
  close(): void;
  /** Ends reading, and leaves the connection for the next call if the body ends soon. */
  finish(): void;
}

/** Sends a request and reads the complete response. */
export async function exchangeWhole(request: HttpRequest, sender: Sender): Promise<WholeAnswer> {
  const limit = { of: "whole", ms: request.timeoutMs ?? defaultTimeoutMs } as const;
  const lifetime = new CallLifetime({ signal: request.signal, limit });
  try {
    return await untilGood(request, sender, lifetime, async (response) => ({
      head: answerHead(response.status, response.headers),
      bytes: await readBytes(response, lifetime),
    }));
  } finally {
    lifetime.complete();
  }
}

/** Sends a request and resolves when the response starts. */
export async function exchangeOpen(request: HttpRequest, sender: Sender): Promise<OpenBody> {
  const limit =
    request.timeoutMs === undefined
      ? ({ of: "silence", ms: defaultTimeoutMs } as const)
      : ({ of: "whole", ms: request.timeoutMs } as const);
  const lifetime = new CallLifetime({ signal: request.signal, limit });
  try {
    const response = await untilGood(request, sender, lifetime, async (good) => good);
    return openBody(response, lifetime);
  } catch (error) {
    lifetime.close();
    throw error;
  }
}

/** Sends until a response succeeds, or a retry is not possible. */
async function untilGood<T>(
  request: HttpRequest,
  sender: Sender,
  lifetime: CallLifetime,
  take: (response: Response) => Promise<T>,
): Promise<T> {
  const { body } = request;
  const upload = typeof body === "object" ? new Upload(body) : undefined;
  // Node's `fetch` continues to read a body whose request is aborted.
  lifetime.atEnd(() => upload?.end());
  for (let retries = 0; ; retries += 1) {
    try {
      return await take(await attempt(request, sender, { lifetime, upload }));
    } catch (error) {
      upload?.end();
      const failure = upload?.failure ?? lifetime.explain(error);
      if (upload?.repeatable === false) throw failure;
      const waitMs = retryWaitMs({
        failure,
        retries,
        maxRetries: request.maxRetries,
        remainingMs: lifetime.remainingMs,
        random: Math.random(),
        nowMs: Date.now(),
      });
      if (waitMs === undefined) throw failure;
      await lifetime.sleep(waitMs);
    }
  }
}

/** Sends once. Resolves to a response with a status of 2xx; throws ApiStatusError for any other. */
async function attempt(
  request: HttpRequest,
  { apiKey, fetch }: Sender,
  { lifetime, upload }: { lifetime: CallLifetime; upload: Upload | undefined },
): Promise<Response> {
  const { method, url, headers, body } = request;
  const key = typeof apiKey === "string" ? apiKey : await askForKey(apiKey, lifetime);
  const sent = typeof body === "string" ? { body } : await upload?.begin();
  const response = await lifetime
    .during(() =>
      fetch(url, {
        method,
        headers: { authorization: `Bearer ${key}`, ...headers },
        signal: lifetime.signal,
        ...sent,
      }),
    )
    .catch((error: unknown) => {
      throw crossOriginFailure(url, error) ?? error;
    });
  if (response.ok) return response;
  const bytes = await readBytes(response, lifetime, longestErrorBytes);
  throw errorOfAnswer({ head: answerHead(response.status, response.headers), bytes });
}

async function askForKey(apiKey: Exclude<ApiKey, string>, lifetime: CallLifetime): Promise<string> {
  let key: string;
  try {
    key = await lifetime.during(apiKey);
  } catch (error) {
    if (error instanceof SoundingError) throw error;
    throw new ConfigurationError("The function `apiKey` failed.", error);
  }
  return checkedApiKey(key);
}

type BodyReader = ReadableStreamDefaultReader<Uint8Array>;

function bodyReader(response: Response, lifetime: CallLifetime): BodyReader | undefined {
  const reader = response.body?.getReader();
  // The caller's own `fetch` may not pass the signal on to the body.
  lifetime.signal.addEventListener("abort", () => void reader?.cancel().catch(() => undefined), { once: true });
  return reader;
}

/** Reads a whole body, or its first `limit` bytes. */
async function readBytes(response: Response, lifetime: CallLifetime, limit = Infinity): Promise<Uint8Array> {
  const reader = bodyReader(response, lifetime);
  if (reader === undefined) return new Uint8Array();
  const pieces: Uint8Array[] = [];
  let length = 0;
  while (length < limit) {
    const { done, value } = await reader.read();
    lifetime.check();
    if (done) break;
    lifetime.heard();
    pieces.push(value);
    length += value.length;
  }
  if (length >= limit) await reader.cancel();
  const bytes = new Uint8Array(length);
  let offset = 0;
  for (const piece of pieces) {
    bytes.set(piece, offset);
    offset += piece.length;
  }
  return bytes;
}

function openBody(response: Response, lifetime: CallLifetime): OpenBody {
  const reader = bodyReader(response, lifetime);
  return {
    head: answerHead(response.status, response.headers),
    async read() {
      if (lifetime.closed) return undefined;
      try {
        const { done, value } = (await reader?.read()) ?? { done: true };
        lifetime.check();
        lifetime.heard();
        return done ? undefined : value;
      } catch (error) {
        if (lifetime.closed) return undefined;
        throw asStreamFailure(lifetime.explain(error));
      }
    },
    check: () => lifetime.check(),
    get closed() {
      return lifetime.closed;
    },
    close: () => lifetime.close(),
    finish() {
      lifetime.complete();
      if (reader !== undefined && !lifetime.closed) void readRest(reader, lifetime);
    },
  };
}

/** If the connection fails during a stream, the stream is incomplete. */
function asStreamFailure(failure: SoundingError): SoundingError {
  if (!(failure instanceof ConnectionError)) return failure;
  return new IncompleteStreamError(`The stream failed: ${failure.message}`, failure);
}

/** Reads what follows the end marker, which is only the end, so that the connection can be reused. */
async function readRest(reader: BodyReader, lifetime: CallLifetime): Promise<void> {
  const timer = setTimeout(() => lifetime.close(), endOfBodyMs);
  try {
    while (!(await reader.read()).done);
  } catch {
    // The response is complete; how its connection ends does not matter.
  } finally {
    clearTimeout(timer);
  }
}
