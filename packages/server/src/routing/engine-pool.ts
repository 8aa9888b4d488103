/**
 * Keeps engines running while a configuration or a call uses them. An engine whose settings did not change survives a
 * reload.
 */
import { isDeepStrictEqual } from "node:util";
import type { EngineSettings } from "../config/engine-settings.ts";
import type { RoutingSettings } from "../config/models.ts";
import type { Logger } from "../logger.ts";
import type { Engine } from "../engines/engine.ts";
import { capabilities, type Capability } from "../api/models.ts";
import type { CircuitExchange, CircuitTarget } from "./circuit-exchange.ts";
import { TargetState } from "./target.ts";

/** Prepares an engine for calls. @throws AppError when the settings are invalid */
export type CreateEngine = (name: string, settings: EngineSettings) => Promise<Engine>;

/** An engine with all that outlives a reload. */
export interface PooledEngine {
  readonly name: string;
  readonly settings: EngineSettings;
  /** Of the file that the engine runs, since an engine does not notice a change of its file. */
  readonly revision: string;
  readonly engine: Engine;
  /** By the model's name at the engine. */
  readonly states: Map<string, TargetState>;
  /** The same of models that neither the configuration nor the engine lists: callers can make names up. */
  readonly unlistedStates: Map<string, TargetState>;
}

/** Of one engine. */
const mostUnlistedStates = 1_000;

export class EnginePool {
  readonly #create: CreateEngine;
  readonly #logger: Logger;
  readonly #circuits: CircuitExchange | undefined;
  readonly #users = new Map<PooledEngine, number>();
  readonly #closing = new Set<Promise<void>>();

  /** @param circuits absent: no other process calls the engines */
  constructor(create: CreateEngine, logger: Logger, circuits?: CircuitExchange) {
    this.#create = create;
    this.#logger = logger;
    this.#circuits = circuits;
    circuits?.listen(({ engine, model, capability }, change) => {
      for (const { name, states } of this.#users.keys())
        if (name === engine) states.get(model)?.circuitOf(capability).adopt(change, performance.now());
    });
  }

  /** The engine with this name and these settings, created if necessary, with one more user. */
  async acquire(name: string, settings: EngineSettings, revision = ""): Promise<PooledEngine> {
    for (const pooled of this.#users.keys()) {
      if (pooled.name === name && pooled.revision === revision && isDeepStrictEqual(pooled.settings, settings)) {
        this.hold(pooled);
        return pooled;
      }
    }
    const engine = await this.#create(name, settings);
    const pooled = {
      name,
      settings,
      revision,
      engine,
      states: new Map<string, TargetState>(),
      unlistedStates: new Map<string, TargetState>(),
    };
    this.#users.set(pooled, 1);
    return pooled;
  }

  /** The same for an engine that is not configured: if it cannot be created, that is logged and it is omitted. */
  async acquireIfPossible(
    name: string,
    settings: EngineSettings,
    revision?: string,
  ): Promise<PooledEngine | undefined> {
    try {
      return await this.acquire(name, settings, revision);
    } catch (error) {
      this.#logger.warn({ engine: name, error }, "a discovered engine cannot be used");
      return undefined;
    }
  }

  /** One more user of an engine that has some. */
  hold(pooled: PooledEngine): void {
    this.#users.set(pooled, (this.#users.get(pooled) ?? 0) + 1);
  }

  /** One user less; without any the engine is closed. */
  release(pooled: PooledEngine): void {
    const users = (this.#users.get(pooled) ?? 0) - 1;
    if (users > 0) {
      this.#users.set(pooled, users);
      return;
    }
    if (!this.#users.delete(pooled)) return;
    const closing = this.#close(pooled).finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
  }

  /** The state of one model of an engine, created on first use. */
  stateOf(pooled: PooledEngine, model: string, routing: RoutingSettings): TargetState {
    const known = pooled.states.get(model);
    if (known !== undefined) {
      known.configure(routing);
      return known;
    }
    // Each process runs its own copy of a model that it loads.
    const circuits = pooled.engine.isLoaded === undefined ? this.#circuits : undefined;
    const targetOf = (capability: Capability): CircuitTarget => ({ engine: pooled.name, model, capability });
    const state = new TargetState(routing, (capability, change) => circuits?.report(targetOf(capability), change));
    for (const capability of capabilities) {
      const openForMs = circuits?.openForMs(targetOf(capability));
      if (openForMs !== undefined) state.circuitOf(capability).adopt("open", performance.now() - openForMs);
    }
    pooled.states.set(model, state);
    return state;
  }

  /** The state of a model that is not listed. Of very many, those that were called longest ago start anew. */
  unlistedStateOf({ unlistedStates: states }: PooledEngine, model: string, routing: RoutingSettings): TargetState {
    const state = states.get(model) ?? new TargetState(routing);
    state.configure(routing);
    states.delete(model);
    states.set(model, state);
    if (states.size > mostUnlistedStates) {
      for (const [name, { inFlight }] of states) {
        if (inFlight > 0) continue;
        states.delete(name);
        break;
      }
    }
    return state;
  }

  /** Ends every engine, in use or not. */
  async closeAll(): Promise<void> {
    const engines = [...this.#users.keys()];
    this.#users.clear();
    await Promise.all([...this.#closing, ...engines.map((pooled) => this.#close(pooled))]);
  }

  async #close(pooled: PooledEngine): Promise<void> {
    try {
      await pooled.engine.close();
    } catch (error) {
      this.#logger.warn({ engine: pooled.name, error }, "an engine did not close cleanly");
    }
  }
}

/** Several engines held for the calls of one route, until the route is retired and its last call has ended. */
export class Lease {
  readonly #pool: EnginePool;
  readonly #engines: ReadonlySet<PooledEngine>;
  #calls = 0;
  #retired = false;

  constructor(pool: EnginePool, engines: Iterable<PooledEngine>) {
    this.#pool = pool;
    this.#engines = new Set(engines);
    for (const pooled of this.#engines) pool.hold(pooled);
  }

  /** Counts a call in. @returns false if the engines were released, because the configuration no longer has the route */
  enter(): boolean {
    if (this.#retired && this.#calls === 0) return false;
    this.#calls++;
    return true;
  }

  leave(): void {
    this.#calls--;
    if (this.#retired && this.#calls === 0) this.#release();
  }

  /** Retires the lease: only calls that have already entered may continue. */
  retire(): void {
    if (this.#retired) return;
    this.#retired = true;
    if (this.#calls === 0) this.#release();
  }

  #release(): void {
    for (const pooled of this.#engines) this.#pool.release(pooled);
  }
}
