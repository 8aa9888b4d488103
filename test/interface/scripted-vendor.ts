/** A vendor: its chat models answer what they were asked, its listener hears a conversation of two, so that cases see what reaches an engine. */
import type { Script } from "../../packages/server/test/support/scripted-upstream.ts";

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

export const scriptedVendor: Script = async (exchange) => {
  if (exchange.path === "/v1/audio/transcriptions") {
    exchange.answer(conversation);
    return;
  }
  const request = exchange.json as { stream?: boolean; n?: number };
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
  }
  await exchange.send(`data: ${JSON.stringify({ ...head, object, choices: [], usage })}\n\ndata: [DONE]\n\n`);
  exchange.end();
};
