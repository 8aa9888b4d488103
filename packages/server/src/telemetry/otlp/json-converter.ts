/**
 * OTLP/JSON to protobuf without holding the event loop: small bodies at once, large ones in a worker thread, since
 * JSON.parse cannot be cut into slices.
 */
import { Worker } from "node:worker_threads";
import { AppError, type ErrorCode } from "../../errors.ts";
import { FairQueue } from "../../fair-queue.ts";
import type { Logger } from "../../logger.ts";
import { scriptBeside } from "../../subprocess.ts";
import { jsonToProtobuf } from "./json-request.ts";
import type { Signal, SignalName } from "./signals.ts";

/** Bodies up to this size are converted at once: under a millisecond, and 15 ms for the worst of them. */
const inlineBytes = 32_768;
/** The worker's heap: what a body of 64 MiB of ordinary records needs, with room to spare. */
const defaultHeapMiB = 1280;

/** The longest body takes about three seconds of an idle processor; a worker that takes this long makes no progress. */
const defaultLongestMs = 120_000;

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
  convert(bytes: Uint8Array, signal: Signal, organizationId: string): Uint8Array | Promise<Uint8Array>;
  close(): Promise<void>;
}

interface Waiting {
  readonly resolve: (bytes: Uint8Array) => void;
  readonly reject: (error: unknown) => void;
}

const entry = scriptBeside(import.meta.url, "json-worker");

/** `heapMiB`: the worker's heap; a body that needs more is refused. `longestMs`: for one body; then it is refused. */
export function createJsonConverter(
  logger: Logger,
  { heapMiB = defaultHeapMiB, longestMs = defaultLongestMs } = {},
): JsonConverter {
  const waiting = new Map<number, Waiting>();
  let worker: Worker | undefined;
  let lastId = 0;

  /**
   * One body after the other, so that the heap is there for one of them alone; a worker that dies fails the one it had.
   * Organizations take turns. The memory budget bounds how many wait.
   */
  const turns = new FairQueue({ places: 1, maxWaiting: 100_000, what: "The reader of OTLP/JSON" });
  const never = new AbortController().signal;

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

  async function inTurn(bytes: Uint8Array, signal: Signal, organizationId: string): Promise<Uint8Array> {
    const leave = await turns.enter(organizationId, never);
    const watchdog = setTimeout(() => stopWorker(), longestMs);
    try {
      return await inWorker(bytes, signal);
    } finally {
      clearTimeout(watchdog);
      worker?.unref();
      leave();
    }
  }

  /** The body that it has is refused; the next one gets another worker. */
  function stopWorker(): void {
    const stopped = worker;
    worker = undefined;
    void stopped?.terminate();
    const reason = new AppError("payload_too_large", "This JSON body takes too long to read; send smaller requests.");
    for (const call of waiting.values()) call.reject(reason);
    waiting.clear();
  }

  return {
    convert(bytes, signal, organizationId) {
      if (bytes.length <= inlineBytes) return jsonToProtobuf(bytes, signal.messages.request);
      return inTurn(bytes, signal, organizationId);
    },
    async close() {
      // Every body before this one is converted once it is this one's turn.
      const leave = await turns.enter("", never);
      leave();
      await worker?.terminate();
    },
  };
}
