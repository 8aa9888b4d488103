/** The model behind the server: answers with a tool call first if the request has tools, and numbers its responses. */
import type { Script } from "../../packages/server/test/support/scripted-upstream.ts";

const usage = { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17 };
const addCall = { id: "call_1", type: "function", function: { name: "add", arguments: '{"a":1,"b":2}' } };

interface ChatBody {
  readonly stream?: boolean;
  readonly tools?: readonly unknown[];
  readonly messages: readonly { readonly role: string }[];
}

/** @param application part of the response IDs, so that those of different applications differ */
export function numberedResponses(application: string): Script {
  let responses = 0;
  return async (exchange) => {
    const { messages, stream, tools = [] } = exchange.json as ChatBody;
    const id = `chatcmpl-${application}-${String((responses += 1)).padStart(16, "0")}`;
    const head = { id, created: 1_795_000_000, model: "m-2026" };
    const callsTool = tools.length > 0 && !messages.some(({ role }) => role === "tool");
    const message = callsTool
      ? { role: "assistant", content: null, tool_calls: [addCall] }
      : { role: "assistant", content: "Six feet." };
    const finish_reason = callsTool ? "tool_calls" : "stop";
    if (stream !== true) {
      const choices = [{ index: 0, message, finish_reason }];
      exchange.answer({ ...head, object: "chat.completion", choices, usage });
      return;
    }
    const chunk = (delta: object, reason: string | null = null) => ({
      ...head,
      object: "chat.completion.chunk",
      choices: [{ index: 0, delta, finish_reason: reason }],
    });
    exchange.beginEvents();
    await exchange.sendEvents(chunk({ role: "assistant", content: "Six" }), chunk({ content: " feet." }));
    await exchange.sendEvents(chunk({}, "stop"), { ...chunk({}), choices: [], usage }, "[DONE]");
    exchange.end();
  };
}
