/** Keeps a number of workers running: starts them, replaces those that end, and ends them all. */
import { abortable, sleep } from "../abort.ts";
import { FailureBackoff } from "../child-process/failure-backoff.ts";
import type { Config } from "../config/config.ts";
import { AppError } from "../errors.ts";
import type { LeveledLogger } from "../logger.ts";
import { ProcessEndedError } from "./channel.ts";
import type { StartOrder } from "./protocol.ts";
import { WorkerProcess } from "./worker-process.ts";
import { becomesSilent } from "./worker-watch.ts";

export interface WorkerPoolOptions {
  readonly count: number;
  readonly config: Config;
  readonly logger: LeveledLogger;
  /** What a worker that starts now is to know. */
  readonly orderFor: (number: number, config: Config) => StartOrder;
  /** Called before the worker gets its order: what answers its requests. */
  readonly onSpawned: (worker: WorkerProcess) => void;
  /** Called when the worker serves requests. */
  readonly onReady: (worker: WorkerProcess) => void;
  /** Called once when the worker can no longer be reached. */
  readonly onGone: (worker: WorkerProcess) => void;
}

const startTimeoutMs = 120_000;
/** After serving this long, a worker counts as having started successfully, and pauses start over. */
const healthyMs = 60_000;
const longestPauseMs = 15_000;
/** A pause protects what others do from a worker that fails again and again; while none serves, there is nothing to protect. */
const pauseWithoutServiceMs = 500;
/** For what a worker does after its calls have ended. */
const closeMarginMs = 20_000;
const reloadTimeoutMs = 30_000;

export class WorkerPool {
  readonly #options: WorkerPoolOptions;
  readonly #slots: readonly Slot[];
  #config: Config;
  readonly #closing = new AbortController();
  #closed: Promise<void> | undefined;

  /** Starts processes, which load their modules meanwhile. */
  constructor(options: WorkerPoolOptions) {
    this.#options = options;
    this.#config = options.config;
    this.#slots = Array.from({ length: options.count }, (_, index) => new Slot(this.#spawn(index + 1)));
  }

  /** The workers that serve requests. */
  get ready(): readonly WorkerProcess[] {
    return this.#slots.flatMap(({ current, isReady }) => (isReady ? [current] : []));
  }

  /** The workers that know, or can be told, what has changed since their order. */
  get ordered(): readonly WorkerProcess[] {
    return this.#slots.flatMap(({ current, isOrdered }) => (isOrdered ? [current] : []));
  }

