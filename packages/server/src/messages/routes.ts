/** HTTP routes of Anthropic's Messages API. */
import { countMessageTokens, createMessage } from "../api/messages.ts";
import type { ChatParts } from "../chat/admit-chat.ts";
import { createWire } from "../chat/serve-wire.ts";
import { toResponse } from "../chat/wire-answer.ts";
import { route, type ErrorWriter, type Route } from "../http/route.ts";
import type { RoutedChat } from "../routing/route-chat.ts";
import { createCountTokens } from "./count-tokens.ts";
import { withoutForeignThinking } from "./foreign-thinking.ts";
import { toMessageError } from "./message-errors.ts";
import { messagesWire } from "./messages-wire.ts";

export function messageRoutes(parts: ChatParts<RoutedChat>): Route[] {
  const serve = createWire(messagesWire, parts);
  const countTokens = createCountTokens(parts);
  return [
    route(
      createMessage,
      async (input) => {
        const changes = withoutForeignThinking(input.body);
        if (changes.messages !== undefined) await input.texts?.restore();
        const answer = await serve(input, { changes });
        return toResponse({ ...answer, headers: { ...answer.headers, ...idHeader(input.requestId) } }, messagesWire);
      },
      { ...errorForm, takesCutTexts: true },
    ),
    route(
      countMessageTokens,
      async (input) => {
        const { headers, value } = await countTokens(input);
        return { kind: "json", value, headers: { ...headers, ...idHeader(input.requestId) } };
      },
      errorForm,
    ),
  ];
}

/** Where Anthropic's clients look for it. */
function idHeader(requestId: string): { readonly "request-id": string } {
  return { "request-id": requestId };
}

const writeError: ErrorWriter = (error, { requestId }) => {
  const body = { ...toMessageError(error), ...(requestId === undefined ? {} : { request_id: requestId }) };
  return {
    bytes: Buffer.from(JSON.stringify(body)),
    type: "application/json",
    ...(requestId === undefined ? {} : { headers: idHeader(requestId) }),
  };
};

const errorForm = { writeError, errorsUnder: "/v1/messages" } as const;
