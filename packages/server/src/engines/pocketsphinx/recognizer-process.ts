/** One process with PocketSphinx: starts, decodes one utterance at a time, is killed when it is no longer needed. */
import { IpcProcess } from "../../child-process/ipc-process.ts";
import { siblingScript } from "../../child-process/sibling-script.ts";
import { libraryPaths } from "../../config/library-paths.ts";
import { AppError } from "../../errors.ts";
import type { Installation } from "./installation.ts";
import type { FromRecognizer, ToRecognizer } from "./protocol.ts";

/** What the process reports about an utterance. */
export type RecognitionMessage = Exclude<FromRecognizer, { type: "ready" | "unusable" }>;

export interface RecognizerProcess {
  /** Resolves with the reason when the process has ended. */
  readonly ended: Promise<string>;
  send(message: Exclude<ToRecognizer, { type: "load" }>): void;
  /** Sets the one listener of later messages. */
  listen(listener: (message: RecognitionMessage) => void): void;
  stop(): void;
}

const startTimeoutMs = 60_000;
const script = siblingScript(import.meta.url, "child/main");

/** @throws AppError upstream_failed */
export async function startRecognizer(installation: Installation): Promise<RecognizerProcess> {
  const process = new IpcProcess<ToRecognizer, FromRecognizer>({
    script,
    environment: libraryPaths(installation.loaderFolders),
    serialization: "advanced",
  });
  const ended = process.ended.then(({ how }) => `${how} ${process.lastOutput}`.trim());
  try {
    await process.start({ type: "load", installation }, readReady, {
      timeoutMs: startTimeoutMs,
      timedOut: () => new Error("The model was not loaded in time."),
      ended: ({ how }) => new Error(`The recognizer exited: ${how} ${process.lastOutput}`.trim()),
    });
  } catch (cause) {
    throw new AppError("upstream_failed", "The recognizer cannot be started.", { cause });
  }
  let listener: ((message: RecognitionMessage) => void) | undefined;
  process.listen((message) => {
    if (message.type === "ready" || message.type === "unusable") return;
    if (message.type === "result") process.unref();
    listener?.(message);
  });
  // An idle process does not keep the server running.
  process.unref();
  return {
    ended,
    send(message) {
      if (message.type === "begin") process.ref();
      process.send(message);
    },
    listen: (next) => (listener = next),
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
