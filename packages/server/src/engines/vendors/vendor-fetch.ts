/**
 * Implements the adapters' `fetch` with undici's `request`, which uses 40 % less CPU per call than the global fetch, adds
 * timeouts, and completes the body. https://undici.nodejs.org/#/docs/api/Dispatcher
 */
import { pipeline, type Readable } from "node:stream";
import { request, type Dispatcher } from "undici";
import { AppError } from "../../errors.ts";
import { inputLimit } from "../../input-limits.ts";
import { BodyCollector } from "../upstream-http/body-collector.ts";
import { decoderOf } from "../upstream-http/decompressed-response.ts";
import { responseTooLarge } from "../upstream-http/request-json.ts";
import type { ResponseHeaders } from "../upstream-http/response-reader.ts";
import type { TimeLimits } from "../upstream-http/time-limits.ts";
import type { VendorCall } from "./vendor-call.ts";
import type { JsonObject } from "../../json-object.ts";
import type { VendorFetch } from "./vendor.ts";

interface VendorFetchOptions {
  readonly dispatcher: Dispatcher;
  readonly call: VendorCall;
  readonly label: string;
  /** For streamed answers; a batch answer has only the call's total time. */
  readonly limits?: TimeLimits | undefined;
  /** Completes the body that the adapter prepared. */
  readonly completeBody?: ((body: JsonObject) => void) | undefined;
}

const maximumAnswerBytes = inputLimit({
  area: "Chat completions",
  bounds: "Batch response of a vendor's own API",
  value: 33_554_432,
  unit: "bytes",
  error: "upstream_failed",
});
const withoutBody = new Set([101, 204, 205, 304]);

function toHeaders(fields: Record<string, string | string[] | undefined>): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(fields)) {
    for (const each of Array.isArray(value) ? value : [value]) if (each !== undefined) headers.append(name, each);
  }
  return headers;
}

/** A watch that ends the call when nothing came for a time. */
function watchSilence({ call, label }: VendorFetchOptions) {
  let timer: NodeJS.Timeout | undefined;
  return {
    start(limitMs: number, what: string) {
      clearTimeout(timer);
      timer = setTimeout(() => {
        call.cancel(new AppError("upstream_timeout", `${label} ${what} within ${limitMs} ms.`));
      }, limitMs);
    },
    stop: () => clearTimeout(timer),
  };
}

/** @throws AppError upstream_failed */
async function wholeText(body: Readable): Promise<string> {
  const collector = new BodyCollector(maximumAnswerBytes);
  for await (const bytes of body as AsyncIterable<Buffer>) {
    if (!collector.push(bytes)) throw responseTooLarge(maximumAnswerBytes);
  }
  return collector.text;
}

/** The body without the compression that a vendor, or a proxy, applied although that was not requested. */
function decompressed(body: Readable, headers: ResponseHeaders): Readable {
  const decoder = decoderOf(headers);
  // A failure of either destroys both, and its reader gets it.
  return decoder === undefined ? body : pipeline(body, decoder, () => {});
}

/** The body as a web stream that reads on demand, with a timeout for each read. */
function toWebStream(
  body: Readable,
  silence: ReturnType<typeof watchSilence>,
  { call, idleTimeoutMs }: { readonly call: VendorCall; readonly idleTimeoutMs: number },
) {
  const chunks = body[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  let begun = false;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (begun) silence.start(idleTimeoutMs, "sent nothing more");
        begun = true;
        try {
          const { done, value } = await chunks.next();
          if (done === true) controller.close();
          else {
            call.fruitless.add(value.length);
            controller.enqueue(value);
          }
        } catch (error) {
          if (error instanceof AppError) call.cancel(error);
          throw error;
        } finally {
          silence.stop();
        }
      },
      cancel() {
        silence.stop();
        body.destroy();
      },
    },
    { highWaterMark: 0 },
  );
}

function toBody(init: RequestInit | undefined, complete: VendorFetchOptions["completeBody"]): string | undefined {
  const body = init?.body as string | null | undefined;
  if (body === null || body === undefined || complete === undefined) return body ?? undefined;
  const parsed = JSON.parse(body) as JsonObject;
  complete(parsed);
  return JSON.stringify(parsed);
}

/** A `fetch` for one call. Rejects with the call's reason once the call is cancelled. */
export function createVendorFetch(options: VendorFetchOptions): VendorFetch {
  const { dispatcher, call, limits } = options;
  return async (input, init) => {
    const silence = watchSilence(options);
    if (limits !== undefined) silence.start(limits.firstByteTimeoutMs, "did not start to respond");
    try {
      const { statusCode, headers, body } = await request(input instanceof Request ? input.url : input, {
        method: init?.method ?? "GET",
        headers: init?.headers as Record<string, string>,
        body: toBody(init, options.completeBody) ?? null,
        signal: call.signal,
        dispatcher,
        headersTimeout: 0,
        bodyTimeout: 0,
      });
      const described = { status: statusCode, headers: toHeaders(headers) };
      if (withoutBody.has(statusCode)) {
        await body.dump();
        return new Response(null, described);
      }
      const content = decompressed(body, headers);
      if (limits === undefined) return new Response(await wholeText(content), described);
      return new Response(toWebStream(content, silence, { call, idleTimeoutMs: limits.idleTimeoutMs }), described);
    } catch (error) {
      silence.stop();
      throw error;
    }
  };
}
