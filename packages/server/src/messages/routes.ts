/** HTTP routes of Anthropic's Messages API. */
import { countMessageTokens, createMessage } from "../api/messages.ts";
import type { ChatParts } from "../chat/admit-chat.ts";
import { createWire, toResponse } from "../chat/serve-wire.ts";
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
        const { body, bytes, scope, headers, requestId, clientAddress, signal, cancellation } = input;
        const caller = { scope, headers, requestId, clientAddress, note: input.note.bind(input) };
        const changes = withoutForeignThinking(body, bytes);
        return toResponse(await serve({ ...caller, body, bytes, signal, cancellation, changes }), messagesWire);
      },
      errorForm,
    ),
    route(countMessageTokens, async (input) => ({ kind: "json", ...(await countTokens(input)) }), errorForm),
  ];
}

const writeError: ErrorWriter = (error) => ({
  bytes: Buffer.from(JSON.stringify(toMessageError(error))),
  type: "application/json",
});

const errorForm = { writeError, errorsUnder: "/v1/messages" } as const;
