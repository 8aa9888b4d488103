/**
 * Provides every callable model by its ID: configured, aliased, discovered at an engine, or named as `engine/model`.
 * The configuration may be replaced while calls run; they finish on the engines on which they began.
 * docs/adr/0008-routing-and-guardrails.md
 */
import { capabilities, type Capability } from "../api/models.ts";
import { AppError } from "../errors.ts";
import type { Logger } from "../logger.ts";
import { callTargets, type CallTargets } from "./call-targets.ts";
import type { CircuitExchange } from "./circuit-exchange.ts";
import { Discovery } from "./discovery.ts";
import { engineStatuses, type EngineStatus } from "./engine-status.ts";
import { EnginePool, type CreateEngine } from "./engine-pool.ts";
import { mayCall, organizationMayCall, type ModelAccess } from "./model-access.ts";
import { ModelIndex, type ListedModel } from "./model-index.ts";
import { statusOf, type ModelStatus } from "./model-state.ts";
import { toRoutedModel, type RoutedModel } from "./routed-model.ts";
import { modelHint, unknownModel } from "./near-matches.ts";
import { sleep } from "../abort.ts";
import { createRouteModel, type RoutedChat } from "./route-chat.ts";
import { createRouteEmbeddings, type RoutedEmbeddings } from "./route-embeddings.ts";
import { createRouteSpeech, type RoutedSpeech } from "./route-speech.ts";
import { createRouteTranscription, type RoutedTranscription } from "./route-transcription.ts";
import { capabilityVerbs, isListedFor, supports } from "./route-capabilities.ts";
import { RouteTable, type ModelsConfig } from "./route-table.ts";
import type { ModelRoute } from "./model-route.ts";
import type { Timing } from "./try-route.ts";
import type { RoutingOptions } from "./try-routes.ts";

export interface RegistryOptions {
  readonly config: ModelsConfig;
  readonly createEngine: CreateEngine;
  readonly logger: Logger;
  readonly circuits?: CircuitExchange | undefined;
  /** Replaces clock, chance and waiting in tests. */
  readonly timing?: Timing;
  /** Longest time that the start waits for the engines' lists; 1.5 s when absent. */
  readonly discoveryWaitMs?: number;
}

export interface Registry {
  /**
   * The model with this ID, ready to be called.
   * @throws AppError model_not_found, model_not_allowed, or invalid_request for a model that does not chat
   */
  chat(id: string, access: ModelAccess): RoutedChat;
  /** The same for a speech model. */
  speech(id: string, access: ModelAccess): RoutedSpeech;
  /** The same for a transcription model. */
  transcription(id: string, access: ModelAccess): RoutedTranscription;
  /** The same for a model that embeds texts. */
  embeddings(id: string, access: ModelAccess): RoutedEmbeddings;
  /** What calls of a model may go to, with its fallbacks. Empty for an unknown model. */
  targetsOf(id: string): CallTargets;
  /** The model of an alias, else the ID itself, whether or not the model exists. */
  rootOf(id: string): string;
  speakers(access: ModelAccess): readonly SpeechModelEntry[];
  /**
   * The models that the organization sees: chat models first, each group sorted by ID. With `capability`, the models that
   * may be called for it, those with no other capability first, since some engines list every model for every capability.
   */
  list(access: ModelAccess, capability?: Capability): readonly ListedModel[];
  /** Whether a listed model can answer now; undefined if it is no longer listed. */
  statusOf(model: ListedModel): ModelStatus | undefined;
  /** Every model and where its calls go, hidden ones included, sorted by ID. Names engines: for operators only. */
  routed(): readonly RoutedModel[];
  /** The same for one model or alias. @throws AppError model_not_found */
  routedModel(id: string): RoutedModel;
  /** The engines, sorted by name, without discovered ones that do not respond. For operators only. */
  engines(): readonly EngineStatus[];
  /** @throws AppError model_not_found or model_not_allowed */
  describe(id: string, access: ModelAccess): ListedModel;
  /**
   * Applies a new configuration. New calls use it immediately; running ones are unaffected.
   * @throws AppError when it is invalid; then the old one stays active
   */
  reload(config: ModelsConfig): Promise<void>;
  /** Queries all engines for their models again. */
  lookAgain(): Promise<void>;
  /** Closes every engine; calls that still run fail. */
  close(): Promise<void>;
}

