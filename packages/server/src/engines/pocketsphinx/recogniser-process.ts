/**
 * One process with PocketSphinx in it: started, given utterances one at a time, ended. Native code that crashes takes
 * this process with it and nothing else.
 */
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { libraryPaths } from "../../config/library-paths.ts";
import { AppError } from "../../errors.ts";
import { keepLastOutput, scriptBeside } from "../../child-process/subprocess.ts";
import type { Installation } from "./installation.ts";
import type { FromRecogniser, ToRecogniser } from "./protocol.ts";

/** What comes back of an utterance. */
export type RecognitionMessage = Exclude<FromRecogniser, { type: "ready" | "unusable" }>;

export interface RecogniserProcess {
  /** Resolves to what was wrong when the process has ended. */
  readonly ended: Promise<string>;
  send(message: Exclude<ToRecogniser, { type: "load" }>): void;
  /** Told of what comes from now on. */
  listen(listener: (understanding: RecognitionMessage) => void): void;
  stop(): void;
}

/** Longest time for a process to load the model. */
const startTimeoutMs = 60_000;

const entry = fileURLToPath(scriptBeside(import.meta.url, "child/main"));

/** @throws AppError upstream_failed */
export async function startRecogniser(installation: Installation): Promise<RecogniserProcess> {
  const child = fork(entry, [], {
    execArgv: [],
    env: libraryPaths(),
    serialization: "advanced",
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  const lastOutput = keepLastOutput(child);
  const ended = new Promise<string>((resolve) => {
    child.once("exit", (code, signal) => resolve(`${signal ?? `code ${code}`} ${lastOutput()}`.trim()));
    child.once("error", (error) => resolve(error.message));
  });
  let listener: ((understanding: RecognitionMessage) => void) | undefined;
  const send = (message: ToRecogniser): void => {
    // A channel that has closed is noticed by the exit that follows it.
    if (child.connected) child.send(message, () => {});
  };
  const { promise: loaded, resolve, reject } = Promise.withResolvers<void>();
  child.on("message", (message: FromRecogniser) => {
    if (message.type === "ready") resolve();
    else if (message.type === "unusable") reject(new Error(message.reason));
    else listener?.(message);
  });
  const timer = setTimeout(() => reject(new Error("The model was not loaded in time.")), startTimeoutMs);
  void ended.then((how) => reject(new Error(`The recognizer exited: ${how}`)));
  send({ type: "load", installation });
  try {
    await loaded;
  } catch (cause) {
    child.kill("SIGKILL");
    throw new AppError("upstream_failed", "The recognizer cannot be started.", { cause });
  } finally {
    clearTimeout(timer);
  }
  // A server with nothing else to do may end.
  child.unref();
  child.channel?.unref();
  return {
    ended,
    send,
    listen: (next) => (listener = next),
    stop() {
      // Who waits for its end does so until it has come.
      child.ref();
      child.kill("SIGKILL");
    },
  };
}
