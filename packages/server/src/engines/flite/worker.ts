/**
 * Synthesizes phrases with Flite in a worker thread, one at a time. Any failure ends the thread, because the output of
 * a broken WebAssembly memory cannot be trusted.
 */
import { parentPort, workerData } from "node:worker_threads";
import { openFlite } from "./flite-library.ts";
import type { FlitePhrase, FromWorker, WorkerSetup } from "./protocol.ts";

const { module } = workerData as WorkerSetup;
const library = openFlite(module);
// V8 compiles functions when they are first called: the first caller should not wait for that.
library.speak("Ready.", "slt", 1);

const send = (message: FromWorker, transfer: ArrayBuffer[] = []): void => parentPort!.postMessage(message, transfer);

parentPort!.on("message", ({ text, voice, stretch }: FlitePhrase) => {
  const utterance = library.speak(text, voice, stretch);
  send({ type: "spoken", utterance }, [utterance.samples.buffer]);
});
send({ type: "ready" });
