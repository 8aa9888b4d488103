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
import { askUpstream } from "./ask-upstream.ts";
import { createResponses } from "./create-response.ts";
import { listItems } from "./list-items.ts";

export function responseRoutes(parts: ChatParts<RoutedChat>, stored: StoredResponses): Route[] {
  const create = createResponses(parts, stored);
  const ask = askUpstream(parts, stored);
  const find = async ({ path, scope }: Pick<RouteInput<unknown>, "path" | "scope">): Promise<StoredResponse> => {
    const found = await stored.find(scope, path["response_id"] ?? "");
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
    route(countResponseTokens, async (input) => ({ kind: "json", ...(await ask("input_tokens", input)) })),
    route(compactResponse, async (input) => ({ kind: "json", ...(await ask("compact", input)) })),
    route(getResponse, async (input) => {
      if (input.query.get("stream") === "true") {
        const message = "stream is true; only responses in the background can be streamed again, and there are none.";
        throw new AppError("unsupported_parameter", message, { param: "stream" });
      }
      return { kind: "json", value: (await find(input)).response };
    }),
    route(deleteResponse, async ({ path, scope }) => {
      const id = path["response_id"] ?? "";
      if (!(await stored.remove(scope, id))) throw unknown(id);
      return { kind: "json", value: { id, object: "response", deleted: true } };
    }),
    route(listResponseItems, async (input) => {
      const { input: items } = await find(input);
      return { kind: "json", value: listItems(items, input.query) };
    }),
    route(cancelResponse, async (input) => {
      await find(input);
      const message =
        "The response is complete; only responses in the background can be cancelled, and there are none.";
      throw new AppError("invalid_request", message, { param: "response_id" });
    }),
  ];
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
