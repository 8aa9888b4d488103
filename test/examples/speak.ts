// Synthesizes speech into a file, and prints when each word is spoken.
import { AsyncSounding } from "@sounding/client";

const sounding = new AsyncSounding();

const speech = await sounding.audio.speech.create({
  model: "flite",
  voice: "alloy",
  input: "A fathom is six feet.",
  response_format: "mp3",
  extra_body: { enable_word_boundary: true, boundary_types: ["word"] },
});
await speech.write_to_file("fathom.mp3");
for (const { text, audio_offset_ms } of speech.word_boundaries ?? []) {
  console.log(audio_offset_ms, text);
}
