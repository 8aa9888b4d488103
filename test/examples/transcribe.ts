// Transcribes a recording: first batch with timings, then streaming.
import { AsyncSounding } from "@sounding/client";

const sounding = new AsyncSounding();
const { data: transcribers } = await sounding.models.list({ capability: "transcription" });
const model = transcribers[0]!.id;

const speech = await sounding.audio.speech.create({ model: "flite", voice: "rms", input: "A fathom is six feet." });
await speech.write_to_file("fathom.wav");

const transcription = await sounding.audio.transcriptions.create({
  model,
  file: "fathom.wav",
  response_format: "verbose_json",
  timestamp_granularities: ["segment"],
});
for (const { start, end, text } of transcription.segments) {
  console.log(`${start} to ${end}: ${text}`);
}

const events = await sounding.audio.transcriptions.create({ model, file: "fathom.wav", stream: true });
for await (const event of events) {
  if (event.type === "transcript.text.delta") process.stdout.write(event.delta);
}
process.stdout.write("\n");
