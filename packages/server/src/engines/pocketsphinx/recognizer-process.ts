/** One process with PocketSphinx: starts, decodes one utterance at a time, is killed when it is no longer needed. */
import { IpcProcess } from "../../child-process/ipc-process.ts";
import type { PooledProcess } from "../../child-process/pooled-process.ts";
import { siblingScript } from "../../child-process/sibling-script.ts";
import { libraryPaths } from "../../config/library-paths.ts";
import { AppError } from "../../errors.ts";
import type { Installation } from "./installation.ts";
import type { FromRecognizer, RecognizedWord, ToRecognizer } from "./protocol.ts";
import type { UtteranceAudio } from "./utterance-audio.ts";

export interface RecognizerProcess extends PooledProcess {
  /** Decodes one utterance; the one before must be done. Does not settle if the process ends. */
  decode(audio: UtteranceAudio): Promise<readonly RecognizedWord[]>;
}

const startTimeoutMs = 60_000;
const script = siblingScript(import.meta.url, "child/main");

/** @throws AppError upstream_failed */
export async function startRecognizer(installation: Installation, signal?: AbortSignal): Promise<RecognizerProcess> {
  const process = new IpcProcess<ToRecognizer, FromRecognizer>({
    script,
    environment: libraryPaths(installation.loaderFolders),
    serialization: "advanced",
  });
  const ended = process.ended.then(
    ({ how }) => new Error(`The recognizer exited: ${how} ${process.lastOutput}`.trim()),
  );
  try {
    await process.start({ type: "load", installation }, readReady, {
      timeoutMs: startTimeoutMs,
      ...(signal === undefined ? {} : { signal }),
      timedOut: () => new Error("The model was not loaded in time."),
      ended: ({ how }) => new Error(`The recognizer exited: ${how} ${process.lastOutput}`.trim()),
    });
  } catch (cause) {
    throw new AppError("upstream_failed", "The recognizer cannot be started.", { cause });
  }
  let result: ((words: readonly RecognizedWord[]) => void) | undefined;
  process.listen((message) => {
    if (message.type !== "result") return;
    process.unref();
    result?.(message.words);
  });
  // An idle process does not keep the server running.
  process.unref();
  return {
    ended,
    decode(audio) {
      const { promise, resolve } = Promise.withResolvers<readonly RecognizedWord[]>();
      result = resolve;
      process.ref();
      process.send({ type: "begin" });
      for (const samples of audio.pieces) process.send({ type: "samples", samples });
      process.send({ type: "end" });
      return promise;
    },
    stop() {
      // Callers wait for the end.
      process.ref();
      process.kill();
    },
  };
}

/** @throws Error if the model cannot be loaded */
function readReady(message: FromRecognizer): FromRecognizer | undefined {
  if (message.type === "unusable") throw new Error(message.reason);
  return message.type === "ready" ? message : undefined;
}
