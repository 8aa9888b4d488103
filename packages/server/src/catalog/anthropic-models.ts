/** The list of models as Anthropic's clients read it. https://platform.claude.com/docs/en/api/models/list */
import { AppError } from "../errors.ts";
import { readPageLimit } from "../http/page-limit.ts";
import type { ListedModel } from "../routing/model-index.ts";

const largestPage = 1_000;

/** Whether a client expects Anthropic's form: every such client sends the header. */
export function isAnthropicClient(headers: Readonly<Record<string, unknown>>): boolean {
  return headers["anthropic-version"] !== undefined;
}

export function toAnthropicModel({ created, id }: ListedModel) {
  return {
    type: "model",
    id,
    display_name: id,
    // The epoch if it is unknown, as Anthropic does.
    created_at: new Date(created * 1000).toISOString(),
    lifecycle: "active",
    capabilities: null,
    deprecated_at: null,
    line: null,
    max_input_tokens: null,
    max_tokens: null,
    retires_at: null,
  };
}

/** One page; all models unless the query has a limit. @throws AppError invalid_request */
export function toAnthropicPage(models: readonly ListedModel[], query: URLSearchParams) {
  const before = placeOf(models, query, "before_id") ?? models.length;
  const after = placeOf(models, query, "after_id");
  const rest = models.slice(after === undefined ? 0 : after + 1, before);
  const limit = readPageLimit(query, largestPage) ?? rest.length;
  // Pages before a model end at it.
  const page = query.has("before_id") ? rest.slice(Math.max(0, rest.length - limit)) : rest.slice(0, limit);
  return {
    data: page.map(toAnthropicModel),
    has_more: page.length < rest.length,
    first_id: page[0]?.id ?? null,
    last_id: page.at(-1)?.id ?? null,
  };
}

function placeOf(models: readonly ListedModel[], query: URLSearchParams, name: string): number | undefined {
  const id = query.get(name);
  if (id === null) return undefined;
  const place = models.findIndex((model) => model.id === id);
  if (place !== -1) return place;
  throw new AppError("invalid_request", `${name} is ${JSON.stringify(id)}, which is no model of the list.`, {
    param: name,
  });
}
