/** Worker thread that converts large OTLP/JSON bodies to protobuf. */
import { parentPort } from "node:worker_threads";
import { toAppError } from "../../errors.ts";
import type { ConvertAnswer, ConvertRequest } from "./json-converter.ts";
import { jsonToProtobuf } from "./json-request.ts";
import { signals } from "./signals.ts";

parentPort?.on("message", ({ signal, bytes, heapBytes }: ConvertRequest) => {
  try {
    // A copy with its own buffer, which is transferred instead of copied again.
    const converted = new Uint8Array(jsonToProtobuf(bytes, signals[signal].messages.request, heapBytes));
    parentPort?.postMessage({ bytes: converted } satisfies ConvertAnswer, [converted.buffer]);
  } catch (thrown) {
    const { code, message, param } = toAppError(thrown);
    parentPort?.postMessage({ error: { code, message, param } } satisfies ConvertAnswer);
  }
});
