/**
 * OTLP/JSON to protobuf without holding the event loop: small bodies at once, large ones in a worker thread, since
 * JSON.parse cannot be cut into slices.
 */
import { Worker } from "node:worker_threads";
import { AppError, type ErrorCode } from "../../errors.ts";
import type { Logger } from "../../logger.ts";
import { scriptBeside } from "../../subprocess.ts";
import { jsonToProtobuf } from "./json-request.ts";
import type { Signal, SignalName } from "./signals.ts";

/** Bodies up to this size are converted at once: about three milliseconds. */
const inlineBytes = 131_072;
/** The worker's heap: what a body of 64 MiB of ordinary records needs, with room to spare. */
const defaultHeapMiB = 1280;

/** What the worker is asked, and what it answers. */
export interface ConvertRequest {
  readonly id: number;
  readonly signal: SignalName;
  readonly bytes: Uint8Array;
}
export type ConvertAnswer =
  | { readonly id: number; readonly bytes: Uint8Array }
  | {
      readonly id: number;
      readonly error: { readonly code: ErrorCode; readonly message: string; readonly param: string | null };
    };

export interface JsonConverter {
  /** @throws AppError invalid_json, invalid_request or, when the body is too much even for the worker, payload_too_large */
  convert(bytes: Uint8Array, signal: Signal): Uint8Array | Promise<Uint8Array>;
  close(): Promise<void>;
}

interface Waiting {
  readonly resolve: (bytes: Uint8Array) => void;
  readonly reject: (error: unknown) => void;
}

const entry = scriptBeside(import.meta.url, "json-worker");

/** @param heapMiB the worker's heap; a body that needs more is refused */
export function createJsonConverter(logger: Logger, heapMiB = defaultHeapMiB): JsonConverter {
  const waiting = new Map<number, Waiting>();
  let worker: Worker | undefined;
  let lastId = 0;

  /** One body after the other, so that the heap is there for one of them alone; a worker that dies fails the one it had. */
  let turn: Promise<unknown> = Promise.resolve();

  function start(): Worker {
    const started = new Worker(entry, { resourceLimits: { maxOldGenerationSizeMb: heapMiB } });
    started.unref();
    started.on("message", (answer: ConvertAnswer) => {
      const call = waiting.get(answer.id);
      waiting.delete(answer.id);
      if ("bytes" in answer) call?.resolve(answer.bytes);
      else
        call?.reject(new AppError(answer.error.code, answer.error.message, { param: answer.error.param ?? undefined }));
    });
    started.on("error", (error) => fail(started, error));
    started.on("exit", () => fail(started, undefined));
    return started;
  }

  function fail(died: Worker, error: unknown): void {
    // Its error was seen before its end, and another worker may be at work by now.
    if (worker !== died) return;
    worker = undefined;
    if (waiting.size > 0) logger.warn({ error }, "the worker that reads OTLP/JSON died; it is started again");
    const reason = new AppError("internal", "The body could not be read; the log has the details.", { cause: error });
    for (const call of waiting.values()) call.reject(reason);
    waiting.clear();
  }

  function inWorker(bytes: Uint8Array, signal: Signal): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      worker ??= start();
      lastId += 1;
      waiting.set(lastId, { resolve, reject });
      // A running call keeps the process alive, an idle worker does not.
      worker.ref();
      // A large body has its memory to itself, and nobody needs it any more: it is handed over, not copied.
      const whole = bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes);
      const request: ConvertRequest = { id: lastId, signal: signal.name, bytes: whole };
      worker.postMessage(request, [whole.buffer as ArrayBuffer]);
    });
  }

  return {
    convert(bytes, signal) {
      if (bytes.length <= inlineBytes) return jsonToProtobuf(bytes, signal.messages.request);
      const converted = turn.then(() => inWorker(bytes, signal)).finally(() => worker?.unref());
      turn = converted.catch(() => {});
      return converted;
    },
    async close() {
      await turn;
      await worker?.terminate();
    },
  };
}
