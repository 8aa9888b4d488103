/** A registry over scripted engines, with a clock that advances only in a test or a pause. */
import type { ChatCompletionChunk } from "../../src/api/chat-answer.ts";
import type { EngineSettings } from "../../src/config/engine-settings.ts";
import type { ImplicitEngine } from "../../src/config/discovery.ts";
import type { ModelSettings, RoutingSettings, TargetSettings } from "../../src/config/models.ts";
import { silentLogger, type Logger } from "../../src/logger.ts";
import type { ChatModel } from "../../src/engines/engine.ts";
import type { ModelAccess } from "../../src/routing/model-access.ts";
import { createRegistry, type Registry } from "../../src/routing/registry.ts";
import type { ModelsConfig } from "../../src/routing/route-table.ts";
import { chatCall, ScriptedEngine } from "./scripted-engine.ts";

/** Settings of an arbitrary engine; only whether two of them are equal matters here. */
export function scripted(version = 1): EngineSettings {
  return { type: "mistral", api_key: `key-${version}` } as EngineSettings;
}

export const everyone: ModelAccess = { allowedModels: undefined };

/** Only what a test needs; the rest is the default. */
export interface SomeConfig {
  readonly engines?: readonly string[] | Readonly<Record<string, EngineSettings>>;
  readonly implicitEngines?: Readonly<Record<string, ImplicitEngine>>;
  readonly models?: Readonly<Record<string, SomeModel>>;
  readonly aliases?: Readonly<Record<string, string>>;
  readonly routing?: Partial<RoutingSettings>;
  readonly discovery?: Partial<ModelsConfig["discovery"]>;
}

type SomeModel = Omit<Partial<ModelSettings>, "targets" | "retries"> & {
  readonly targets: readonly (Pick<TargetSettings, "engine"> & Partial<TargetSettings>)[];
  readonly retries?: Partial<ModelSettings["retries"]>;
};

export function configOf(some: SomeConfig): ModelsConfig {
  const named = Array.isArray(some.engines) ? some.engines.map((name: string) => [name, scripted()]) : [];
  const engines = Array.isArray(some.engines) ? Object.fromEntries(named) : (some.engines ?? {});
  const models = Object.entries(some.models ?? {}).map(([id, { targets, retries, ...rest }]) => {
    const settings: ModelSettings = {
      fallbacks: [],
      hidden: false,
      ...rest,
      targets: targets.map((target) => ({ model: `${id}-upstream`, weight: 1, ...target })),
      retries: { attempts: 2, backoff_ms: 200, max_backoff_ms: 5_000, ...retries },
    };
    return [id, settings] as const;
  });
  return {
    engines: engines as ModelsConfig["engines"],
    implicitEngines: some.implicitEngines ?? {},
    models: Object.fromEntries(models),
    aliases: some.aliases ?? {},
    speech: { voices: {} },
    routing: { failure_threshold: 5, window_ms: 30_000, open_ms: 15_000, ...some.routing },
    discovery: { enabled: true, refresh_interval_ms: 600_000, ...some.discovery },
  };
}

/** A small common random number generator (mulberry32). */
function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export interface Fixture {
  readonly registry: Registry;
  /** The newest engine of this name. */
  engine(name: string): ScriptedEngine;
  /** All engines ever created. */
  readonly engines: readonly ScriptedEngine[];
  readonly engineSettings: readonly EngineSettings[];
  readonly clock: { nowMs: number };
  /** The pauses that routing made, in milliseconds. */
  readonly pauses: number[];
  chat(id: string, access?: ModelAccess): ChatModel;
  reload(some: SomeConfig): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface FixtureOptions {
  readonly seed?: number;
  readonly logger?: Logger;
  readonly discoveryWaitMs?: number;
  /** Called with each engine before it is used. */
  readonly prepare?: (engine: ScriptedEngine) => void;
  /** Real pauses instead of ones that only advance the clock. */
  readonly sleep?: (durationMs: number, signal: AbortSignal) => Promise<void>;
}

export async function routingFixture(some: SomeConfig, options: FixtureOptions = {}): Promise<Fixture> {
  const engines: ScriptedEngine[] = [];
  const engineSettings: EngineSettings[] = [];
  const clock = { nowMs: 1_000_000 };
  const pauses: number[] = [];
  const registry = await createRegistry({
    config: configOf(some),
    createEngine: async (name, settings) => {
      const engine = new ScriptedEngine(name);
      options.prepare?.(engine);
      engines.push(engine);
      engineSettings.push(settings);
      return engine;
    },
    logger: options.logger ?? silentLogger,
    timing: {
      nowMs: () => clock.nowMs,
      random: seededRandom(options.seed ?? 1),
      sleep: async (durationMs, signal) => {
        pauses.push(durationMs);
        if (options.sleep !== undefined) return options.sleep(durationMs, signal);
        clock.nowMs += durationMs;
      },
    },
    ...(options.discoveryWaitMs === undefined ? {} : { discoveryWaitMs: options.discoveryWaitMs }),
  });
  return {
    registry,
    engines,
    engineSettings,
    clock,
    pauses,
    engine: (name) => {
      const engine = engines.findLast((each) => each.name === name);
      if (engine === undefined) throw new Error(`No engine ${name} was made`);
      return engine;
    },
    chat: (id, access = everyone) => registry.chat(id, access),
    reload: (next) => registry.reload(configOf(next)),
    [Symbol.asyncDispose]: () => registry.close(),
  };
}

/** The text of a whole streamed answer. */
export async function streamedText(model: ChatModel, call = chatCall()): Promise<string> {
  return (await streamedChunks(model, call)).map((chunk) => chunk.choices[0]?.delta.content ?? "").join("");
}

export async function streamedChunks(model: ChatModel, call = chatCall()): Promise<ChatCompletionChunk[]> {
  const chunks: ChatCompletionChunk[] = [];
  for await (const chunk of model.stream(call)) chunks.push(chunk);
  return chunks;
}
