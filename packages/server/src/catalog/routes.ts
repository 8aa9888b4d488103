/** Tells which models there are, to each organization those that it may call. */
import { getModel, listModels, type ModelObject } from "../api/models.ts";
import { route, type Route } from "../http/route.ts";
import type { ListedModel } from "../models/model-index.ts";
import type { Registry } from "../models/registry.ts";

export function catalogRoutes(registry: Pick<Registry, "list" | "describe">): Route[] {
  return [
    route(listModels, ({ scope }) => ({
      kind: "json",
      value: { object: "list", data: registry.list(scope.key).map(toModelObject) },
    })),
    route(getModel, ({ path, scope }) => ({
      kind: "json",
      value: toModelObject(registry.describe(path["id"] ?? "", scope.key)),
    })),
  ];
}

function toModelObject({ id, created, ownedBy, root }: ListedModel): ModelObject {
  return { id, object: "model", created, owned_by: ownedBy, root, parent: null, permission: [] };
}
