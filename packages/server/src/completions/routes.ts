/** HTTP routes of completions of raw prompts. */
import { createCompletion } from "../api/completions.ts";
import type { ChatParts } from "../chat/admit-chat.ts";
import { route, type Route } from "../http/route.ts";
import type { RoutedChat } from "../routing/route-chat.ts";
import { createTextCompletions } from "./complete-text.ts";

export function completionRoutes(parts: ChatParts<RoutedChat>): Route[] {
  return [route(createCompletion, createTextCompletions(parts))];
}
