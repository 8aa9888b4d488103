/** What must compile and what must not; the compiler checks it, and the calls are never made. */
import { test } from "node:test";
import type {
  ASRResponse,
  AsyncEventStream,
  AsyncSounding,
  ChatCompletion,
  ChatCompletionChunk,
  LogsResult,
  SpeechItem,
  SpeechStream,
  TracesResult,
  TranscriptionStreamEvent,
  TranscriptionVerbose,
  TTSResponse,
} from "@sounding/client";
import type { Sounding, SyncEventStream } from "@sounding/client/sync";

const question = { model: "m", messages: [{ role: "user" as const, content: "Hello?" }] };

async function compiled(client: AsyncSounding, sync: Sounding, stream: boolean): Promise<unknown[]> {
  const whole: ChatCompletion = await client.chat.completions.create(question);
  const chunks: AsyncEventStream<ChatCompletionChunk> = await client.chat.completions.create({
    ...question,
    stream: true,
  });
  const either = await client.chat.completions.create({ ...question, stream });
  const syncWhole: ChatCompletion = sync.chat.completions.create(question, { timeout: 5 });
  const syncChunks: SyncEventStream<ChatCompletionChunk> = sync.chat.completions.create({ ...question, stream: true });
  const text: string | null | undefined = whole.choices[0]?.message.content;
  if ("head" in either) await either.close();
  // @ts-expect-error a misspelt parameter
  void client.chat.completions.create({ ...question, temprature: 1 });
  // @ts-expect-error a value that is not allowed
  void client.chat.completions.create({ ...question, service_tier: "fast" });
  // @ts-expect-error no messages
  void client.chat.completions.create({ model: "m" });
  const logs: LogsResult = await client.logs.query({ severity: "error", limit: 5, timeout: 3 });
  const traces: TracesResult = sync.traces.query({ trace: "all_traces", detail: false });
  const message: string | undefined = logs.samples[0]?.values[0]?.[1];
  const name: string | undefined = traces.spans[0]?.name;
  const kinds: ("word" | "punctuation" | "sentence")[] = [];
  const spoken = { model: "m", voice: "v", input: "Hello." };
  const speech: TTSResponse = await client.audio.speech.create(spoken);
  const syncSpeech: TTSResponse<"sync"> = sync.audio.speech.create({ ...spoken, extra_body: { sample_rate: 8000 } });
  const written: Promise<void> = speech.write_to_file("a.wav");
  const syncWritten: void = syncSpeech.write_to_file("a.wav");
  const { with_streaming_response: streaming } = client.audio.speech;
  const pieces: SpeechStream<"async"> = await streaming.create(spoken);
  for await (const piece of pieces) if (piece.byteLength > 0) break;
  const mixed: SpeechStream<"async", SpeechItem> = await streaming.create({
    ...spoken,
    extra_body: { enable_word_boundary: true },
  });
  for await (const item of mixed) if (!(item instanceof Uint8Array)) kinds.push(item.boundary_type);
  // @ts-expect-error with word boundaries not every item is bytes
  const notOnlyBytes: SpeechStream<"async"> = await streaming.create({ ...spoken, enable_word_boundary: true });
  // @ts-expect-error an unknown format
  void client.audio.speech.create({ ...spoken, response_format: "flac" });
  // @ts-expect-error no voice
  void client.audio.speech.create({ model: "m", input: "Hello." });
  const recording = { model: "m", file: "a.wav" };
  const heard: ASRResponse = await client.audio.transcriptions.create(recording);
  const timed: TranscriptionVerbose = sync.audio.transcriptions.create({
    ...recording,
    response_format: "verbose_json",
    timestamp_granularities: ["word"],
  });
  const events: AsyncEventStream<TranscriptionStreamEvent> = await client.audio.transcriptions.create({
    ...recording,
    stream: true,
  });
  for await (const event of events) {
    if (event.type === "transcript.segment") kinds.push(event.segment.text as "word");
    // @ts-expect-error only deltas have one
    else if (event.type === "transcript.word") void event.delta;
  }
  // @ts-expect-error no file
  void client.audio.transcriptions.create({ model: "m" });
  // @ts-expect-error an unknown granularity
  void client.audio.transcriptions.create({ ...recording, timestamp_granularities: ["letter"] });
  // @ts-expect-error an unknown severity
  void client.logs.query({ severity: "fatal" });
  // @ts-expect-error an unknown kind of traces
  void client.traces.query({});
  // @ts-expect-error a promise instead of the synchronous client's key
  const late: ConstructorParameters<typeof Sounding>[0] = { apiKey: async () => "sk-a" };
  return [
    chunks,
    syncWhole,
    syncChunks,
    text,
    message,
    name,
    late,
    kinds,
    written,
    syncWritten,
    notOnlyBytes,
    heard,
    timed,
  ];
}

test("parameters and results are typed in both clients", () => void compiled);
