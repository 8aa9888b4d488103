/** The simplest answers of each vendor, batch, streamed and failed, on its own wire. */
import { frame } from "./event-stream.ts";
import type { VendorType } from "./vendor-call.ts";
import { bytes, events, json, type Reply } from "./vendor-server.ts";

type End = "end" | "open" | "cut";

interface VendorWire {
  /** A whole answer: the text "Hello there", 7 tokens in, 2 out. */
  readonly batch: Reply;
  /** The same as a stream. Without `finish`, the last frames are missing. */
  stream(end: End, finish: boolean): Reply;
  /** A frame of a stream with a long piece of text. */
  readonly longPiece: string | Buffer;
  failure(status: number, message: string, headers?: Record<string, string>): Reply;
}

const longText = "long ".repeat(200_000);
const toFrame = (event: object): string => `data: ${JSON.stringify(event)}\n\n`;

const anthropicMessage = { type: "message", id: "msg_1", role: "assistant", model: "claude-sonnet-4-5" };
const anthropic: VendorWire = {
  batch: json({
    ...anthropicMessage,
    content: [{ type: "text", text: "Hello there" }],
    stop_reason: "end_turn",
    stop_sequence: null,
    usage: { input_tokens: 7, output_tokens: 2 },
  }),
  stream: (end, finish) =>
    events(
      [
        {
          type: "message_start",
          message: {
            ...anthropicMessage,
            content: [],
            stop_reason: null,
            stop_sequence: null,
            usage: { input_tokens: 7, output_tokens: 1 },
          },
        },
        { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
        { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hello " } },
        { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "there" } },
        ...(finish
          ? [
              { type: "content_block_stop", index: 0 },
              {
                type: "message_delta",
                delta: { stop_reason: "end_turn", stop_sequence: null },
                usage: { output_tokens: 2 },
              },
              { type: "message_stop" },
            ]
          : []),
      ],
      end,
    ),
  longPiece: toFrame({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: longText } }),
  failure: (status, message, headers) =>
    json({ type: "error", error: { type: "some_error", message } }, status, headers),
};

const googleText = (text: string, finishReason?: string) => ({
  responseId: "r1",
  candidates: [
    { content: { role: "model", parts: [{ text }] }, ...(finishReason === undefined ? {} : { finishReason }) },
  ],
  usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 2, totalTokenCount: 9 },
});
const google: VendorWire = {
  batch: json(googleText("Hello there", "STOP")),
  stream: (end, finish) => events([googleText("Hello "), googleText("there", finish ? "STOP" : undefined)], end),
  longPiece: toFrame(googleText(longText)),
  failure: (status, message, headers) => json({ error: { code: status, message, status: "SOME" } }, status, headers),
};

const mistralHead = { id: "m1", object: "chat.completion", created: 1_700_000_000, model: "mistral-large-latest" };
const mistralUsage = { prompt_tokens: 7, completion_tokens: 2, total_tokens: 9 };
const mistralChunk = (delta: unknown, finishReason: string | null, more = {}) => ({
  ...mistralHead,
  object: "chat.completion.chunk",
  choices: [{ index: 0, delta, finish_reason: finishReason }],
  ...more,
});
const mistral: VendorWire = {
  batch: json({
    ...mistralHead,
    choices: [{ index: 0, message: { role: "assistant", content: "Hello there" }, finish_reason: "stop" }],
    usage: mistralUsage,
  }),
  stream: (end, finish) =>
    events(
      [
        mistralChunk({ role: "assistant", content: "Hello " }, null),
        mistralChunk({ content: "there" }, null),
        ...(finish ? [mistralChunk({ content: "" }, "stop", { usage: mistralUsage }), "data: [DONE]\n\n"] : []),
      ],
      end,
    ),
  longPiece: toFrame(mistralChunk({ content: longText }, null)),
  failure: (status, message, headers) =>
    json({ object: "error", message, type: "some_error", param: null, code: "1" }, status, headers),
};

const cohereUsage = { tokens: { input_tokens: 7, output_tokens: 2 } };
const cohereDelta = (text: string) => ({
  type: "content-delta",
  index: 0,
  delta: { message: { content: { text } } },
});
const cohere: VendorWire = {
  batch: json({
    id: "c1",
    generation_id: "c1",
    message: { role: "assistant", content: [{ type: "text", text: "Hello there" }] },
    finish_reason: "COMPLETE",
    usage: cohereUsage,
  }),
  stream: (end, finish) =>
    events(
      [
        { type: "message-start", id: "c1", delta: { message: { role: "assistant" } } },
        { type: "content-start", index: 0, delta: { message: { content: { type: "text", text: "" } } } },
        cohereDelta("Hello "),
        cohereDelta("there"),
        ...(finish
          ? [
              { type: "content-end", index: 0 },
              { type: "message-end", delta: { finish_reason: "COMPLETE", usage: cohereUsage } },
            ]
          : []),
      ],
      end,
    ),
  longPiece: toFrame(cohereDelta(longText)),
  failure: (status, message, headers) => json({ message }, status, headers),
};

const bedrockUsage = { inputTokens: 7, outputTokens: 2, totalTokens: 9 };
const amazonBedrock: VendorWire = {
  batch: json(
    {
      output: { message: { role: "assistant", content: [{ text: "Hello there" }] } },
      stopReason: "end_turn",
      usage: bedrockUsage,
    },
    200,
    { "x-amzn-requestid": "request-1" },
  ),
  stream: (end, finish) =>
    bytes(
      "application/vnd.amazon.eventstream",
      [
        frame("messageStart", { role: "assistant" }),
        frame("contentBlockDelta", { contentBlockIndex: 0, delta: { text: "Hello " } }),
        frame("contentBlockDelta", { contentBlockIndex: 0, delta: { text: "there" } }),
        ...(finish
          ? [
              frame("contentBlockStop", { contentBlockIndex: 0 }),
              frame("messageStop", { stopReason: "end_turn" }),
              frame("metadata", { usage: bedrockUsage, metrics: { latencyMs: 1 } }),
            ]
          : []),
      ],
      end,
    ),
  longPiece: frame("contentBlockDelta", { contentBlockIndex: 0, delta: { text: longText } }),
  failure: (status, message, headers) => json({ message }, status, headers),
};

export const wires: Readonly<Record<VendorType, VendorWire>> = {
  anthropic,
  google,
  amazon_bedrock: amazonBedrock,
  mistral,
  cohere,
};
