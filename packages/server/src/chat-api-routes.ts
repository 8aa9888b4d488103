/** The routes of the APIs that chat with the same parts: chat completions, completions of raw prompts, Anthropic's messages. */
import type { ChatParts } from "./chat/admit-chat.ts";
import { createChat } from "./chat/complete.ts";
import { chatRoutes } from "./chat/routes.ts";
import { completionRoutes } from "./completions/routes.ts";
import type { Route } from "./http/route.ts";
import { messageRoutes } from "./messages/routes.ts";
import type { RoutedChat } from "./routing/route-chat.ts";

export function chatApiRoutes(parts: ChatParts<RoutedChat>): Route[] {
  return [...chatRoutes(createChat(parts)), ...completionRoutes(parts), ...messageRoutes(parts)];
}
