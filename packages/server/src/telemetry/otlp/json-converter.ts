/**
 * Converts OTLP/JSON to protobuf without blocking the event loop: small bodies inline, large ones in a worker thread, because
 * JSON.parse cannot be interrupted.
 */
import { AppError, type ErrorCode } from "../../errors.ts";
import { FairQueue } from "../../scheduling/fair-queue.ts";
import { inputLimit } from "../../input-limits.ts";
import type { Logger } from "../../logger.ts";
import { siblingScript } from "../../child-process/sibling-script.ts";
import { WatchedWorker, type WorkerEnd } from "../../child-process/watched-worker.ts";
import { jsonToProtobuf } from "./json-request.ts";
import type { Signal, SignalName } from "./signals.ts";

/** Bodies up to this size are converted inline, which takes less than a millisecond, and 15 ms in the worst case. */
const inlineBytes = 32_768;
/** The worker's heap, which is more than a body of 64 MiB of ordinary records needs. */
const defaultHeapMiB = 1280;

/** For the request, its text and the protobuf message, at most 64 MiB each. */
const buffersMiB = 512;
/** The longest body takes about three seconds. */
const defaultLongestCpuMs = inputLimit({
  area: "OpenTelemetry data",
  bounds: "CPU time to parse one OTLP/JSON body",
  value: 30_000,
  unit: "ms",
  error: "payload_too_large",
});

/** The messages to and from the worker. */
export interface ConvertRequest {
  readonly signal: SignalName;
  readonly bytes: Uint8Array;
  /** How much of the worker's heap parsing can use. */
  readonly heapBytes: number;
}
export type ConvertAnswer =
  | { readonly bytes: Uint8Array }
  | {
      readonly error: { readonly code: ErrorCode; readonly message: string; readonly param: string | null };
    };

export interface JsonConverter {
  /** @throws AppError invalid_json, invalid_request or, if the body is too large even for the worker, payload_too_large */
  convert(bytes: Uint8Array, signal: Signal, organizationId: string): Uint8Array | Promise<Uint8Array>;
  close(): Promise<void>;
}

/** The pending conversion. */
interface Waiting {
  readonly resolve: (bytes: Uint8Array) => void;
  readonly reject: (error: unknown) => void;
}

const entry = siblingScript(import.meta.url, "json-worker");

const tooMuch: Readonly<Record<Exclude<WorkerEnd["reason"], "crashed">, string>> = {
  stalled: "This JSON body takes too long to parse; send smaller requests, or protobuf.",
  memory: "This JSON body needs too much memory; send smaller requests, or protobuf.",
};

/** Bodies that need more heap than `heapMiB` or more CPU time than `longestCpuMs` are rejected. */
export function createJsonConverter(
  logger: Logger,
  { heapMiB = defaultHeapMiB, longestCpuMs = defaultLongestCpuMs } = {},
): JsonConverter {
  let waiting: Waiting | undefined;
  let worker: WatchedWorker | undefined;

  /**
   * Converts one body at a time, so that it has the whole heap, and a crash fails only this one. The queue is round-robin over
   * organizations; the memory budget bounds its length.
   */
  const turns = new FairQueue({ places: 1, maxWaiting: 100_000, what: "The OTLP/JSON parser" });
  const never = new AbortController().signal;

  const onMessage = (message: unknown): void => {
    const answer = message as ConvertAnswer;
    if ("bytes" in answer) return waiting?.resolve(answer.bytes);
    waiting?.reject(new AppError(answer.error.code, answer.error.message, { param: answer.error.param ?? undefined }));
  };

  const onEnd = ({ reason, error }: WorkerEnd): void => {
    worker = undefined;
    if (reason !== "crashed") return waiting?.reject(new AppError("payload_too_large", tooMuch[reason]));
    if (waiting !== undefined) logger.warn({ error }, "the OTLP/JSON worker crashed and is being restarted");
    waiting?.reject(new AppError("internal", "The body could not be parsed; see the server's log.", { cause: error }));
  };

  function inWorker(bytes: Uint8Array, signal: Signal): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      worker ??= new WatchedWorker(entry, { stallCpuMs: longestCpuMs, heapMiB, buffersMiB }, { onMessage, onEnd });
      waiting = { resolve, reject };
      // JSON.parse reports no progress, so the CPU limit applies to the whole body.
      worker.watch(() => 0);
      // A large body has its own buffer and is not used afterwards, so it is transferred, not copied.
      const whole = bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes);
      // Leaves part of the heap for everything else in the worker.
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
      // Wait for the bodies ahead in the queue.
      const leave = await turns.enter("", never);
      leave();
      await worker?.terminate();
    },
  };
}
