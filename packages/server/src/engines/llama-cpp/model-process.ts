/**
 * One running process of a model: started, spoken to, ended. Native code that crashes takes this process with it and
 * nothing else.
 */
import { fork, type ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import { computeEnvironment } from "../../config/library-paths.ts";
import { AppError } from "../../errors.ts";
import type { Logger } from "../../logger.ts";
import { keepLastOutput, scriptBeside } from "../../child-process/subprocess.ts";
import { createEventQueue, type EventQueue } from "../event-queue.ts";
import { requireFit } from "./prompt-limit.ts";
import type { FromModel, Generation, GenerationEvent, LoadSettings, ToModel, WireError } from "./protocol.ts";

export interface ModelProcess {
  readonly pid: number;
  /** Resolves when the process has ended, for whatever reason. */
  readonly ended: Promise<void>;
  /** The events of a generation; leaving the loop or aborting the signal cancels it. */
  generate(generation: Generation, signal: AbortSignal): AsyncGenerator<GenerationEvent, void, undefined>;
  /** Ends the process; running generations fail. */
  stop(): void;
}

interface StartOptions {
  readonly name: string;
  readonly settings: LoadSettings;
  readonly startTimeoutMs: number;
  readonly logger: Logger;
}

const entry = fileURLToPath(scriptBeside(import.meta.url, "child/main"));

function toError({ code, message, param }: WireError): AppError {
  return new AppError(code, message, { param });
}

/** What a process says when its model is loaded. */
type Loaded = Pick<Extract<FromModel, { type: "ready" }>, "promptLimit" | "device">;

interface Connection {
  readonly child: ChildProcess;
  readonly queues: Map<number, EventQueue<GenerationEvent>>;
  readonly send: (message: ToModel) => void;
}

function receive(
  message: FromModel,
  queues: Map<number, EventQueue<GenerationEvent>>,
  { name, logger }: StartOptions,
): void {
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

/** Waits for the model to be loaded; on failure the process is ended. */
async function loaded({ child, send }: Connection, { name, settings, startTimeoutMs }: StartOptions): Promise<Loaded> {
  const { promise, resolve, reject } = Promise.withResolvers<Loaded>();
  const timer = setTimeout(
    () =>
      reject(
        new AppError(
          "upstream_timeout",
          `The model ${JSON.stringify(name)} was not loaded within start_timeout_ms (${startTimeoutMs}).`,
        ),
      ),
    startTimeoutMs,
  );
  const onMessage = (message: FromModel): void => {
    if (message.type === "ready") resolve(message);
    else if (message.type === "unusable") reject(toError(message.error));
  };
  child.on("message", onMessage);
  child.once("error", (cause) =>
    reject(new AppError("upstream_failed", "The model's process cannot be started.", { cause })),
  );
  child.once("exit", (code, signal) => {
    reject(
      new AppError(
        "upstream_failed",
        `The model's process exited while loading the model (${signal ?? `code ${code}`}).`,
      ),
    );
  });
  send({ type: "load", settings });
  try {
    return await promise;
  } catch (error) {
    child.kill("SIGKILL");
    throw error;
  } finally {
    clearTimeout(timer);
    child.off("message", onMessage);
  }
}

function connect(options: StartOptions): Connection & { readonly ended: Promise<void> } {
  const child = fork(entry, [], {
    execArgv: [],
    env: computeEnvironment(),
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  const queues = new Map<number, EventQueue<GenerationEvent>>();
  const lastOutput = keepLastOutput(child);
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  child.on("message", (message: FromModel) => receive(message, queues, options));
  const onEnd = (how: string): void => {
    const running = queues.size;
    if (running > 0)
      options.logger.warn(
        { model: options.name, how, running, output: lastOutput() },
        "a model's process exited during calls",
      );
    for (const queue of queues.values())
      queue.fail(
        new AppError("upstream_failed", `The model's process exited (${how}) before the response was complete.`),
      );
    resolve();
  };
  child.once("exit", (code, signal) => onEnd(signal ?? `code ${code}`));
  child.once("error", () => onEnd("it cannot be started"));
  const send = (message: ToModel): void => {
    // A channel that has closed is noticed by the exit that follows it.
    if (child.connected) child.send(message, () => {});
  };
  return { child, queues, send, ended };
}

/**
 * Starts a process and loads the model in it.
 * @throws AppError upstream_failed or upstream_timeout
 */
export async function startModelProcess(options: StartOptions): Promise<ModelProcess> {
  const connection = connect(options);
  const { child, queues, send, ended } = connection;
  const { promptLimit, device } = await loaded(connection, options);
  options.logger.info(
    { model: options.name, pid: child.pid, device, context_size: promptLimit.contextSize },
    "model loaded",
  );
  let calls = 0;
  return {
    pid: child.pid!,
    ended,
    async *generate(generation, signal) {
      // Before it is copied into a message.
      requireFit(generation.messages, promptLimit);
      const call = ++calls;
      const queue = createEventQueue<GenerationEvent>();
      const cancel = (): void => queue.fail(new AppError("client_closed", "The call was cancelled."));
      queues.set(call, queue);
      if (signal.aborted) cancel();
      signal.addEventListener("abort", cancel, { once: true });
      let over = false;
      try {
        if (!child.connected) throw new AppError("upstream_failed", "The model's process has exited.");
        if (!signal.aborted) send({ type: "generate", call, generation });
        for (let event = await queue.next(); event !== undefined; event = await queue.next()) {
          send({ type: "taken", call, count: 1 });
          yield event;
        }
        over = true;
      } finally {
        signal.removeEventListener("abort", cancel);
        queues.delete(call);
        if (!over) send({ type: "cancel", call });
      }
    },
    stop() {
      child.kill("SIGKILL");
    },
  };
}
