/** Lists the items of a stored response in pages, as OpenAI does. */
import { AppError } from "../errors.ts";
import { readPageLimit } from "../http/page-limit.ts";
import type { JsonObject } from "../json-object.ts";

const defaultLimit = 20;
const largestPage = 100;

/** @throws AppError invalid_request for parameters of the query that are wrong or not supported */
export function listItems(items: readonly JsonObject[], query: URLSearchParams): JsonObject {
  if (query.has("include")) throw unsupported("include");
  const limit = readPageLimit(query, largestPage) ?? defaultLimit;
  const ordered = orderOf(query.get("order") ?? "desc") === "asc" ? items : items.toReversed();
  const start = startOf(ordered, query.get("after"));
  const data = ordered.slice(start, start + limit);
  return {
    object: "list",
    data,
    first_id: data[0]?.["id"] ?? null,
    last_id: data.at(-1)?.["id"] ?? null,
    has_more: start + data.length < items.length,
  };
}

function orderOf(text: string): "asc" | "desc" {
  if (text === "asc" || text === "desc") return text;
  throw wrong("order", text, "expected asc or desc");
}

function startOf(items: readonly JsonObject[], after: string | null): number {
  if (after === null) return 0;
  const index = items.findIndex(({ id }) => id === after);
  if (index === -1) throw wrong("after", after, "expected an item of the list");
  return index + 1;
}

function wrong(param: string, value: string, problem: string): AppError {
  return new AppError("invalid_request", `${param} is ${JSON.stringify(value)}; ${problem}.`, { param });
}

function unsupported(param: string): AppError {
  return new AppError("unsupported_parameter", `${param} is set; the items are listed as they came.`, { param });
}
