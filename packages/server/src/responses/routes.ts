/** HTTP routes of OpenAI's Responses API. */
import {
  cancelResponse,
  compactResponse,
  countResponseTokens,
  createResponse,
  deleteResponse,
  getResponse,
  listResponseItems,
} from "../api/responses.ts";
import type { ChatParts } from "../chat/admit-chat.ts";
import { toResponse } from "../chat/wire-answer.ts";
import { AppError } from "../errors.ts";
import { route, type Route, type RouteInput } from "../http/route.ts";
import type { RoutedChat } from "../routing/route-chat.ts";
import type { StoredResponse, StoredResponses } from "../tenancy/stored-responses.ts";
import type { Background } from "./background/background.ts";
import { askUpstream } from "./ask-upstream.ts";
import { createResponses } from "./create-response.ts";
import { listItems } from "./list-items.ts";

export interface ResponseParts {
  readonly stored: StoredResponses;
  readonly background: Background;
}

export function responseRoutes(parts: ChatParts<RoutedChat>, { stored, background }: ResponseParts): Route[] {
  const create = createResponses(parts, { stored, background });
  const ask = askUpstream(parts, stored);
  const find = async ({ path, scope }: Pick<RouteInput<unknown>, "path" | "scope">): Promise<StoredResponse> => {
    const found = await background.find(scope, path["response_id"] ?? "");
    if (found === undefined) throw unknown(path["response_id"]);
    if (found.response["object"] === undefined) throw tooLarge(found.id);
    return found;
  };
  return [
    route(
      createResponse,
      async (input) => {
        const created = await create(input);
        return toResponse(created, created);
      },
      { takesCutTexts: true },
    ),
    route(countResponseTokens, async (input) => ({ kind: "json", ...(await ask.countTokens(input)) })),
    route(compactResponse, async (input) => ({ kind: "json", ...(await ask.compact(input)) })),
    route(getResponse, async (input) => {
      const { query, scope, signal } = input;
      const found = await find(input);
      const after = readStartingAfter(query);
      if (query.get("stream") !== "true") return { kind: "json", value: found.response };
      const events = await background.events(scope, found, { after, signal });
      return toResponse(events, events);
    }),
    route(deleteResponse, async ({ path, scope }) => {
      const id = path["response_id"] ?? "";
      if (!(await stored.remove(scope, id))) throw unknown(id);
      background.onRemoved(scope, id);
      return { kind: "json", value: { id, object: "response", deleted: true } };
    }),
    route(listResponseItems, async (input) => {
      const { readInput } = await find(input);
      return { kind: "json", value: listItems(readInput(), input.query) };
    }),
    route(cancelResponse, async (input) => {
      const { scope, signal } = input;
      return { kind: "json", value: await background.cancel(scope, await find(input), signal) };
    }),
  ];
}

/** @returns -1 if the query does not say @throws AppError invalid_request */
function readStartingAfter(query: URLSearchParams): number {
  const text = query.get("starting_after");
  if (text === null) return -1;
  const problem =
    query.get("stream") === "true" ? "expected the sequence_number of an event" : "it is only allowed with stream=true";
  if (query.get("stream") === "true" && /^\d{1,9}$/.test(text)) return Number(text);
  throw new AppError("invalid_request", `starting_after is ${JSON.stringify(text)}; ${problem}.`, {
    param: "starting_after",
  });
}

function tooLarge(id: string): AppError {
  const reason = "was too large to keep; only the engine that generated it has it. It can be continued.";
  return new AppError("not_found", `The response ${JSON.stringify(id)} ${reason}`, { param: "response_id" });
}

function unknown(id: string | undefined): AppError {
  return new AppError("not_found", `The project has no response ${JSON.stringify(id)}, or no longer.`, {
    param: "response_id",
  });
}
