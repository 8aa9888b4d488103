/** HTTP routes of chat completions. */
import { createChatCompletion } from "../api/chat.ts";
import { route, type Route } from "../http/route.ts";
import type { Chat } from "./complete.ts";

export function chatRoutes(chat: Chat): Route[] {
  return [
    route(createChatCompletion, async (input) => {
      const answer = await chat(input);
      return answer.stream
        ? { kind: "events", events: answer.frames, headers: answer.headers }
        : { kind: "json", value: answer.completion, headers: answer.headers };
    }),
  ];
}
