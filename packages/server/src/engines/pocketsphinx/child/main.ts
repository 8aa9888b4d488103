/**
 * Entry point of a recognizer's process: loads the model and decodes one utterance after another. Any failure ends the
 * process, because the output of broken native code cannot be trusted.
 */
import { listenToParent, sendToParent } from "../../../child-process/parent-channel.ts";
import type { FromRecognizer, ToRecognizer } from "../protocol.ts";
import { createDecoder, type Decoder } from "./decoder.ts";
import { beginUtterance, type Utterance } from "./utterance.ts";

let decoder: Decoder | undefined;
let utterance: Utterance | undefined;

const send: (message: FromRecognizer) => void = sendToParent;

function fail(error: unknown): never {
  process.stderr.write(error instanceof Error ? (error.stack ?? error.message) : String(error));
  process.exit(1);
}

listenToParent((message: ToRecognizer) => {
  switch (message.type) {
    case "load":
      try {
        decoder = createDecoder(message.installation);
      } catch (error) {
        return send({ type: "unusable", reason: error instanceof Error ? error.message : String(error) });
      }
      return send({ type: "ready" });
    case "begin":
      utterance = beginUtterance(decoder!, {
        onResult: (words) => send({ type: "result", words }),
        onFailure: fail,
      });
      return;
    case "samples":
      return utterance?.push(message.samples);
    case "end":
      return utterance?.end();
  }
});
