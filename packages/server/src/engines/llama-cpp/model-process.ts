/**
 * One process that runs a GGUF model with llama.cpp: loads the model, generates or embeds, is killed when it is no longer
 * needed.
 */
import { onAbort } from "../../abort.ts";
import { IpcProcess } from "../../child-process/ipc-process.ts";
import type { PooledProcess } from "../../child-process/pooled-process.ts";
import { siblingScript } from "../../child-process/sibling-script.ts";
import { computeEnvironment } from "../../config/library-paths.ts";
import { AppError } from "../../errors.ts";
import type { Logger } from "../../logger.ts";
import { createEventQueue, type EventQueue } from "../event-queue.ts";
import { requireInputFit } from "./embedding-input.ts";
import { requireFit } from "./prompt-limit.ts";
import type {
  EmbeddedInput,
  EmbeddingInput,
  FromModel,
  Generation,
  GenerationEvent,
  LoadSettings,
  ModelEvent,
  ModelPurpose,
  ToModel,
  WireError,
} from "./protocol.ts";

export interface ModelProcess extends PooledProcess {
  /** The events of a generation; leaving the loop or aborting the signal cancels it. */
  generate(generation: Generation, signal: AbortSignal): AsyncGenerator<GenerationEvent, void, undefined>;
  /** The vector of one text; aborting the signal cancels it. */
  embed(input: EmbeddingInput, signal: AbortSignal): Promise<EmbeddedInput>;
}

interface StartOptions {
  readonly name: string;
  readonly settings: LoadSettings;
  readonly startTimeoutMs: number;
  readonly logger: Logger;
  /** Aborts the start. */
  readonly signal: AbortSignal;
}

type Child = IpcProcess<ToModel, FromModel>;
type CallQueues = Map<number, EventQueue<ModelEvent>>;
/** What starts a call, without its number. */
type CallMessage =
  | { readonly type: "generate"; readonly generation: Generation }
  | { readonly type: "embed"; readonly input: EmbeddingInput };
type Loaded = Extract<FromModel, { type: "ready" }>;

const script = siblingScript(import.meta.url, "child/main");

function toError({ code, message, param, lasting }: WireError): AppError {
  return new AppError(code, message, { param, lasting });
}

function receive(message: FromModel, queues: CallQueues, { name, logger }: StartOptions): void {
  switch (message.type) {
    case "event":
      queues.get(message.call)?.push(message.event);
      return;
    case "ended":
      queues.get(message.call)?.end();
      return;
    case "failed":
      queues.get(message.call)?.fail(toError(message.error));
      return;
    case "log":
      logger[message.level === "error" ? "warn" : "debug"](
        { model: name, llama_cpp: message.message },
        "llama.cpp output",
      );
      return;
    case "ready":
    case "unusable":
  }
}

function readLoaded(message: FromModel): Loaded | undefined {
  if (message.type === "unusable") throw toError(message.error);
  return message.type === "ready" ? message : undefined;
}

/** @throws AppError upstream_failed or upstream_timeout; the process is killed */
async function load(child: Child, { name, settings, startTimeoutMs, signal }: StartOptions): Promise<Loaded> {
  return child.start({ type: "load", settings }, readLoaded, {
    timeoutMs: startTimeoutMs,
    signal,
    timedOut() {
      const message = `The model ${JSON.stringify(name)} was not loaded within start_timeout_ms (${startTimeoutMs}).`;
      return new AppError("upstream_timeout", message);
    },
    ended({ how, error }) {
      if (error === undefined) {
        // The system kills processes when memory is short.
        const lasting = how !== "SIGKILL";
        const message = `The model's process exited while loading the model (${how}).`;
        return new AppError("upstream_failed", message, { lasting });
      }
      return new AppError("upstream_failed", "The model's process cannot be started.", { cause: error });
    },
  });
}

async function failAtEnd(child: Child, queues: CallQueues, { name, logger }: StartOptions): Promise<void> {
  const { how } = await child.ended;
  if (queues.size === 0) return;
  logger.warn(
    { model: name, how, running: queues.size, output: child.lastOutput },
    "a model's process exited during calls",
  );
  const error = new AppError(
    "upstream_failed",
    `The model's process exited (${how}) before the response was complete.`,
  );
  for (const queue of queues.values()) queue.fail(error);
}

/**
 * Starts a process and loads the model in it.
 * @throws AppError upstream_failed or upstream_timeout
 */
export async function startModelProcess(options: StartOptions): Promise<ModelProcess> {
  const child: Child = new IpcProcess({ script, environment: computeEnvironment() });
  const queues: CallQueues = new Map();
  child.listen((message) => receive(message, queues, options));
  const ended = failAtEnd(child, queues, options);
  const { promptLimit, device, purpose } = await load(child, options);
  options.logger.info(
    { model: options.name, pid: child.pid, device, context_size: promptLimit.contextSize },
    "model loaded",
  );
  let calls = 0;
  async function* run(message: CallMessage, signal: AbortSignal): AsyncGenerator<ModelEvent, void, undefined> {
    const call = ++calls;
    const queue = createEventQueue<ModelEvent>();
    queues.set(call, queue);
    using _listener = onAbort(signal, () => queue.fail(new AppError("client_closed", "The call was cancelled.")));
    let over = false;
    try {
      if (!child.isConnected) throw new AppError("upstream_failed", "The model's process has exited.");
      if (!signal.aborted) child.send({ ...message, call });
      for (let event = await queue.next(); event !== undefined; event = await queue.next()) {
        child.send({ type: "taken", call, count: 1 });
        yield event;
      }
      over = true;
    } finally {
      queues.delete(call);
      if (!over) child.send({ type: "cancel", call });
    }
  }
  return {
    ended,
    async *generate(generation, signal) {
      requirePurpose(options.name, purpose, "chat");
      // Before it is copied into a message.
      requireFit(generation.messages, promptLimit);
      for await (const event of run({ type: "generate", generation }, signal)) {
        if (event.kind !== "embedded") yield event;
      }
    },
    async embed(input, signal) {
      requirePurpose(options.name, purpose, "embeddings");
      requireInputFit(input, promptLimit);
      let embedded: EmbeddedInput | undefined;
      for await (const event of run({ type: "embed", input }, signal)) if (event.kind === "embedded") embedded = event;
      if (embedded === undefined) throw new AppError("upstream_failed", "The model's process sent no vector.");
      return embedded;
    },
    get isRunning() {
      return child.isConnected;
    },
    stop: () => child.kill(),
  };
}

/** A file may be another one when it is loaded than when it was listed. */
function requirePurpose(name: string, purpose: ModelPurpose, wanted: ModelPurpose): void {
  if (purpose === wanted) return;
  const verb = wanted === "chat" ? "support chat completions" : "embed texts";
  throw new AppError("invalid_request", `The model ${JSON.stringify(name)} does not ${verb}.`, { param: "model" });
}
