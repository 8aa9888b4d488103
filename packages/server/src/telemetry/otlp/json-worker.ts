/** The worker thread that reads large OTLP/JSON bodies: JSON in, protobuf out. */
import { parentPort, resourceLimits } from "node:worker_threads";
import { toAppError } from "../../errors.ts";
import type { ConvertAnswer, ConvertRequest } from "./json-converter.ts";
import { jsonToProtobuf } from "./json-request.ts";
import { signals } from "./signals.ts";

/** A part stays free for what else the worker needs. */
const heapBytes = (resourceLimits.maxOldGenerationSizeMb ?? 0) * 1_048_576 * 0.9;

parentPort?.on("message", ({ id, signal, bytes }: ConvertRequest) => {
  try {
    // A copy with a buffer of its own, which is handed over instead of copied once more.
    const converted = new Uint8Array(jsonToProtobuf(bytes, signals[signal].messages.request, heapBytes));
    parentPort?.postMessage({ id, bytes: converted } satisfies ConvertAnswer, [converted.buffer]);
  } catch (thrown) {
    const { code, message, param } = toAppError(thrown);
    parentPort?.postMessage({ id, error: { code, message, param } } satisfies ConvertAnswer);
  }
});
