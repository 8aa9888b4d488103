// Receives speech while it is synthesized: the first bytes arrive long before the last.
import { AsyncSounding } from "@sounding/client";

const sounding = new AsyncSounding();

const stream = await sounding.audio.speech.with_streaming_response.create({
  model: "flite",
  voice: "alloy",
  input: "A fathom is six feet. A league is three miles.",
  response_format: "pcm",
  extra_body: { enable_word_boundary: true },
});
let bytes = 0;
for await (const item of stream) {
  if (item instanceof Uint8Array) bytes += item.length;
  else console.log(`${item.boundary_type} ${item.text}, after ${bytes} bytes`);
}