/** A speech model in the list. */
export interface SpeechModelEntry {
  readonly id: string;
  readonly ownedBy: string;
  readonly speech: RoutedSpeech;
}

const realTiming: Timing = { nowMs: () => performance.now(), random: Math.random, sleep };

/** @throws AppError if an engine cannot be created */
export async function createRegistry(options: RegistryOptions): Promise<Registry> {
  const registry = new ModelRegistry(options);
  try {
    await registry.reload(options.config);
  } catch (error) {
    await registry.close();
    throw error;
  }
  return registry;
}

class ModelRegistry implements Registry {
  readonly #pool: EnginePool;
  readonly #discovery: Discovery;
  readonly #timing: Timing;
  readonly #discoveryWaitMs: number;
  #index: ModelIndex | undefined;
  #refreshing: NodeJS.Timeout | undefined;
  #reloading: Promise<void> = Promise.resolve();
  #closed = false;

  constructor({ circuits, createEngine, logger, timing, discoveryWaitMs }: RegistryOptions) {
    this.#pool = new EnginePool(createEngine, logger, circuits);
    this.#discovery = new Discovery(logger);
    this.#timing = timing ?? realTiming;
    this.#discoveryWaitMs = discoveryWaitMs ?? 1_500;
  }

  chat(id: string, access: ModelAccess): RoutedChat {
    return createRouteModel(this.#routing(id, access, "chat"));
  }

  rootOf(id: string): string {
    return this.#current.rootOf(id);
  }

  targetsOf(id: string): CallTargets {
    const root = this.rootOf(id);
    return callTargets(id, root, this.#current.find(root));
  }

  speech(id: string, access: ModelAccess): RoutedSpeech {
    return createRouteSpeech(this.#routing(id, access, "speech"), this.#current.table.config.speech.voices);
  }

  transcription(id: string, access: ModelAccess): RoutedTranscription {
    return createRouteTranscription(this.rootOf(id), this.#routing(id, access, "transcription"));
  }

  embeddings(id: string, access: ModelAccess): RoutedEmbeddings {
    return createRouteEmbeddings(this.#routing(id, access, "embeddings"));
  }

  speakers(access: ModelAccess): readonly SpeechModelEntry[] {
    const models = this.list(access).filter(
      ({ id, root }) => id === root && isListedFor(this.#current.find(id), "speech"),
    );
    return models.map(({ id, ownedBy }) => ({ id, ownedBy, speech: this.speech(id, access) }));
  }

  list(access: ModelAccess, capability?: Capability): readonly ListedModel[] {
    const visible = this.#current.listed.filter(({ id, root }) => mayCall(access, id, root));
    if (capability === undefined) return visible;
    const able = visible.filter(({ root }) => isListedFor(this.#current.find(root), capability));
    const others = capabilities.filter((other) => other !== capability);
    const doesMore = ({ root }: ListedModel): boolean =>
      others.some((other) => isListedFor(this.#current.find(root), other));
    return [...able.filter((model) => !doesMore(model)), ...able.filter(doesMore)];
  }

  statusOf({ root }: ListedModel): ModelStatus | undefined {
    const route = this.#current.find(root);
    return route === undefined ? undefined : statusOf(route);
  }

  routed(): readonly RoutedModel[] {
    const index = this.#current;
    const roots = new Set([...index.table.routes.keys(), ...index.listed.map(({ root }) => root)]);
    return [...roots].sort().flatMap((root) => this.#routed(index, root) ?? []);
  }

  routedModel(id: string): RoutedModel {
    const routed = this.#routed(this.#current, this.rootOf(id));
    if (routed === undefined) throw this.#notFound(id, { allowedModels: undefined });
    return routed;
  }

  engines(): readonly EngineStatus[] {
    return engineStatuses(this.#current.table, this.#discovery);
  }

  describe(id: string, access: ModelAccess): ListedModel {
    const described = this.#current.describe(id);
    if (!mayCall(access, id, described?.root ?? id)) throw this.#notAllowed(access, id, described?.root ?? id);
    if (described === undefined) throw this.#notFound(id, access);
    return described;
  }

  reload(config: ModelsConfig): Promise<void> {
    const reloaded = this.#reloading.then(() => this.#replace(config));
    this.#reloading = reloaded.catch(() => undefined);
    return reloaded;
  }

  lookAgain(): Promise<void> {
    return this.#refresh();
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#refreshing);
    this.#discovery.close();
    await this.#reloading;
    this.#index?.table.retire();
    this.#index = undefined;
    await this.#pool.closeAll();
  }

  get #current(): ModelIndex {
    if (this.#index === undefined || this.#closed) throw new AppError("overloaded", "The server is shutting down.");
    return this.#index;
  }

  async #replace(config: ModelsConfig): Promise<void> {
    if (this.#closed) throw new AppError("overloaded", "The server is shutting down.");
    const table = await RouteTable.build(config, this.#pool);
    const before = this.#index;
    this.#index = new ModelIndex(table, this.#discovery);
    before?.table.retire();
    clearInterval(this.#refreshing);
    if (!config.discovery.enabled) return;
    const first = this.#refresh();
    this.#refreshing = setInterval(() => void this.#refresh(), config.discovery.refresh_interval_ms).unref();
    await Promise.race([first, this.#discoveryWait(first)]);
  }

  /** Ends with `refreshed`, or when the start has waited long enough. */
  async #discoveryWait(refreshed: Promise<void>): Promise<void> {
    const over = new AbortController();
    void refreshed.then(() => over.abort());
    await sleep(this.#discoveryWaitMs, over.signal);
  }

  async #refresh(): Promise<void> {
    const index = this.#index;
    if (index === undefined) return;
    const refreshes = [...index.table.engines.values()].map(async (engine) => {
      await this.#discovery.refresh(engine);
      index.rebuild();
    });
    await Promise.all(refreshes);
  }

  #routing(id: string, access: ModelAccess, kind: Capability): RoutingOptions {
    let route = this.#find(id, access, kind);
    const enter = (): ModelRoute => {
      // Between finding and calling the configuration may have been replaced.
      while (!route.lease.enter()) route = this.#find(id, access, kind);
      return route;
    };
    return { timing: this.#timing, capability: kind, enter, allows: (fallback) => mayCall(access, fallback) };
  }

  #routed(index: ModelIndex, root: string): RoutedModel | undefined {
    const { routes, aliases, config } = index.table;
    const route = index.find(root);
    if (route === undefined || index.describe(root) === undefined) return undefined;
    const listing = {
      aliases: [...aliases.keys()].filter((alias) => aliases.get(alias) === root),
      configured: routes.has(root),
      hidden: config.models[root]?.hidden === true,
    };
    return toRoutedModel(route, listing, this.#timing.nowMs());
  }

  #find(id: string, access: ModelAccess, kind: Capability): ModelRoute {
    const index = this.#current;
    const rootId = index.rootOf(id);
    // Only callers who may use a model learn whether it exists.
    if (!mayCall(access, id, rootId)) throw this.#notAllowed(access, id, rootId);
    const route = index.find(rootId);
    if (route !== undefined && supports(route, kind)) return route;
    if (route === undefined && index.describe(rootId) === undefined) throw this.#notFound(id, access);
    throw new AppError("invalid_request", `The model ${JSON.stringify(id)} does not ${capabilityVerbs[kind]}.`, {
      param: "model",
    });
  }

  #notFound(id: string, access: ModelAccess): AppError {
    const message = unknownModel(id, { visible: this.#visible(access), absence: this.#current.absenceOf(id) });
    return new AppError("model_not_found", message, { param: "model" });
  }

  #notAllowed(access: ModelAccess, id: string, rootId: string): AppError {
    const hint = modelHint(id, this.#visible(access));
    const who = organizationMayCall(access, id, rootId) ? "This API key, or its role," : "This organization";
    return new AppError("model_not_allowed", `${who} may not call the model ${JSON.stringify(id)}.${hint}`, {
      param: "model",
    });
  }

  #visible(access: ModelAccess): readonly string[] {
    return this.list(access).map(({ id }) => id);
  }
}
