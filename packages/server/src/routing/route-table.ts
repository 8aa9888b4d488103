/**
 * Holds the routes of one configuration: built as a whole before it takes effect, retired as a whole when it is replaced.
 */
import { isDeepStrictEqual } from "node:util";
import { Value } from "typebox/value";
import { capabilities } from "../api/models.ts";
import type { EngineSettings } from "../config/engine-settings.ts";
import type { TargetTimeouts } from "../config/engines/upstream.ts";
import type { ImplicitEngine } from "../config/discovery.ts";
import {
  retries as retriesSchema,
  type ModelSettings,
  type RetrySettings,
  type RoutingSettings,
} from "../config/models.ts";
import { AppError } from "../errors.ts";
import { Lease, type EnginePool, type PooledEngine } from "./engine-pool.ts";
import type { ModelRoute } from "./model-route.ts";
import type { Target } from "./target.ts";
import type { VoiceNames } from "./voices/resolve-voice.ts";

/** The parts of the configuration that say which models there are. */
export interface ModelsConfig {
  readonly engines: Readonly<Record<string, EngineSettings>>;
  /** Engines that are not configured; an entry under `engines` with the same name takes precedence. */
  readonly implicitEngines: Readonly<Record<string, ImplicitEngine>>;
  readonly models: Readonly<Record<string, ModelSettings>>;
  readonly aliases: Readonly<Record<string, string>>;
  readonly routing: RoutingSettings;
  readonly speech: { readonly voices: VoiceNames };
  readonly discovery: { readonly enabled: boolean; readonly refresh_interval_ms: number };
}

/** An engine of the table, and the lease of the calls that name it or one of its models directly. */
export interface TableEngine {
  readonly pooled: PooledEngine;
  readonly lease: Lease;
  readonly implicit: boolean;
  /** Whether it is listed only while it responds. */
  readonly optional: boolean;
  /** Whether a configured engine is the same vendor at the same address, so that this one's models add nothing. */
  readonly twin: boolean;
  /** The only model of an engine whose name others have too. */
  readonly only: string | undefined;
}

const defaultRetries: RetrySettings = Value.Parse(retriesSchema, Value.Default(retriesSchema, {}));

export class RouteTable {
  readonly config: ModelsConfig;
  /** By name; an engine with only one model is found as `name/model`. */
  readonly engines: ReadonlyMap<string, TableEngine>;
  readonly routes: ReadonlyMap<string, ModelRoute>;
  /** Alias to model ID, chains resolved. */
  readonly aliases: ReadonlyMap<string, string>;
  readonly #pool: EnginePool;

  private constructor(config: ModelsConfig, pool: EnginePool, { engines, drafts }: Parts) {
    this.config = config;
    this.#pool = pool;
    this.engines = new Map(
      engines.map((engine) => [keyOf(engine), { ...engine, lease: new Lease(pool, [engine.pooled]) }]),
    );
    this.aliases = new Map(Object.keys(config.aliases).map((alias) => [alias, resolveAlias(alias, config.aliases)]));
    this.routes = linkRoutes(config, pool, drafts);
  }

  /** @throws AppError if an engine cannot be created or has no models; then nothing is kept. */
  static async build(config: ModelsConfig, pool: EnginePool): Promise<RouteTable> {
    const engines: DraftEngine[] = [];
    try {
      await acquireEngines(config, pool, engines);
      return new RouteTable(config, pool, { engines, drafts: draftRoutes(config, pool, engines) });
    } catch (error) {
      for (const { pooled } of engines) pool.release(pooled);
      throw error;
    }
  }

  /** A route to one model of one engine, with the usual retries and nothing to fall back on. */
  directRoute(id: string, engine: TableEngine, options: { model: string; listed: boolean }): ModelRoute | undefined {
    const { pooled, lease } = engine;
    const capabilities = kindsOf(pooled, options.model);
    if (capabilities === undefined) return undefined;
    const { routing } = this.config;
    const state = options.listed
      ? this.#pool.stateOf(pooled, options.model, routing)
      : this.#pool.unlistedStateOf(pooled, options.model, routing);
    const target = {
      engine: pooled.name,
      model: options.model,
      weight: 1,
      maxConcurrent: Infinity,
      state,
      isLoaded: () => pooled.engine.isLoaded?.(options.model),
      problem: () => pooled.engine.problemOf?.(options.model),
      ...capabilities,
    };
    return { id, targets: [target], fallbacks: [], retries: defaultRetries, lease };
  }

  /** Accepts no further calls; the engines are released when the running calls have ended. */
  retire(): void {
    for (const route of this.routes.values()) route.lease.retire();
    for (const { lease, pooled } of this.engines.values()) {
      lease.retire();
      this.#pool.release(pooled);
    }
  }
}

type DraftEngine = Omit<TableEngine, "lease">;

function keyOf({ pooled, only }: DraftEngine): string {
  return only === undefined ? pooled.name : `${pooled.name}/${only}`;
}

