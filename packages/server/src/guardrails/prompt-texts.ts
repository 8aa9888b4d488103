/** The texts of a prompt that guardrails judge: what is said in messages, and the arguments of tool calls. */
import type { ChatMessage } from "../api/chat-request.ts";
import type { MapTexts } from "./check-texts.ts";
import { mapJsonTexts } from "./json-texts.ts";

/**
 * Maps the texts of messages; their other members stay as they are.
 * @param roles whose messages; undefined: everybody's
 */
export const mapPromptTexts =
  (roles: readonly string[] | undefined): MapTexts<ChatMessage[]> =>
  (messages, map) =>
    messages.map((message) => {
      if (roles !== undefined && !roles.includes(message.role)) return message;
      const mapped = { ...message };
      if (typeof message.content === "string") mapped.content = map(message.content);
      else if (message.content != null) mapped.content = message.content.map((part) => mapPart(part, map));
      if ("refusal" in message && typeof message.refusal === "string")
        Object.assign(mapped, { refusal: map(message.refusal) });
      if (message.tool_calls != null) {
        mapped.tool_calls = message.tool_calls.map((call) => ({
          ...call,
          function: { ...call.function, arguments: mapJsonTexts(call.function.arguments, map) },
        }));
      }
      return mapped;
    });

type Part = Extract<ChatMessage["content"], readonly unknown[]>[number];

/** Parts of type `text` and `refusal`; what images, sound and files say is not known here. */
function mapPart(part: Part, map: (text: string) => string): Part {
  const mapped: Record<string, unknown> = { ...part };
  for (const name of ["text", "refusal"]) {
    if (typeof mapped[name] === "string") mapped[name] = map(mapped[name]);
  }
  return mapped as Part;
}
