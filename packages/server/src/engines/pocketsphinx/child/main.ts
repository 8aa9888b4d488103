/**
 * Entry of a recogniser's process: loads the model, hears one utterance after the other, and ends when the IPC channel
 * does, so that it never outlives the server, however that ended. Any failure ends it: what native code would say next
 * cannot be trusted.
 */
import type { FromRecogniser, ToRecogniser } from "../protocol.ts";
import { createDecoder, type Decoder } from "./decoder.ts";
import { beginUtterance, type Utterance } from "./utterance.ts";

let decoder: Decoder | undefined;
let utterance: Utterance | undefined;

function send(message: FromRecogniser): void {
  if (process.connected) process.send?.(message);
}

function fail(error: unknown): never {
  process.stderr.write(error instanceof Error ? (error.stack ?? error.message) : String(error));
  process.exit(1);
}

process.on("message", (message: ToRecogniser) => {
  switch (message.type) {
    case "load":
      try {
        decoder = createDecoder(message.installation);
      } catch (error) {
        return send({ type: "unusable", reason: error instanceof Error ? error.message : String(error) });
      }
      return send({ type: "ready" });
    case "begin":
      utterance = beginUtterance(decoder!, message, {
        onPartial: (heardMs, words) => send({ type: "partial", heardMs, words }),
        onResult: (words, mean) => send({ type: "result", words, mean }),
        onFailure: fail,
      });
      return;
    case "samples":
      return utterance?.push(message.samples);
    case "end":
      return utterance?.end();
  }
});

process.on("disconnect", () => process.exit());
// Ctrl-C reaches the whole process group: the server finishes its calls first and then closes the channel.
process.on("SIGINT", () => {});
process.on("SIGTERM", () => {});
