/** Entry point of the process that converts one Whisper model. */
import { listenToParent, sendToParent } from "../../../child-process/parent-channel.ts";
import type { FromConverter, ToConverter } from "../protocol.ts";
import { UnusableWeights } from "../weights-file.ts";
import { convert } from "./convert.ts";

const send: (message: FromConverter) => void = sendToParent;

listenToParent((message: ToConverter) => {
  convert(message, (doneBytes, totalBytes) => send({ type: "progress", doneBytes, totalBytes })).then(
    () => send({ type: "done" }),
    (error: unknown) => {
      const type = error instanceof UnusableWeights ? "unusable" : "failed";
      send({ type, message: error instanceof Error ? error.message : String(error) });
    },
  );
});
