/** The asynchronous transport: `fetch`, retries, time limits and cancellation. */
import { ConfigurationError, ConnectionError, IncompleteStreamError, SoundingError } from "./errors.ts";
import { CallLifetime } from "./lifetime.ts";
import type { AsyncEventStream, StreamDecoder, Transport } from "./mode.ts";
import { checkedApiKey, type ClientSettings } from "./options.ts";
import { buildRequest, defaultTimeoutMs, type HttpRequest } from "./request.ts";
import { answerHead, errorOfAnswer, type AnswerHead } from "./response.ts";
import { retryWaitMs } from "./retry.ts";

/** Of the body of an answer that is an error, more than this is not read. */
const longestErrorBytes = 1024 * 1024;

/** How long the end of a stream is waited for after its end mark, so that the connection can be used again. */
const endOfBodyMs = 1000;

export function createAsyncTransport(settings: ClientSettings): Transport<"async"> {
  return {
    async send(apiRequest, read) {
      const request = buildRequest(apiRequest, settings);
      const limit = { of: "whole", ms: request.timeoutMs ?? defaultTimeoutMs } as const;
      const lifetime = new CallLifetime({ signal: request.signal, limit });
      try {
        const answer = await untilGood(request, settings, lifetime, async (response) => ({
          head: answerHead(response.status, response.headers),
          bytes: await readBytes(response, lifetime),
        }));
        return read(answer);
      } finally {
        lifetime.complete();
      }
    },

    async stream(apiRequest, open) {
      const request = buildRequest(apiRequest, settings);
      const limit =
        request.timeoutMs === undefined
          ? ({ of: "silence", ms: defaultTimeoutMs } as const)
          : ({ of: "whole", ms: request.timeoutMs } as const);
      const lifetime = new CallLifetime({ signal: request.signal, limit });
      try {
        const response = await untilGood(request, settings, lifetime, async (good) => good);
        const head = answerHead(response.status, response.headers);
        return eventStream(head, response, lifetime, open(head));
      } catch (error) {
        lifetime.close();
        throw error;
      }
    },
  };
}

/** Sends until an answer is good and taken, or there is no hope. */
async function untilGood<T>(
  request: HttpRequest,
  settings: ClientSettings,
  lifetime: CallLifetime,
  take: (response: Response) => Promise<T>,
): Promise<T> {
  for (let retries = 0; ; retries += 1) {
    try {
      return await take(await attempt(request, settings, lifetime));
    } catch (error) {
      const failure = lifetime.explain(error);
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

/** Sends once. Resolves to an answer with a status of 2xx; throws ApiStatusError for any other. */
async function attempt(request: HttpRequest, settings: ClientSettings, lifetime: CallLifetime): Promise<Response> {
  const { method, url, headers, body } = request;
  const key = await apiKeyOf(settings, lifetime);
  const { fetch } = settings;
  const response = await lifetime.during(() =>
    fetch(url, {
      method,
      headers: { authorization: `Bearer ${key}`, ...headers },
      signal: lifetime.signal,
      ...(body === undefined ? {} : { body }),
    }),
  );
  if (response.ok) return response;
  const bytes = await readBytes(response, lifetime, longestErrorBytes);
  throw errorOfAnswer({ head: answerHead(response.status, response.headers), bytes });
}

async function apiKeyOf(settings: ClientSettings, lifetime: CallLifetime): Promise<string> {
  const { apiKey } = settings;
  if (typeof apiKey === "string") return apiKey;
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
  // A `fetch` of the caller's may not pass the signal on to the body.
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

function eventStream<T>(
  head: AnswerHead,
  response: Response,
  lifetime: CallLifetime,
  decoder: StreamDecoder<T>,
): AsyncEventStream<T> {
  const events = readEvents(bodyReader(response, lifetime), lifetime, decoder);
  let iterated = false;
  return {
    head,
    [Symbol.asyncIterator]() {
      if (iterated) throw new ConfigurationError("The stream was iterated already; its events come once.");
      iterated = true;
      return events;
    },
    close: async () => lifetime.close(),
  };
}

async function* readEvents<T>(
  reader: BodyReader | undefined,
  lifetime: CallLifetime,
  decoder: StreamDecoder<T>,
): AsyncGenerator<T, void, void> {
  let whole = false;
  try {
    while (!decoder.finished && !lifetime.closed) {
      const { done, value } = (await reader?.read()) ?? { done: true };
      lifetime.check();
      lifetime.heard();
      for (const event of value === undefined ? decoder.end() : decoder.push(value)) {
        yield event;
        lifetime.check();
        if (lifetime.closed) return;
      }
      if (done) break;
    }
    whole = true;
  } catch (error) {
    if (lifetime.closed) return;
    throw asStreamFailure(lifetime.explain(error));
  } finally {
    if (whole && !lifetime.closed) void readRest(reader, lifetime);
    else lifetime.close();
  }
}

/** A connection that breaks in a stream leaves it incomplete. */
function asStreamFailure(failure: SoundingError): SoundingError {
  if (!(failure instanceof ConnectionError) || failure instanceof IncompleteStreamError) return failure;
  return new IncompleteStreamError(`The stream broke off: ${failure.message}`, failure);
}

/** Reads what follows the end mark, which is nothing but the end, so that the connection can be used again. */
async function readRest(reader: BodyReader | undefined, lifetime: CallLifetime): Promise<void> {
  lifetime.complete();
  if (reader === undefined) return;
  const timer = setTimeout(() => lifetime.close(), endOfBodyMs);
  try {
    while (!(await reader.read()).done);
  } catch {
    // The answer is whole; how its connection ends does not matter any more.
  } finally {
    clearTimeout(timer);
  }
}