  /** Resolves when all workers serve requests. @throws the first one's reason not to */
  async start(): Promise<void> {
    await Promise.all(this.#slots.map((slot) => this.#serve(slot)));
    for (const slot of this.#slots) void this.#keep(slot);
  }

  /** @throws AppError if the first worker refuses the configuration; then no worker takes it */
  async reload(next: Config): Promise<void> {
    let taken: WorkerProcess | undefined;
    for (const worker of this.ready) {
      try {
        await this.#requestReload(worker, next);
        taken = worker;
        break;
      } catch (error) {
        if (!(error instanceof ProcessEndedError)) throw error;
      }
    }
    this.#config = next;
    const others = this.ready.filter((worker) => worker !== taken);
    await Promise.all(others.map((worker) => this.#reloadOrReplace(worker, next)));
  }

  /** The answer of one worker that serves requests. @throws AppError overloaded if none does within the time */
  async ask<Answer>(question: (worker: WorkerProcess) => Promise<Answer>, signal: AbortSignal): Promise<Answer> {
    for (;;) {
      const worker =
        this.ready[0] ?? (await abortable(Promise.race(this.#slots.map(({ whenReady }) => whenReady)), signal));
      try {
        return await abortable(question(worker), signal);
      } catch (error) {
        if (!(error instanceof ProcessEndedError)) throw error;
        this.#markGone(worker);
      }
    }
  }

  /**
   * Resolves when queries see what all workers but this one acknowledged to the organization: also what one acknowledged that
   * has died, which its replacement inserts.
   */
  async whenOthersVisible(asking: WorkerProcess, organizationId: string, signal: AbortSignal): Promise<void> {
    const others = this.#slots.filter((slot) => slot.current !== asking);
    await Promise.all(
      others.map(async (slot) => {
        while (slot.isReady || !this.#closing.signal.aborted) {
          const worker = await abortable(slot.whenReady, signal);
          try {
            return await abortable(worker.channel.request("visible", organizationId), signal);
          } catch (error) {
            if (!(error instanceof ProcessEndedError)) throw error;
            this.#markGone(worker);
          }
        }
      }),
    );
  }

  /** Lets the workers finish their calls, and ends them. */
  close(): Promise<void> {
    return (this.#closed ??= this.#close());
  }

  async #close(): Promise<void> {
    this.#closing.abort();
    const { shutdown_delay_ms: delayMs, shutdown_timeout_ms: shutdownMs } = this.#config.server;
    const { write_timeout_ms: writeMs } = this.#config.telemetry;
    const deadline = setTimeout(() => this.#kill(), delayMs + shutdownMs + writeMs + closeMarginMs);
    const ends = this.#slots.map(async ({ current, isReady }) => {
      // One that does not serve yet has nothing to finish.
      if (isReady) current.channel.notify("close", undefined);
      else current.kill();
      await current.ended;
    });
    await Promise.all(ends);
    clearTimeout(deadline);
  }

  #kill(): void {
    for (const { current } of this.#slots) current.kill();
  }

  #spawn(number: number): WorkerProcess {
    const worker = new WorkerProcess(number, this.#options.logger);
    this.#options.onSpawned(worker);
    return worker;
  }

  /** Resolves when the worker serves requests with the current configuration. @throws AppError, or Error with the reason */
  async #serve(slot: Slot): Promise<void> {
    const worker = slot.current;
    const { number } = worker;
    const ended = worker.ended.then((how): never => {
      throw new AppError("internal", `Worker ${number} ended while it started (${how}); its last log lines say why.`);
    });
    try {
      let config = this.#config;
      const order = this.#options.orderFor(number, config);
      slot.isOrdered = true;
      const started = worker.channel.request("start", order);
      // How the process ended says more than that the channel did.
      const outcome = started.catch((error: unknown) => {
        if (error instanceof ProcessEndedError) return ended;
        throw error;
      });
      await abortable(Promise.race([outcome, ended]), AbortSignal.timeout(startTimeoutMs));
      while (config !== this.#config) {
        config = this.#config;
        await worker.channel.request("reload", config);
      }
    } catch (error) {
      ended.catch(() => {});
      worker.kill();
      throw error;
    }
    ended.catch(() => {});
    slot.setReady();
    void worker.disconnected.then(() => this.#markGone(worker));
    void this.#watch(worker);
    if (worker.isConnected) this.#options.onReady(worker);
  }

  #markGone(worker: WorkerProcess): void {
    const slot = this.#slots.find(({ current }) => current === worker);
    if (slot?.isReady !== true) return;
    slot.unsetReady();
    this.#options.onGone(worker);
  }

  /** Replaces the slot's worker whenever it ends. */
  async #keep(slot: Slot): Promise<void> {
    const { logger } = this.#options;
    const { signal } = this.#closing;
    const backoff = new FailureBackoff();
    for (;;) {
      const startedMs = performance.now();
      const { number, pid, ended } = slot.current;
      const how = await ended;
      this.#markGone(slot.current);
      if (signal.aborted) return;
      logger.error({ worker: number, pid, how }, "a worker ended and is being replaced");
      if (performance.now() - startedMs > healthyMs) backoff.succeed();
      for (let isServing = false; !isServing;) {
        backoff.fail(longestPauseMs);
        await this.#pause(backoff);
        if (signal.aborted) return;
        slot.isOrdered = false;
        slot.current = this.#spawn(number);
        isServing = await this.#replace(slot);
        if (signal.aborted) return;
      }
    }
  }

  async #pause(backoff: FailureBackoff): Promise<void> {
    const { signal } = this.#closing;
    for (let leftMs = backoff.leftMs; leftMs > 0 && !signal.aborted; leftMs = backoff.leftMs) {
      await sleep(Math.min(leftMs, pauseWithoutServiceMs), signal);
      if (this.ready.length === 0) return;
    }
  }

  /** Whether the new worker serves requests. */
  async #replace(slot: Slot): Promise<boolean> {
    const { number } = slot.current;
    try {
      await this.#serve(slot);
      this.#options.logger.info({ worker: number, pid: slot.current.pid }, "a worker was replaced");
      return true;
    } catch (error) {
      await slot.current.ended;
      if (!this.#closing.signal.aborted)
        this.#options.logger.error({ error, worker: number }, "a worker could not be replaced; trying again");
      return false;
    }
  }

  /** A worker that does not answer is replaced by one that starts with the configuration. @throws ProcessEndedError */
  async #requestReload(worker: WorkerProcess, config: Config): Promise<void> {
    const timeout = AbortSignal.timeout(reloadTimeoutMs);
    try {
      await abortable(worker.channel.request("reload", config), timeout);
    } catch (error) {
      if (!timeout.aborted) throw error;
      this.#options.logger.error({ worker: worker.number }, "a worker did not take the configuration in time");
      worker.kill();
      throw new ProcessEndedError("The worker did not answer.");
    }
  }

  /** Ends a worker whose main thread does not run, so that it is replaced. */
  async #watch(worker: WorkerProcess): Promise<void> {
    const { worker_silence_ms: silenceMs } = this.#config.server;
    if (!(await becomesSilent(worker, silenceMs, this.#closing.signal))) return;
    const { number, pid } = worker;
    this.#options.logger.error({ worker: number, pid, silence_ms: silenceMs }, "a worker does not respond");
    worker.kill();
  }

  async #reloadOrReplace(worker: WorkerProcess, config: Config): Promise<void> {
    try {
      await this.#requestReload(worker, config);
    } catch (error) {
      if (error instanceof ProcessEndedError) return;
      // Another worker took this configuration, so a new process can as well.
      this.#options.logger.error({ error, worker: worker.number }, "a worker could not take the configuration");
      worker.kill();
    }
  }
}

/** The place of one worker and its replacements. */
class Slot {
  current: WorkerProcess;
  isOrdered = false;
  isReady = false;
  #ready = Promise.withResolvers<WorkerProcess>();

  constructor(first: WorkerProcess) {
    this.current = first;
  }

  /** Resolves when a worker serves requests. */
  get whenReady(): Promise<WorkerProcess> {
    return this.#ready.promise;
  }

  setReady(): void {
    this.isReady = true;
    this.#ready.resolve(this.current);
  }

  unsetReady(): void {
    this.isReady = false;
    this.#ready = Promise.withResolvers();
  }
}
