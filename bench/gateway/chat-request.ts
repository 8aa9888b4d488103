/** Encodes a chat completion request for one of the contenders. */
import type { Contender } from "./contenders.ts";
import { requestBody } from "./wire.ts";

/** Head and body; `body` replaces the usual small one. */
export function chatRequest(
  contender: Contender,
  mode: string,
  body = requestBody(contender.model(mode), { stream: mode !== "batch" }),
): Buffer {
  const headers = { host: "127.0.0.1", "content-type": "application/json", ...contender.headers(mode) };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(
    `POST ${contender.path(mode)} HTTP/1.1\r\n${lines.join("")}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
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
export function longRequest(contender: Contender, prompt: Prompt): Buffer {
  return chatRequest(
    contender,
    "batch",
    JSON.stringify({ model: contender.model("batch"), messages: prompts[prompt]() }),
  );
}
