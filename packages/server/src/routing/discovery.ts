/** Queries the engines for their models at startup and periodically, without delaying calls for long. */
import type { Logger } from "../logger.ts";
import { type AppError, toAppError } from "../errors.ts";
import type { PooledEngine } from "./engine-pool.ts";
import type { ModelDescription } from "../engines/engine.ts";

/** Longest wait for one engine's list. */
const listTimeoutMs = 10_000;

/** How an engine was found at the last look. */
interface Listing {
  readonly models: readonly ModelDescription[] | undefined;
  readonly failure: AppError | undefined;
}

export class Discovery {
  readonly #logger: Logger;
  readonly #listings = new WeakMap<PooledEngine, Listing>();
  readonly #closed = new AbortController();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /**
   * The models that the engine listed last; undefined when it never did. A failure later on leaves the list as it
   * was: a short outage of a vendor must not remove its models. Only an optional engine takes its models with it.
   */
  modelsOf(pooled: PooledEngine): readonly ModelDescription[] | undefined {
    return this.#listings.get(pooled)?.models;
  }

  /** Why the engine did not say at the last look which models it has. */
  failureOf(pooled: PooledEngine): AppError | undefined {
    return this.#listings.get(pooled)?.failure;
  }

  /** Asks one engine. Never fails: what a failure changes is logged, once. */
  async refresh({ pooled, optional }: { pooled: PooledEngine; optional: boolean }): Promise<void> {
    const signal = AbortSignal.any([this.#closed.signal, AbortSignal.timeout(listTimeoutMs)]);
    const before = this.#listings.get(pooled);
    try {
      const models = await pooled.engine.listModels(signal);
      this.#listings.set(pooled, { models, failure: undefined });
      if (before?.models?.length !== models.length || before.failure !== undefined) {
        this.#logger.info({ engine: pooled.name, models: models.length }, "an engine listed its models");
      }
    } catch (thrown) {
      if (this.#closed.signal.aborted) return;
      const error = toAppError(thrown);
      this.#listings.set(pooled, { models: optional ? undefined : before?.models, failure: error });
      // An optional engine that was never there is not logged; one that disappears is.
      const expected = optional && before?.models === undefined;
      if (before?.failure?.code === error.code || expected) return;
      this.#logger.warn({ engine: pooled.name, error }, "an engine did not list its models");
    }
  }

  close(): void {
    this.#closed.abort();
  }
}
