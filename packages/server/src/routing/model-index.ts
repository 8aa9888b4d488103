/** Resolves model IDs: the configuration's routes first, then the engines' discovered models. */
import { AppError } from "../errors.ts";
import { audioCapabilityOf, awaitsVendor, defaultAudioModel, type FoundModel } from "./default-audio-models.ts";
import type { Discovery } from "./discovery.ts";
import type { ModelDescription } from "../engines/engine.ts";
import type { RouteTable, TableEngine } from "./route-table.ts";
import type { ModelRoute } from "./model-route.ts";

/** A model as `GET /v1/models` shows it. */
export interface ListedModel extends ModelDescription {
  /** The model of an alias, else the ID itself. */
  readonly root: string;
}

export class ModelIndex {
  readonly table: RouteTable;
  readonly #discovery: Discovery;
  /** Discovered models by their own ID, if it is unambiguous. */
  #found: ReadonlyMap<string, FoundModel> = new Map();
  #ambiguous: readonly FoundModel[] = [];
  #listed: readonly ListedModel[] | undefined;
  /** Models behind OpenAI's names of audio models; undefined where no engine of this machine can answer. */
  readonly #audioDefaults = new Map<string, string | undefined>();
  /** Routes of known models, created when first called. */
  readonly #directRoutes = new Map<string, ModelRoute>();

  constructor(table: RouteTable, discovery: Discovery) {
    this.table = table;
    this.#discovery = discovery;
    this.rebuild();
  }

  /** The models that are shown: those that chat first, since many clients take the first for a chat; each sorted by ID. */
  get listed(): readonly ListedModel[] {
    this.#listed ??= this.#list();
    return this.#listed;
  }

  /** Takes in what the engines listed since. */
  rebuild(): void {
    const byId = Map.groupBy(this.#allFound(), ({ description }) => description.id);
    const found = new Map<string, FoundModel>();
    const ambiguous: FoundModel[] = [];
    for (const [id, candidates] of byId) {
      // A configured engine takes precedence over a discovered one.
      const configured = candidates.filter(({ engine }) => !engine.implicit);
      const first = configured.length > 0 ? configured : candidates;
      // An ID that names an engine refers to that engine, even if another engine has a model of that name.
      const clear = first.length === 1 && this.#named(id) === undefined ? first[0] : undefined;
      if (clear !== undefined) found.set(id, clear);
      ambiguous.push(...candidates.filter((candidate) => candidate !== clear));
    }
    this.#found = found;
    this.#ambiguous = ambiguous;
    this.#listed = undefined;
    this.#directRoutes.clear();
    this.#audioDefaults.clear();
  }

  /** The model of an alias, else the ID itself. */
  rootOf(id: string): string {
    return this.table.routes.has(id) ? id : (this.table.aliases.get(id) ?? this.#audioDefault(id) ?? id);
  }

  /** The model of this machine that answers for one of OpenAI's audio models that no engine lists. */
  #audioDefault(id: string): string | undefined {
    const capability = audioCapabilityOf(id);
    if (capability === undefined) return undefined;
    if (!this.#audioDefaults.has(id)) this.#audioDefaults.set(id, this.#findAudioDefault(id, capability));
    return this.#audioDefaults.get(id);
  }

  #findAudioDefault(id: string, capability: "speech" | "transcription"): string | undefined {
    const found = this.#allFound();
    if (found.some(({ description }) => description.id === id)) return undefined;
    const hasResponded = ({ pooled }: TableEngine): boolean =>
      this.#discovery.modelsOf(pooled) !== undefined || this.#discovery.failureOf(pooled) !== undefined;
    if (awaitsVendor(this.table.engines.values(), hasResponded)) return undefined;
    const best = defaultAudioModel(found, capability);
    if (best === undefined) return undefined;
    const { id: model } = best.description;
    const isClear = this.#found.get(model)?.engine === best.engine && !this.table.routes.has(model);
    return isClear ? model : `${best.engine.pooled.name}/${model}`;
  }

  /** The route of a model ID: a configured model, else a found one, else `engine/model`. */
  find(rootId: string): ModelRoute | undefined {
    try {
      return this.#find(rootId);
    } catch (error) {
      // The engine knows that it has no such model. Its message may name models that the caller may not see.
      if (error instanceof AppError && error.code === "model_not_found") return undefined;
      throw error;
    }
  }

  #find(rootId: string): ModelRoute | undefined {
    const known = this.table.routes.get(rootId) ?? this.#directRoutes.get(rootId);
    if (known !== undefined) return known;
    const found = this.#found.get(rootId);
    const place = found === undefined ? this.#named(rootId) : { ...found, model: rootId };
    if (place === undefined) return undefined;
    const listed = place.description !== undefined;
    const direct = this.table.directRoute(rootId, place.engine, { ...place, listed });
    if (listed && direct !== undefined) this.#directRoutes.set(rootId, direct);
    return direct;
  }

