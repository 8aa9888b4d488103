/** Encodes a request for one of the contenders. */
import { requestOf, smallRequest, type Api } from "./apis.ts";
import type { Contender } from "./contenders.ts";

export interface Call {
  readonly mode: string;
  readonly api?: Api;
  /** Whether the upstream of the model speaks the API. */
  readonly isNative?: boolean;
}

/** A chat completion. @param body instead of the usual small one */
export function chatRequest(contender: Contender, mode: string, body?: string): Buffer {
  return body === undefined ? smallCall(contender, { mode }) : encode(contender, { mode }, body);
}

export function smallCall(contender: Contender, call: Call): Buffer {
  const { api = "chat", mode } = call;
  return encode(contender, call, smallRequest(api, contender.model(mode, call), { stream: mode !== "batch" }));
}

/** Head and body. */
function encode(contender: Contender, { api = "chat", mode }: Call, body: string): Buffer {
  const headers = { host: "127.0.0.1", "content-type": "application/json", ...contender.headers(mode) };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(
    `POST ${contender.path(mode, api)} HTTP/1.1\r\n${lines.join("")}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

/** Long prompts, by phase: text of a megabyte, images of 20 MB, and 200 messages of 400 characters each. */
const prompts = {
  text_1mb: () => [{ role: "user", content: words(1_000_000) }],
  images_20mb: () => [
    {
      role: "user",
      content: [
        { type: "text", text: "What do these pictures have in common?" },
        ...Array.from({ length: 4 }, () => ({
          type: "image_url",
          image_url: { url: `data:image/png;base64,${"iVBORw0KGgo".repeat(454_545)}` },
        })),
      ],
    },
  ],
  conversation_200: () =>
    Array.from({ length: 200 }, (_, index) => ({
      role: index % 2 === 0 ? "user" : "assistant",
      content: words(400),
    })),
} as const;

export type Prompt = keyof typeof prompts;

function words(length: number): string {
  return 'A line of text with "quotes",\nand é. '.repeat(Math.ceil(length / 36)).slice(0, length);
}

/** A call with a long prompt and a short answer. */
export function longCall(contender: Contender, call: Call & { readonly prompt: Prompt }): Buffer {
  const model = contender.model("batch", call);
  return encode(
    contender,
    call,
    requestOf(call.api ?? "chat", model, { messages: prompts[call.prompt](), stream: false }),
  );
}
