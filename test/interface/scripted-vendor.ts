/**
 * A vendor for the interface tests. Its chat model replies with the request that it got, its transcription model hears a
 * conversation of two people, and its voice is silent. The chat model and the voice fail in the middle of a response on request.
 */
import { embedNumbers } from "../support/embedding-upstream.ts";
import type { Script, ScriptedExchange } from "../../packages/server/test/support/scripted-upstream.ts";

const head = { id: "chatcmpl-of-the-vendor", created: 1_795_000_000, model: "vendor-model-2026" };
const usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 };

/** A conversation of two. */
const conversation = {
  task: "transcribe",
  duration: 3,
  text: "Who is there? It is me. Come in.",
  segments: [
    { type: "transcript.text.segment", id: "seg_0", start: 0, end: 1, text: "Who is there?", speaker: "A" },
    { type: "transcript.text.segment", id: "seg_1", start: 1, end: 2, text: "It is me.", speaker: "B" },
    { type: "transcript.text.segment", id: "seg_2", start: 2, end: 3, text: "Come in.", speaker: "A" },
  ],
};

/** Fails in the middle of a response, after everything sent so far; a reset could overtake it. */
async function breakOff(exchange: ScriptedExchange): Promise<void> {
  await exchange.raw("not a chunk\r\n");
}

export const scriptedVendor: Script = async (exchange) => {
  if (exchange.path === "/v1/audio/transcriptions") {
    exchange.answer(conversation);
    return;
  }
  if (exchange.path === "/v1/audio/translations") {
    return exchange.answer({ text: "Good day.", segments: [{ id: 0, start: 0, end: 1, text: "Good day." }] });
  }
  if (exchange.path === "/v1/audio/speech") {
    exchange.begin(200, { "content-type": "audio/pcm" });
    await exchange.send(Buffer.alloc(48_000));
    if ((exchange.json as { input: string }).input.includes("breaks off")) await breakOff(exchange);
    else exchange.end();
    return;
  }
  if (exchange.path === "/v1/embeddings") return embedNumbers("base64")(exchange);
  const request = exchange.json as { stream?: boolean; n?: number; user?: string };
  if (request.stream !== true) {
    exchange.answer({
      ...head,
      object: "chat.completion",
      choices: Array.from({ length: request.n ?? 1 }, (_, index) => ({
        index,
        message: { role: "assistant", content: JSON.stringify(request) },
        finish_reason: "stop",
        logprobs: null,
      })),
      usage,
      service_tier: "default",
      system_fingerprint: "fp_7",
      prompt_logprobs: [null, { "42": { logprob: -0.5, rank: 1, decoded_token: "Hi" } }],
    });
    return;
  }
  const object = "chat.completion.chunk";
  exchange.beginEvents();
  for (const choices of [
    [{ index: 0, delta: { role: "assistant", content: "One" }, finish_reason: null }],
    [{ index: 0, delta: { content: " two." }, finish_reason: null }],
    [{ index: 0, delta: {}, finish_reason: "stop" }],
  ]) {
    await exchange.send(`data: ${JSON.stringify({ ...head, object, choices })}\n\n`);
    if (request.user === "breaks off") {
      await breakOff(exchange);
      return;
    }
  }
  await exchange.send(`data: ${JSON.stringify({ ...head, object, choices: [], usage })}\n\ndata: [DONE]\n\n`);
  exchange.end();
};
