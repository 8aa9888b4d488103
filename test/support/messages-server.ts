/** A server with two scripted upstreams: one speaks Anthropic's Messages API, the other only chat completions. */
import {
  startScriptedUpstream,
  type Script,
  type ScriptedUpstream,
} from "../../packages/server/test/support/scripted-upstream.ts";
import { startServer, type RunningServer } from "./running-server.ts";

export interface MessagesServer extends AsyncDisposable {
  readonly server: RunningServer;
  /** Serves the models `claude` and `compatible`, the latter as an OpenAI-compatible server that speaks the API as well. */
  readonly anthropic: ScriptedUpstream;
  /** Serves the model `assistant`. */
  readonly chat: ScriptedUpstream;
  /** Sends a request with Anthropic's headers. */
  post(body: object | string, headers?: Record<string, string>, path?: string): Promise<Response>;
}

const refuseAll: Script = (exchange) => exchange.answer({ error: { message: "unexpected", type: "test" } }, 500);

/** @param more configuration, such as further models */
export async function startMessagesServer(
  scripts: { readonly anthropic?: Script; readonly chat?: Script } = {},
  more = "",
): Promise<MessagesServer> {
  const anthropic = await startScriptedUpstream(scripts.anthropic ?? refuseAll);
  const chat = await startScriptedUpstream(scripts.chat ?? refuseAll);
  const server = await startServer(`
discovery: { enabled: false }
engines:
  anthropic: { type: anthropic, api_key: upstream-key, base_url: "${anthropic.url}/v1", models: [claude-upstream] }
  compatible: { type: openai_compatible, base_url: "${anthropic.url}/v1", models: [claude-upstream], wires: [messages] }
  chat: { type: openai_compatible, base_url: "${chat.url}/v1", models: [chat-upstream] }
models:
  claude: { targets: [{ engine: anthropic, model: claude-upstream }], retries: { attempts: 1 } }
  compatible: { targets: [{ engine: compatible, model: claude-upstream }] }
  assistant: { targets: [{ engine: chat, model: chat-upstream }], retries: { attempts: 1 } }
${more}`);
  return {
    server,
    anthropic,
    chat,
    post: (body, headers = {}, path = "/v1/messages") =>
      fetch(`${server.url}${path}`, {
        method: "POST",
        body: typeof body === "string" ? body : JSON.stringify(body),
        headers: {
          "x-api-key": server.key,
          "anthropic-version": "2023-06-01",
          "content-type": "application/json",
          ...headers,
        },
      }),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await anthropic.close();
      await chat.close();
    },
  };
}

/** The events of a stream as they arrive, comments left out. */
export async function readEvents(response: Response): Promise<{ name: string | undefined; data: string }[]> {
  const text = await response.text();
  return text
    .split("\n\n")
    .map((frame) => frame.split("\n").filter((line) => line !== "" && !line.startsWith(":")))
    .filter((lines) => lines.length > 0)
    .map((lines) => {
      const field = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
      return { name: field("event"), data: field("data") ?? "" };
    });
}

type Event = { readonly type: string } & Readonly<Record<string, unknown>>;

/** Events as Anthropic writes them. */
export function toWire(events: readonly Event[], lineEnd = "\n"): string {
  return events
    .map((event) => [`event: ${event.type}`, `data: ${JSON.stringify(event)}`, "", ""].join(lineEnd))
    .join("");
}

export const startUsage = {
  input_tokens: 10,
  cache_creation_input_tokens: 30,
  cache_read_input_tokens: 60,
  output_tokens: 1,
};

/** A message of Anthropic's, whole. */
export function anthropicMessage(content: readonly object[], more: object = {}) {
  return {
    id: "msg_upstream",
    type: "message",
    role: "assistant",
    model: "claude-upstream",
    content,
    stop_reason: "end_turn",
    stop_sequence: null,
    usage: { ...startUsage, output_tokens: 25 },
    ...more,
  };
}

/** The events of a message with thinking, text and a tool call. */
export const anthropicEvents: readonly Event[] = [
  {
    type: "message_start",
    message: { ...anthropicMessage([]), stop_reason: null, usage: startUsage, a_new_member: true },
  },
  { type: "content_block_start", index: 0, content_block: { type: "thinking", thinking: "", signature: "" } },
  { type: "ping" },
  { type: "content_block_delta", index: 0, delta: { type: "thinking_delta", thinking: "Hm – 好." } },
  { type: "content_block_delta", index: 0, delta: { type: "signature_delta", signature: "c2ln" } },
  { type: "content_block_stop", index: 0 },
  { type: "content_block_start", index: 1, content_block: { type: "text", text: "" } },
  { type: "content_block_delta", index: 1, delta: { type: "text_delta", text: "Grüße 👋" } },
  { type: "a_new_event", value: 1 },
  { type: "content_block_stop", index: 1 },
  {
    type: "content_block_start",
    index: 2,
    content_block: { type: "tool_use", id: "toolu_1", name: "read", input: {} },
  },
  { type: "content_block_delta", index: 2, delta: { type: "input_json_delta", partial_json: '{"path":"x"}' } },
  { type: "content_block_stop", index: 2 },
  { type: "message_delta", delta: { stop_reason: "tool_use", stop_sequence: null }, usage: { output_tokens: 25 } },
  { type: "message_stop" },
];

const head = { id: "chatcmpl-1", created: 1_795_000_000, model: "chat-upstream" };
export const chatUsage = {
  prompt_tokens: 100,
  completion_tokens: 25,
  total_tokens: 125,
  prompt_tokens_details: { cached_tokens: 60 },
};

export function chatCompletion(message: object, finishReason = "stop") {
  const choice = { index: 0, message: { role: "assistant", content: null, ...message }, finish_reason: finishReason };
  return { ...head, object: "chat.completion", choices: [choice], usage: chatUsage };
}

export function chatChunk(delta: object, finishReason: string | null = null) {
  return { ...head, object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason: finishReason }] };
}

/** The same message as `anthropicEvents`, of an upstream that speaks only chat completions; usage comes late. */
export const chatChunks: readonly (object | string)[] = [
  chatChunk({ role: "assistant", content: "" }),
  chatChunk({ reasoning_content: "Hm – 好." }),
  chatChunk({ content: "Grüße 👋" }),
  chatChunk({ tool_calls: [{ index: 0, id: "call_1", type: "function", function: { name: "read", arguments: "" } }] }),
  chatChunk({ tool_calls: [{ index: 0, function: { arguments: '{"path":' } }] }),
  chatChunk({ tool_calls: [{ index: 0, function: { arguments: '"x"}' } }] }),
  chatChunk({}, "tool_calls"),
  { ...head, object: "chat.completion.chunk", choices: [], usage: chatUsage },
  "[DONE]",
];

export const toChatWire = (chunks: readonly (object | string)[], lineEnd = "\n"): string =>
  chunks
    .map((chunk) => `data: ${typeof chunk === "string" ? chunk : JSON.stringify(chunk)}${lineEnd}${lineEnd}`)
    .join("");

/** `chatChunks` as different servers write them. */
export const chatSpellings = [
  ["as OpenAI writes it", toChatWire(chatChunks)],
  ["with CRLF", toChatWire(chatChunks, "\r\n")],
  ["with comments", toChatWire(chatChunks).replaceAll("data: ", ": OPENROUTER PROCESSING\n\ndata: ")],
] as const;
