/** The models of the list: what the key may call, and for an operator where the calls go. */
import type { Model } from "@sounding/client";
import type { EngineStatus, RoutedModel } from "../../api/admin-types.ts";
import { ApiError, requestJson } from "../../api/request.ts";
import { may, session } from "../../state/session.ts";

export type Capability = Model["capabilities"][number];

export interface ModelRow {
  readonly id: string;
  /** Other IDs of the model, as far as they are known. */
  readonly aliases: readonly string[];
  readonly capabilities: readonly Capability[];
  readonly engine: string;
  readonly state: Model["state"];
  readonly reason: string | null;
  /** Whether the signed-in key may call it. */
  readonly callable: boolean;
  /** Undefined if the key is not an operator's. */
  readonly routed: RoutedModel | undefined;
}

export interface ModelData {
  readonly rows: readonly ModelRow[];
  /** Engines that did not list their models. */
  readonly failedEngines: readonly EngineStatus[];
}

interface List<Item> {
  readonly data: readonly Item[];
}

export async function loadModels(signal: AbortSignal): Promise<ModelData> {
  const operator = session.value?.operator === true;
  const get = <Item>(path: string, wanted: boolean): Promise<readonly Item[]> =>
    wanted ? requestJson<List<Item>>(path, { signal }).then(({ data }) => data) : Promise.resolve([]);
  const [callable, routed, engines] = await Promise.all([
    get<Model>("v1/models", may("models_read")),
    get<RoutedModel>("admin/v1/models", operator),
    get<EngineStatus>("admin/v1/engines", operator),
  ]);
  return { rows: toRows(callable, routed), failedEngines: engines.filter(({ error }) => error !== null) };
}

/** One model, which may be listed or not: callers may name any model of an engine. Undefined if it does not exist. */
export async function loadModel(id: string, signal: AbortSignal): Promise<ModelRow | undefined> {
  const { rows } = await loadModels(signal);
  const listed = rows.find((row) => row.id === id || row.aliases.includes(id));
  if (listed !== undefined) return listed;
  const get = async <Item>(path: string, wanted: boolean): Promise<readonly Item[]> => {
    if (!wanted) return [];
    try {
      return [await requestJson<Item>(`${path}/${encodeURIComponent(id)}`, { signal })];
    } catch (error) {
      if (error instanceof ApiError && [403, 404].includes(error.status)) return [];
      throw error;
    }
  };
  const [callable, routed] = await Promise.all([
    get<Model>("v1/models", may("models_read")),
    get<RoutedModel>("admin/v1/models", session.value?.operator === true),
  ]);
  return toRows(callable, routed)[0];
}

function toRows(callable: readonly Model[], routed: readonly RoutedModel[]): ModelRow[] {
  const routedById = new Map(routed.map((model) => [model.id, model]));
  const aliases = Map.groupBy(
    callable.filter(({ id, root }) => id !== root),
    ({ root }) => root,
  );
  const listed = new Set(callable.map(({ id }) => id));
  const rows = callable
    // An alias is shown with its model, unless the key may not see that.
    .filter(({ id, root }) => id === root || !listed.has(root))
    .map((model): ModelRow => {
      const known = routedById.get(model.root);
      const others = aliases.get(model.id)?.map(({ id }) => id) ?? [];
      return {
        id: model.id,
        aliases: model.id === known?.id ? known.aliases : others,
        capabilities: model.capabilities,
        engine: model.engine,
        state: model.state,
        reason: model.state_reason,
        callable: true,
        routed: known,
      };
    });
  const shown = new Set(rows.map(({ id }) => id));
  const others = routed.filter(({ id }) => !shown.has(id));
  return [...rows, ...others.map((model) => toOperatorRow(model, may("models_read") && model.hidden))];
}

function toOperatorRow(model: RoutedModel, callable: boolean): ModelRow {
  const { id, aliases, capabilities, state, state_reason, targets } = model;
  return {
    id,
    aliases,
    capabilities,
    engine: targets[0]?.engine ?? "",
    state,
    reason: state_reason,
    callable,
    routed: model,
  };
}
