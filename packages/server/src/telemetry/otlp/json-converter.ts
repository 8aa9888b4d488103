/**
 * OTLP/JSON to protobuf without holding the event loop: small bodies at once, large ones in a worker thread, since
 * JSON.parse cannot be cut into slices.
 */
import { AppError, type ErrorCode } from "../../errors.ts";
import { FairQueue } from "../../scheduling/fair-queue.ts";
import { inputLimit } from "../../input-limits.ts";
import type { Logger } from "../../logger.ts";
import { siblingScript } from "../../child-process/sibling-script.ts";
import { WatchedWorker, type WorkerEnd } from "../../child-process/watched-worker.ts";
import { jsonToProtobuf } from "./json-request.ts";
import type { Signal, SignalName } from "./signals.ts";

/** Bodies up to this size are converted at once: under a millisecond, and 15 ms for the worst of them. */
const inlineBytes = 32_768;
/** The worker's heap: what a body of 64 MiB of ordinary records needs, with room to spare. */
const defaultHeapMiB = 1280;

/** The request, its text and the protobuf message, each at most 64 MiB, with room to spare. */
const buffersMiB = 512;
/** The longest body takes about three seconds. */
const defaultLongestCpuMs = inputLimit({
  area: "OpenTelemetry data",
  bounds: "CPU time for reading one OTLP/JSON body",
  value: 30_000,
  unit: "ms",
  error: "payload_too_large",
});

/** What the worker is asked, and what it answers. */
export interface ConvertRequest {
  readonly signal: SignalName;
  readonly bytes: Uint8Array;
  /** What parsing may take of the worker's heap. */
  readonly heapBytes: number;
}
export type ConvertAnswer =
  | { readonly bytes: Uint8Array }
  | {
      readonly error: { readonly code: ErrorCode; readonly message: string; readonly param: string | null };
    };

export interface JsonConverter {
  /** @throws AppError invalid_json, invalid_request or, when the body is too much even for the worker, payload_too_large */
  convert(bytes: Uint8Array, signal: Signal, organizationId: string): Uint8Array | Promise<Uint8Array>;
  close(): Promise<void>;
}

/** The body that the worker has. */
interface Waiting {
  readonly resolve: (bytes: Uint8Array) => void;
  readonly reject: (error: unknown) => void;
}

const entry = siblingScript(import.meta.url, "json-worker");

const tooMuch: Readonly<Record<Exclude<WorkerEnd["reason"], "crashed">, string>> = {
  stalled: "This JSON body takes too long to read; send smaller requests, or protobuf.",
  memory: "This JSON body needs too much memory; send smaller requests, or protobuf.",
};

/** `heapMiB`: the worker's heap; a body that needs more is refused, as is one that takes more than `longestCpuMs`. */
export function createJsonConverter(
  logger: Logger,
  { heapMiB = defaultHeapMiB, longestCpuMs = defaultLongestCpuMs } = {},
): JsonConverter {
  let waiting: Waiting | undefined;
  let worker: WatchedWorker | undefined;

  /**
   * One body after the other, so that the heap is there for one of them alone; a worker that dies fails the one it had.
   * Organizations take turns. The memory budget bounds how many wait.
   */
  const turns = new FairQueue({ places: 1, maxWaiting: 100_000, what: "The reader of OTLP/JSON" });
  const never = new AbortController().signal;

  const onMessage = (message: unknown): void => {
    const answer = message as ConvertAnswer;
    if ("bytes" in answer) return waiting?.resolve(answer.bytes);
    waiting?.reject(new AppError(answer.error.code, answer.error.message, { param: answer.error.param ?? undefined }));
  };

  const onEnd = ({ reason, error }: WorkerEnd): void => {
    worker = undefined;
    if (reason !== "crashed") return waiting?.reject(new AppError("payload_too_large", tooMuch[reason]));
    if (waiting !== undefined) logger.warn({ error }, "the worker that reads OTLP/JSON died; it is started again");
    waiting?.reject(new AppError("internal", "The body could not be read; the log has the details.", { cause: error }));
  };

  function inWorker(bytes: Uint8Array, signal: Signal): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      worker ??= new WatchedWorker(entry, { stallCpuMs: longestCpuMs, heapMiB, buffersMiB }, { onMessage, onEnd });
      waiting = { resolve, reject };
      // JSON.parse reports no progress, so a body has its whole CPU time at once.
      worker.watch(() => 0);
      // A large body has its memory to itself, and nobody needs it any more: it is handed over, not copied.
      const whole = bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes);
      // A part of the heap stays free for what else the worker needs.
      const request: ConvertRequest = { signal: signal.name, bytes: whole, heapBytes: heapMiB * 2 ** 20 * 0.9 };
      worker.post(request, [whole.buffer as ArrayBuffer]);
    });
  }

  async function inTurn(bytes: Uint8Array, signal: Signal, organizationId: string): Promise<Uint8Array> {
    const leave = await turns.enter(organizationId, never);
    try {
      return await inWorker(bytes, signal);
    } finally {
      waiting = undefined;
      worker?.unwatch();
      leave();
    }
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
