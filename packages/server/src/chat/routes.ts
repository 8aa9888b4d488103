/** HTTP routes of chat completions. */
import { createChatCompletion } from "../api/chat.ts";
import { route, type Route } from "../http/route.ts";
import type { Chat } from "./complete.ts";

export function chatRoutes(chat: Chat): Route[] {
  return [route(createChatCompletion, chat, { takesCutTexts: true })];
}
