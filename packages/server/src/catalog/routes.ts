/** HTTP routes that list the models which the caller's organization may use, and for an operator their targets. */
import { capabilities, getModel, listModels, type Capability, type ModelObject } from "../api/models.ts";
import { AppError } from "../errors.ts";
import { route, type Route } from "../http/route.ts";
import type { ModelStatus } from "../routing/model-state.ts";
import type { ListedModel } from "../routing/model-index.ts";
import type { Registry } from "../routing/registry.ts";
import { isAnthropicClient, toAnthropicModel, toAnthropicPage } from "./anthropic-models.ts";
import { operatorRoutes } from "./operator-routes.ts";

export function catalogRoutes(registry: Registry): Route[] {
  const describe = (model: ListedModel): ModelObject => toModelObject(model, registry.statusOf(model));
  return [
    route(listModels, ({ headers, scope, query }) => {
      const isAnthropic = isAnthropicClient(headers);
      const models = registry.list(scope.key, capabilityOf(query) ?? (isAnthropic ? "chat" : undefined));
      const value = isAnthropic ? toAnthropicPage(models, query) : { object: "list", data: models.map(describe) };
      return { kind: "json", value };
    }),
    route(getModel, ({ headers, path, scope }) => {
      const model = registry.describe(nameIn(path), scope.key);
      return { kind: "json", value: isAnthropicClient(headers) ? toAnthropicModel(model) : describe(model) };
    }),
    ...operatorRoutes(registry),
  ];
}

/** @throws AppError invalid_request */
function capabilityOf(query: URLSearchParams): Capability | undefined {
  const asked = query.get("capability");
  if (asked === null) return undefined;
  const known = capabilities.find((each) => each === asked);
  if (known !== undefined) return known;
  const message = `capability is ${JSON.stringify(asked)}; expected one of ${capabilities.join(", ")}.`;
  throw new AppError("invalid_request", message, { param: "capability" });
}

function toModelObject({ id, created, ownedBy, root }: ListedModel, status: ModelStatus | undefined): ModelObject {
  return {
    id,
    object: "model",
    created,
    owned_by: ownedBy,
    root,
    parent: null,
    permission: [],
    capabilities: [...(status?.capabilities ?? [])],
    engine: status?.engine ?? ownedBy,
    state: status?.state ?? "ready",
    state_reason: status?.reason ?? null,
  };
}

/** @throws AppError not_found for a path that ends after its slash */
function nameIn({ id = "" }: Readonly<Record<string, string>>): string {
  if (id !== "") return id;
  throw new AppError(
    "not_found",
    "The path /v1/models/ names no model. To list all models, remove the slash at its end.",
  );
}
