/** Formats of streamed speech: bytes, JSON lines, OpenAI's events. */
import { withCost, type CallCost } from "../pricing/call-costs.ts";
import type { OutputItem } from "./audio-output.ts";

/** Maximum audio bytes per line or event, since clients limit the length of a line. A multiple of 3, to avoid base64 padding. */
const mostBytes = 24_000;

export async function* toBytes(items: AsyncIterable<OutputItem>): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const item of items) if (item.kind === "audio" && item.bytes.length > 0) yield item.bytes;
}

export async function* toLines(items: AsyncIterable<OutputItem>): AsyncGenerator<string, void, undefined> {
  for await (const item of items) {
    if (item.kind === "boundary") yield JSON.stringify(item.boundary);
    else for (const data of inBase64(item.bytes)) yield JSON.stringify({ type: "audio", data });
  }
}

/** https://platform.openai.com/docs/api-reference/audio/speech-audio-delta-event */
export async function* toEvents(
  items: AsyncIterable<OutputItem>,
  { inputTokens, toldCost }: { readonly inputTokens: number; toldCost(): CallCost | undefined },
): AsyncGenerator<string, void, undefined> {
  for await (const item of items) {
    if (item.kind === "boundary") continue;
    for (const audio of inBase64(item.bytes)) yield JSON.stringify({ type: "speech.audio.delta", audio });
  }
  const usage = { input_tokens: inputTokens, output_tokens: 0, total_tokens: inputTokens };
  yield JSON.stringify({ type: "speech.audio.done", usage: withCost(usage, toldCost()) });
}

function* inBase64(bytes: Uint8Array): Generator<string, void, undefined> {
  for (let start = 0; start < bytes.length; start += mostBytes) {
    yield Buffer.from(bytes.buffer, bytes.byteOffset + start, Math.min(mostBytes, bytes.length - start)).toString(
      "base64",
    );
  }
}