/** A route before its fallbacks are known. */
interface DraftRoute {
  readonly targets: readonly Target[];
  readonly engines: readonly PooledEngine[];
}

interface Parts {
  readonly engines: readonly DraftEngine[];
  readonly drafts: ReadonlyMap<string, DraftRoute>;
}

/** Adds each engine to `engines` as soon as it is held, so that a failure can release the earlier ones. */
async function acquireEngines(config: ModelsConfig, pool: EnginePool, engines: DraftEngine[]): Promise<void> {
  for (const [name, settings] of Object.entries(config.engines)) {
    engines.push({
      pooled: await pool.acquire(name, settings),
      implicit: false,
      optional: false,
      twin: false,
      only: undefined,
    });
  }
  for (const [key, { settings, optional, only }] of Object.entries(config.implicitEngines)) {
    if (Object.hasOwn(config.engines, key)) continue;
    const name = only?.engine ?? key;
    const twin =
      only === undefined && Object.values(config.engines).some((configured) => isSamePlace(configured, settings));
    const pooled = await pool.acquireIfPossible(name, settings, only?.revision);
    if (pooled !== undefined) engines.push({ pooled, implicit: true, optional, twin, only: only?.model });
  }
}

function isSamePlace(one: EngineSettings, other: EngineSettings): boolean {
  return isDeepStrictEqual(placeOf(one), placeOf(other));
}

function placeOf(settings: EngineSettings): readonly unknown[] {
  const url = "base_url" in settings ? settings.base_url : undefined;
  const region = "region" in settings ? settings.region : undefined;
  return [settings.type, url?.replace(/\/+$/, "").replace("//localhost:", "//127.0.0.1:"), region];
}

function draftRoutes(config: ModelsConfig, pool: EnginePool, engines: readonly DraftEngine[]): Map<string, DraftRoute> {
  const byName = new Map(engines.map((engine) => [keyOf(engine), engine.pooled]));
  const draft = (id: string, settings: ModelSettings): DraftRoute => {
    const reached: PooledEngine[] = [];
    const targets = settings.targets.map((target, index): Target => {
      const pooled = byName.get(target.engine);
      const does = pooled === undefined ? undefined : kindsOf(pooled, target.model, target.timeouts);
      if (pooled === undefined || does === undefined) {
        const problem = pooled === undefined ? "does not exist" : "has no models that chat, speak, transcribe or embed";
        const engine = JSON.stringify(target.engine);
        throw new AppError("invalid_request", `models.${id}.targets[${index}].engine is ${engine}, which ${problem}.`);
      }
      reached.push(pooled);
      return {
        engine: target.engine,
        model: target.model,
        weight: target.weight,
        maxConcurrent: target.max_concurrent ?? Infinity,
        state: pool.stateOf(pooled, target.model, config.routing),
        isLoaded: () => pooled.engine.isLoaded?.(target.model),
        problem: () => pooled.engine.problemOf?.(target.model),
        ...does,
      };
    });
    return { targets, engines: reached };
  };
  return new Map(Object.entries(config.models).map(([id, settings]) => [id, draft(id, settings)]));
}

/** What the model does at this engine; undefined when that is nothing. */
function kindsOf({ engine }: PooledEngine, model: string, timeouts?: TargetTimeouts) {
  const does = {
    chat: engine.chat?.(model, timeouts),
    speech: engine.speech?.(model, timeouts),
    transcription: engine.transcription?.(model, timeouts),
    embeddings: engine.embeddings?.(model, timeouts),
  };
  const able = capabilities.filter((capability) => does[capability] !== undefined);
  if (able.length === 0) return undefined;
  const listed = engine.listedFor?.(model);
  return { ...does, listedFor: listed === undefined ? able : able.filter((capability) => listed.includes(capability)) };
}

function linkRoutes(config: ModelsConfig, pool: EnginePool, drafts: ReadonlyMap<string, DraftRoute>) {
  const routes = new Map<string, ModelRoute & { fallbacks: ModelRoute[] }>();
  const fallbacksOf = (id: string): string[] =>
    config.models[id]!.fallbacks.map((name) => resolveAlias(name, config.aliases)).filter((name) => drafts.has(name));
  for (const [id, { targets, engines }] of drafts) {
    const reached = [...engines, ...fallbacksOf(id).flatMap((name) => drafts.get(name)!.engines)];
    routes.set(id, {
      id,
      targets,
      fallbacks: [],
      retries: config.models[id]!.retries,
      lease: new Lease(pool, reached),
    });
  }
  for (const [id, route] of routes) route.fallbacks.push(...fallbacksOf(id).map((name) => routes.get(name)!));
  return routes;
}

function resolveAlias(name: string, aliases: Readonly<Record<string, string>>): string {
  let resolved = name;
  // The configuration has no circles; the bound keeps a wrong one from hanging the server.
  for (let steps = 0; steps < 100 && Object.hasOwn(aliases, resolved); steps++) resolved = aliases[resolved]!;
  return resolved;
}