  /** The description of a model; undefined for an unknown one, even if an engine might have it. */
  describe(id: string): ListedModel | undefined {
    const root = this.rootOf(id);
    if (this.table.routes.has(root)) return this.#describeRoute(id, root);
    const found = this.#found.get(root);
    if (found !== undefined) return { ...found.description, id, root };
    const description = this.#named(root)?.description;
    return description === undefined ? undefined : { ...description, id, root };
  }

  /** Why an automatic engine that the ID names is not available. */
  absenceOf(id: string): string | undefined {
    const engine = this.table.engines.get(id.split("/", 1)[0]!);
    if (engine?.optional !== true || this.#discovery.modelsOf(engine.pooled) !== undefined) return undefined;
    return this.#discovery.failureOf(engine.pooled)?.message;
  }

  #allFound(): FoundModel[] {
    if (!this.table.config.discovery.enabled) return [];
    const engines = [...this.table.engines.values()].filter(({ twin }) => !twin);
    return engines.flatMap((engine) => {
      const models = this.#discovery.modelsOf(engine.pooled) ?? [];
      return models.map((description) => ({ engine, description }));
    });
  }

  /** An ID that names its engine. Engines and models may both have slashes in their names. */
  #named(id: string): { engine: TableEngine; model: string; description: ModelDescription | undefined } | undefined {
    const single = this.table.engines.get(id);
    if (single?.only !== undefined) {
      const description = this.#discovery.modelsOf(single.pooled)?.find(({ id: listedId }) => listedId === single.only);
      if (description !== undefined) return { engine: single, model: single.only, description };
    }
    for (let slash = id.indexOf("/"); slash > 0; slash = id.indexOf("/", slash + 1)) {
      const engine = this.table.engines.get(id.slice(0, slash));
      const model = id.slice(slash + 1);
      if (engine === undefined || engine.only !== undefined || model === "") continue;
      const models = this.#discovery.modelsOf(engine.pooled);
      if (engine.optional && models === undefined) continue;
      return { engine, model, description: models?.find(({ id }) => id === model) };
    }
    return undefined;
  }

  #list(): ListedModel[] {
    const { config, routes, aliases } = this.table;
    const listed = new Map<string, ListedModel>();
    const add = (model: ListedModel): void => {
      if (!listed.has(model.id)) listed.set(model.id, model);
    };
    for (const id of routes.keys()) if (!config.models[id]!.hidden) add(this.#describeRoute(id, id));
    for (const alias of aliases.keys()) {
      const described = this.describe(alias);
      if (described !== undefined) add(described);
    }
    for (const [id, { description }] of this.#found) if (!routes.has(id)) add({ ...description, root: id });
    for (const { engine, description } of this.#ambiguous) {
      const id = `${engine.pooled.name}/${description.id}`;
      add({ ...description, id, root: id });
    }
    const chats = new Map([...listed.values()].map((model) => [model, this.#chats(model.root)]));
    return [...listed.values()].sort((a, b) => Number(chats.get(b)) - Number(chats.get(a)) || (a.id < b.id ? -1 : 1));
  }

  #chats(rootId: string): boolean {
    const route = this.table.routes.get(rootId);
    if (route !== undefined) return route.targets.some((target) => target.listedFor.includes("chat"));
    const found = this.#found.get(rootId);
    const place = found === undefined ? this.#named(rootId) : { ...found, model: rootId };
    if (place === undefined) return false;
    const { engine } = place.engine.pooled;
    return engine.chat !== undefined && engine.listedFor?.(place.model).includes("chat") !== false;
  }

  #describeRoute(id: string, root: string): ListedModel {
    const { targets, owned_by } = this.table.config.models[root]!;
    const first = targets[0]!;
    const engine = this.table.engines.get(first.engine);
    const models = engine === undefined ? undefined : this.#discovery.modelsOf(engine.pooled);
    const created = models?.find(({ id }) => id === first.model)?.created ?? 0;
    return { id, root, created, ownedBy: owned_by ?? first.engine };
  }
}
