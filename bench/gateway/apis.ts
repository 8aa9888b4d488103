/** The APIs in which the benchmark chats: their paths, requests, answers and events, each with the same text. */
import { completionText, eventsPerStream, requestBody, tokenEvent, usageEvent } from "./wire.ts";

export type Api = "chat" | "responses" | "messages";

export const apis: readonly Api[] = ["chat", "responses", "messages"];

export const apiPaths: Readonly<Record<Api, string>> = {
  chat: "/v1/chat/completions",
  responses: "/v1/responses",
  messages: "/v1/messages",
};

type Message = { readonly role: string; readonly content: unknown };

/** The request with these messages of chat completions. */
export function requestOf(
  api: Api,
  model: string,
  { messages, stream }: { messages: readonly Message[]; stream: boolean },
): string {
  const streaming = stream ? { stream: true } : {};
  if (api === "chat") return JSON.stringify({ model, messages, ...streaming });
  if (api === "responses") return JSON.stringify({ model, store: false, input: messages.map(toItem), ...streaming });
  const system = messages.filter(({ role }) => role === "system");
  return JSON.stringify({
    model,
    max_tokens: 256,
    ...(system.length === 0 ? {} : { system: system[0]!.content }),
    messages: messages.filter(({ role }) => role !== "system").map(toMessage),
    ...streaming,
  });
}

/** The small request of an API: that of chat completions with its own words for the rest. */
export function smallRequest(api: Api, model: string, options: { stream: boolean }): string {
  if (api === "chat") return requestBody(model, options);
  const { messages } = JSON.parse(requestBody(model, options)) as { messages: Message[] };
  return requestOf(api, model, { messages, ...options });
}

type Part = { readonly type: string; readonly text?: string; readonly image_url?: { readonly url: string } };

function toItem({ role, content }: Message): object {
  const type = role === "assistant" ? "output_text" : "input_text";
  const parts = typeof content === "string" ? [{ type: "text", text: content }] : (content as Part[]);
  return {
    type: "message",
    role,
    content: parts.map(({ image_url: image, text }) =>
      image === undefined ? { type, text } : { type: "input_image", image_url: image.url },
    ),
  };
}

function toMessage({ role, content }: Message): object {
  if (typeof content === "string") return { role, content };
  const parts = (content as Part[]).map(({ image_url: image, ...part }) =>
    image === undefined
      ? part
      : { type: "image", source: { type: "base64", media_type: "image/png", data: image.url.split(",")[1] } },
  );
  return { role, content: parts };
}

interface Upstream {
  readonly answer: string;
  /** Each as it is sent; every stream has as many pieces of text. */
  readonly events: readonly (() => string)[];
}

export const upstreams: Readonly<Record<Api, Upstream>> = {
  chat: {
    answer: completionText(),
    events: [
      ...Array.from({ length: eventsPerStream - 2 }, (_, index) => () => `data: ${tokenEvent(index)}\n\n`),
      () => `data: ${usageEvent()}\n\n`,
      () => "data: [DONE]\n\n",
    ],
  },
  responses: { answer: JSON.stringify(response("completed", [outputMessage()])), events: responseEvents() },
  messages: {
    answer: JSON.stringify(message([{ type: "text", text: answerText() }], "end_turn")),
    events: messageEvents(),
  },
};

/** Events of a stream, by API. */
export const eventCounts: Readonly<Record<Api, number>> = {
  chat: upstreams.chat.events.length,
  responses: upstreams.responses.events.length,
  messages: upstreams.messages.events.length,
};

function answerText(): string {
  return "Berlin. The two are about 880 km apart. ".repeat(8);
}

function words(): string[] {
  return Array.from({ length: eventsPerStream - 3 }, (_, index) => ` word${index}`);
}

function named(type: string, members: object): () => string {
  const text = `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;
  return () => text;
}

function message(content: readonly object[], stopReason: string | null): object {
  return {
    id: "msg_0123456789abcdef",
    type: "message",
    role: "assistant",
    model: "bench",
    content,
    stop_reason: stopReason,
    stop_sequence: null,
    usage: { input_tokens: 120, output_tokens: 80 },
  };
}

function messageEvents(): (() => string)[] {
  return [
    named("message_start", { message: message([], null) }),
    named("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
    ...words().map((text) => named("content_block_delta", { index: 0, delta: { type: "text_delta", text } })),
    named("content_block_stop", { index: 0 }),
    named("message_delta", { delta: { stop_reason: "end_turn", stop_sequence: null }, usage: { output_tokens: 48 } }),
    named("message_stop", {}),
  ];
}

function outputMessage(text = answerText()): object {
  const content = [{ type: "output_text", text, annotations: [] }];
  return { id: "msg_0", type: "message", status: "completed", role: "assistant", content };
}

function response(status: string, output: readonly object[]): object {
  const usage = { input_tokens: 120, output_tokens: 80, total_tokens: 200 };
  const isOver = status === "completed";
  return {
    id: "resp_0123456789abcdef",
    object: "response",
    created_at: 1_760_000_000,
    status,
    model: "bench",
    output,
    store: false,
    usage: isOver ? usage : null,
  };
}

function responseEvents(): (() => string)[] {
  const place = { item_id: "msg_0", output_index: 0, content_index: 0 };
  const text = words().join("");
  const part = { type: "output_text", text, annotations: [] };
  const events: [type: string, members: object][] = [
    ["response.created", { response: response("in_progress", []) }],
    ["response.in_progress", { response: response("in_progress", []) }],
    ["response.output_item.added", { output_index: 0, item: { id: "msg_0", type: "message", content: [] } }],
    ["response.content_part.added", { ...place, part: { ...part, text: "" } }],
    ...words().map((delta): [string, object] => ["response.output_text.delta", { ...place, delta }]),
    ["response.output_text.done", { ...place, text }],
    ["response.content_part.done", { ...place, part }],
    ["response.output_item.done", { output_index: 0, item: outputMessage(text) }],
    ["response.completed", { response: response("completed", [outputMessage(text)]) }],
  ];
  return events.map(([type, members], index) => named(type, { sequence_number: index, ...members }));
}
