/** Entry point of a model's process: loads one model and serves calls over the IPC channel. */
import { writeFile } from "node:fs/promises";
import { listenToParent, sendToParent } from "../../../child-process/parent-channel.ts";
import { AppError, toAppError } from "../../../errors.ts";
import {
  eventWindow,
  type FromModel,
  type LoadSettings,
  type ModelEvent,
  type ToModel,
  type WireError,
} from "../protocol.ts";
import { createEmbeddingHost, type EmbeddingHost } from "./embedding-host.ts";
import { loadModel, type ReportLog } from "./load-model.ts";
import { createModelHost, type ModelHost } from "./model-host.ts";

interface RunningCall {
  readonly abort: AbortController;
  /** Events sent and not yet taken. */
  underway: number;
  resume: () => void;
}

const running = new Map<number, RunningCall>();
let host: ModelHost | EmbeddingHost | undefined;

const send: (message: FromModel) => void = sendToParent;

function toWireError(thrown: unknown): WireError {
  const { code, message, param, lasting } = toAppError(thrown);
  return { code, message, param: param ?? undefined, ...(lasting ? { lasting } : {}) };
}

/** To the server's log. */
const report: ReportLog = (level, message) => send({ type: "log", level, message });

async function load(settings: LoadSettings): Promise<void> {
  try {
    const loaded = await loadModel(settings, report);
    host = loaded.purpose === "chat" ? createModelHost(loaded, report) : createEmbeddingHost(loaded);
    send({ type: "ready", purpose: loaded.purpose, promptLimit: host.promptLimit, device: loaded.device });
  } catch (error) {
    send({ type: "unusable", error: toWireError(error) });
  }
}

type Work = (signal: AbortSignal, emit: (event: ModelEvent) => Promise<void>) => Promise<void>;

async function serve(call: number, work: Work): Promise<void> {
  const state: RunningCall = { abort: new AbortController(), underway: 0, resume: () => {} };
  running.set(call, state);
  const { signal } = state.abort;
  const emit = async (event: ModelEvent): Promise<void> => {
    signal.throwIfAborted();
    send({ type: "event", call, event });
    state.underway++;
    while (state.underway >= eventWindow) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const previous = state.resume;
      state.resume = () => {
        previous();
        resolve();
      };
      await promise;
      signal.throwIfAborted();
    }
  };
  try {
    await work(signal, emit);
    send({ type: "ended", call });
  } catch (error) {
    if (!signal.aborted) logUnknown(error);
    send({
      type: "failed",
      call,
      error: signal.aborted ? { code: "client_closed", message: "The call was cancelled." } : toWireError(error),
    });
  } finally {
    running.delete(call);
  }
}

/** What is not an AppError is a fault: the log gets its stack, the caller does not. */
function logUnknown(error: unknown): void {
  if (error instanceof AppError) return;
  send({
    type: "log",
    level: "error",
    message: error instanceof Error ? (error.stack ?? error.message) : String(error),
  });
}

function wake(state: RunningCall): void {
  const { resume } = state;
  state.resume = () => {};
  resume();
}

listenToParent((message: ToModel) => {
  switch (message.type) {
    case "load":
      void load(message.settings);
      return;
    case "generate":
      void serve(message.call, async (signal, emit) => {
        if (host?.purpose !== "chat") throw new AppError("internal", "No model that chats is loaded.");
        await host.generate(message.generation, signal, emit);
      });
      return;
    case "embed":
      void serve(message.call, async (signal, emit) => {
        if (host?.purpose !== "embeddings") throw new AppError("internal", "No model that embeds is loaded.");
        await emit(await host.embed(message.input, signal));
      });
      return;
    case "taken": {
      const state = running.get(message.call);
      if (state === undefined) return;
      state.underway -= message.count;
      wake(state);
      return;
    }
    case "cancel": {
      const state = running.get(message.call);
      state?.abort.abort();
      if (state !== undefined) wake(state);
    }
  }
});

// When memory runs out, the kernel ends this process before the server.
if (process.platform === "linux") writeFile("/proc/self/oom_score_adj", "500").catch(() => {});
