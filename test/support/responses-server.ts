/** A server with two scripted upstreams: one speaks OpenAI's Responses API, the other only chat completions. */
import {
  startScriptedUpstream,
  type Script,
  type ScriptedUpstream,
} from "../../packages/server/test/support/scripted-upstream.ts";
import { startServer, type RunningServer } from "./running-server.ts";

export interface ResponsesServer extends AsyncDisposable {
  readonly server: RunningServer;
  /** Serves the model `native`. */
  readonly responses: ScriptedUpstream;
  /** Serves the model `assistant`. */
  readonly chat: ScriptedUpstream;
  post(body: object | string, headers?: Record<string, string>, path?: string): Promise<Response>;
}

const refuseAll: Script = (exchange) => exchange.answer({ error: { message: "unexpected", type: "test" } }, 500);

/** @param more configuration, such as further models */
export async function startResponsesServer(more = ""): Promise<ResponsesServer> {
  const responses = await startScriptedUpstream(refuseAll);
  const chat = await startScriptedUpstream(refuseAll);
  const server = await startServer(`
discovery: { enabled: false }
engines:
  responses: { type: openai_compatible, base_url: "${responses.url}/v1", models: [upstream], wires: [responses] }
  chat: { type: openai_compatible, base_url: "${chat.url}/v1", models: [chat-upstream] }
models:
  native: { targets: [{ engine: responses, model: upstream }], fallbacks: [assistant], retries: { attempts: 0 } }
  assistant: { targets: [{ engine: chat, model: chat-upstream }], retries: { attempts: 0 } }
${more}`);
  return {
    server,
    responses,
    chat,
    post: (body, headers = {}, path = "/v1/responses") =>
      fetch(`${server.url}${path}`, {
        method: "POST",
        body: typeof body === "string" ? body : JSON.stringify(body),
        headers: { authorization: `Bearer ${server.key}`, "content-type": "application/json", ...headers },
      }),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await responses.close();
      await chat.close();
    },
  };
}

type Event = { readonly type: string } & Readonly<Record<string, unknown>>;

/** A response of OpenAI's, whole. */
export function openAiResponse(more: object = {}) {
  return {
    id: "resp_upstream",
    object: "response",
    created_at: 1_795_000_000,
    status: "completed",
    error: null,
    incomplete_details: null,
    model: "upstream",
    output: [
      { id: "rs_1", type: "reasoning", summary: [], encrypted_content: "gAAAA" },
      {
        id: "msg_1",
        type: "message",
        status: "completed",
        role: "assistant",
        content: [{ type: "output_text", text: "Grüße 👋", annotations: [], logprobs: [] }],
      },
    ],
    usage: {
      input_tokens: 100,
      input_tokens_details: { cached_tokens: 60 },
      output_tokens: 25,
      output_tokens_details: { reasoning_tokens: 5 },
      total_tokens: 125,
    },
    a_new_member: true,
    ...more,
  };
}

const begun = { ...openAiResponse(), status: "in_progress", output: [], usage: null };

export const openAiEvents: readonly Event[] = [
  { type: "response.created", sequence_number: 0, response: begun },
  { type: "response.in_progress", sequence_number: 1, response: begun },
  { type: "response.a_new_event", sequence_number: 2, value: 1 },
  {
    type: "response.output_text.delta",
    sequence_number: 3,
    item_id: "msg_1",
    output_index: 1,
    content_index: 0,
    delta: "Grüße 👋",
    logprobs: [],
  },
  { type: "response.completed", sequence_number: 4, response: openAiResponse() },
];

/** Events as OpenAI writes them. */
export function toResponsesWire(events: readonly Event[], lineEnd = "\n"): string {
  return events
    .map((event) => [`event: ${event.type}`, `data: ${JSON.stringify(event)}`, "", ""].join(lineEnd))
    .join("");
}
