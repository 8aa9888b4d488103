/** Transcription with the bundled recognizer, which uses Debian's PocketSphinx packages. */
import assert from "node:assert/strict";
import { createReadStream, openAsBlob } from "node:fs";
import { BadRequestError, TimeoutError, type AsyncSounding, type TranscriptionParams } from "@sounding/client";
import type { InterfaceCase, InterfaceTools } from "./interface-case.ts";
import { dataOf } from "./raw-request.ts";
import { leadingSilenceSeconds, shortSentence, spokenSentences } from "./known-recording.ts";

const model = "pocketsphinx";
const both = ["segment", "word"] as const;

type Verbose = Awaited<ReturnType<typeof verbose>>;

function verbose({ client, facts }: InterfaceTools, more: Partial<TranscriptionParams> = {}) {
  const params = { model, file: facts.recordingPath, response_format: "verbose_json", stream: false } as const;
  return client.audio.transcriptions.create({ ...params, ...more } as typeof params);
}

function streamed(client: AsyncSounding, file: string, more: Partial<TranscriptionParams> = {}) {
  return client.audio.transcriptions.create({ model, file, ...more, stream: true });
}

/** Fails unless most of the spoken words are present. */
function assertUnderstood(text: string | null, sentences: readonly string[] = spokenSentences): void {
  const words = new Set((text ?? "").toLowerCase().split(/\W+/));
  const spoken = sentences.join(" ").toLowerCase().match(/\w+/g)!;
  const heard = spoken.filter((word) => words.has(word)).length;
  assert.ok(heard >= spoken.length / 2, `${heard} of ${spoken.length} words in ${JSON.stringify(text)}`);
}

function assertTimes({ start, end }: { start: number; end: number }, duration: number): void {
  assert.ok(start >= 0 && end >= start && end <= duration + 0.05, `${start} to ${end} of ${duration}`);
}

const isRefusal =
  (param: string) =>
  (error: unknown): boolean =>
    error instanceof BadRequestError && error.param?.startsWith(param) === true;

const cases: readonly InterfaceCase[] = [
  {
    name: "a recording is transcribed",
    shows: [
      "transcription-responses/plain",
      "transcription-requests/model",
      "transcription-requests/file",
      "transcription-requests/response_format",
    ],
    async run({ client, facts, mode }) {
      const { text, ...rest } = await client.audio.transcriptions.create({ model, file: facts.sentencePath });
      assertUnderstood(text, [shortSentence]);
      assert.deepEqual(rest, {});
      const again = { model, file: facts.silencePath, response_format: "json", stream: false } as const;
      assert.deepEqual(Object.keys(await client.audio.transcriptions.create(again)), ["text"]);
      const raw = { model, file: facts.rawSentencePath };
      assertUnderstood((await client.audio.transcriptions.create(raw)).text, [shortSentence]);
      if (mode === "asynchronous") {
        const open = createReadStream(facts.sentencePath);
        assert.equal((await client.audio.transcriptions.create({ model, file: open })).text, text);
      }
      const unnamed = { file: facts.recordingPath } as TranscriptionParams;
      await assert.rejects(async () => client.audio.transcriptions.create(unnamed), isRefusal("model"));
      const form = new FormData();
      form.set("model", model);
      const headers = { authorization: `Bearer ${facts.key}` };
      const response = await fetch(`${facts.url}/v1/audio/transcriptions`, { method: "POST", headers, body: form });
      const { error } = (await response.json()) as { error: { param: string } };
      assert.deepEqual([response.status, error.param], [400, "file"]);
      const unknown = { ...again, response_format: "srt" as "json" };
      await assert.rejects(async () => client.audio.transcriptions.create(unknown), isRefusal("response_format"));
    },
  },
  {
    name: "text is null if nothing was said",
    shows: ["transcription-responses/plain"],
    async run({ client, facts }) {
      assert.equal((await client.audio.transcriptions.create({ model, file: facts.silencePath })).text, null);
    },
  },
  {
    name: "a verbose transcription has segments and words with times",
    shows: [
      "transcription-responses/verbose",
      "transcription-responses/task",
      "transcription-responses/language",
      "transcription-responses/duration",
      "transcription-responses/text",
      "transcription-responses/segments",
      "transcription-responses/words",
      "segments/id",
      "segments/seek",
      "segments/start",
      "segments/end",
      "segments/text",
      "segments/avg_logprob",
      "segments/compression_ratio",
      "words/word",
      "words/start",
      "words/end",
      "words/confidence",
      "words/segment",
      "transcription-requests/timestamp_granularities",
    ],
    async run(tools) {
      const result: Verbose = await verbose(tools, { timestamp_granularities: [...both] });
      const { task, language, duration, text, segments, words } = result;
      assert.deepEqual([task, language], ["transcribe", "en-US"]);
      assert.ok(Math.abs(duration - tools.facts.recordingSeconds) < 0.05, `${duration}`);
      assertUnderstood(text);
      assert.equal(text, segments.map((segment) => segment.text).join(" "));
      for (const [index, segment] of segments.entries()) {
        assert.equal(segment.id, index);
        assertTimes(segment, duration);
        assert.equal(segment.seek, segment.start);
        const own = words!.filter((word) => word.segment === segment.id);
        assert.equal(own.map(({ word }) => word).join(" "), segment.text);
        const mean = own.reduce((sum, { confidence }) => sum + Math.log(confidence!), 0) / own.length;
        assert.ok(Math.abs(segment.avg_logprob - mean) < 0.02, `${segment.avg_logprob}, ${mean}`);
        const characters = own.reduce((sum, { word }) => sum + word.length, 0);
        assert.ok(Math.abs(segment.compression_ratio - characters / own.length) < 1.01, `${segment.compression_ratio}`);
      }
      for (const word of words!) {
        assertTimes(word, duration);
        assert.ok(word.confidence! >= 0 && word.confidence! <= 1);
      }
    },
  },
  {
    name: "timestamp_granularities selects segments and words, and requires verbose_json",
    shows: [
      "transcription-responses/segments",
      "transcription-responses/words",
      "transcription-requests/timestamp_granularities",
    ],
    async run(tools) {
      const file = tools.facts.sentencePath;
      assert.equal((await verbose(tools, { file, timestamp_granularities: ["segment"] })).words, undefined);
      assert.ok((await verbose(tools, { file, timestamp_granularities: ["word"] })).words!.length > 3);
      for (const response_format of ["json", undefined] as const) {
        await assert.rejects(
          async () => verbose(tools, { timestamp_granularities: ["word"], response_format } as object),
          isRefusal("timestamp_granularities"),
        );
      }
    },
  },
  {
    name: "speakers are returned if the model tells them apart, and absent otherwise",
    shows: ["transcription-responses/speakers", "segments/speaker_id"],
    async run(tools) {
      const { speakers, segments } = await verbose(tools, { model: "listener" });
      assert.deepEqual(speakers, ["Guest-1", "Guest-2"]);
      assert.deepEqual(
        segments.map(({ speaker_id }) => speaker_id),
        ["Guest-1", "Guest-2", "Guest-1"],
      );
      const without = await verbose(tools, { file: tools.facts.sentencePath });
      assert.deepEqual([without.speakers, without.segments[0]!.speaker_id], [undefined, undefined]);
    },
  },
  {
    name: "a stream sends deltas and ends with the complete text",
    shows: [
      "transcription-requests/stream",
      "transcription-events/no-granularities",
      "transcription-events/transcript.text.delta",
      "transcription-events/transcript.text.done",
    ],
    async run({ client, facts }) {
      const types = new Set<string>();
      let text = "";
      let done: string | undefined;
      for await (const event of await streamed(client, facts.recordingPath)) {
        assert.equal(done, undefined, "an event after the last");
        types.add(event.type);
        if (event.type === "transcript.text.delta") {
          text += event.delta;
          assert.equal((event as { text?: string }).text, event.delta);
          assert.ok(event.logprobs === null || Array.isArray(event.logprobs));
        }
        if (event.type === "transcript.text.done") done = event.text;
      }
      assert.deepEqual([...types], ["transcript.text.delta", "transcript.text.done"]);
      assert.equal(text, done);
      assertUnderstood(text);
    },
  },
  {
    name: "a stream sends words and segments if they were requested",
    shows: ["transcription-events/transcript.word", "transcription-events/transcript.segment"],
    async run({ client, facts }) {
      for (const timestamp_granularities of [["word"], ["segment"], [...both]] as ("segment" | "word")[][]) {
        const isShort = timestamp_granularities.length === 1;
        const file = isShort ? facts.sentencePath : facts.recordingPath;
        const seconds = isShort ? facts.sentenceSeconds : facts.recordingSeconds;
        const words: string[] = [];
        const segments: string[] = [];
        let text = "";
        const more = { response_format: "verbose_json", timestamp_granularities } as const;
        for await (const event of await streamed(client, file, more)) {
          if (event.type === "transcript.word") {
            const { word, segment, confidence } = event;
            assertTimes(event, seconds);
            // A word sent before its segment ended may turn out not to be confident enough.
            assert.ok(confidence === undefined || (confidence >= 0 && confidence <= 1), `${confidence}`);
            assert.ok(Number.isInteger(segment));
            words.push(word);
          }
          if (event.type === "transcript.segment") {
            assertTimes(event.segment, seconds);
            segments.push(event.segment.text);
          }
          if (event.type === "transcript.text.done") ({ text } = event);
        }
        assert.equal(words.join(" "), timestamp_granularities.includes("word") ? text : "");
        assert.equal(segments.join(" "), timestamp_granularities.includes("segment") ? text : "");
      }
    },
  },
  {
    name: "chunking_strategy is auto or server_vad, within its limits",
    shows: [
      "chunking/type",
      "chunking/prefix_padding_ms",
      "chunking/silence_duration_ms",
      "chunking/threshold",
      "transcription-requests/chunking_strategy",
    ],
    async run(tools) {
      const by = (chunking_strategy: unknown): ReturnType<typeof verbose> =>
        verbose(tools, { chunking_strategy } as Partial<TranscriptionParams>);
      const vad = { type: "server_vad", prefix_padding_ms: 300, silence_duration_ms: 500 };
      const [automatic, short, long] = [
        await by("auto"),
        await by(vad),
        await by({ ...vad, silence_duration_ms: 5000 }),
      ];
      for (const { text } of [automatic, short, long]) assertUnderstood(text);
      // The pause between the sentences is longer than half a second and shorter than five.
      assert.ok(short.segments.length > long.segments.length);
      assert.deepEqual(await by({ ...vad, threshold: 0.9 }), short);
      for (const wrong of [
        "manual",
        { type: "client_vad" },
        { ...vad, prefix_padding_ms: 5001 },
        { ...vad, prefix_padding_ms: -1 },
        { ...vad, silence_duration_ms: 5001 },
        { ...vad, threshold: 1.1 },
      ]) {
        await assert.rejects(async () => by(wrong), isRefusal("chunking_strategy"), JSON.stringify(wrong));
      }
    },
  },
  {
    name: "with a padding of 4000 ms, the first word after a silence is not cut off",
    shows: ["chunking/leading-silence"],
    async run(tools) {
      const chunking_strategy = { type: "server_vad", prefix_padding_ms: 4000, silence_duration_ms: 5000 } as const;
      const { words } = await verbose(tools, { chunking_strategy, timestamp_granularities: ["word"] });
      // A word begins where the silence ends: the first one was not cut off.
      const starts = words!.map(({ start }) => start);
      assert.ok(
        starts.some((start) => Math.abs(start - leadingSilenceSeconds) < 0.4),
        starts.join(),
      );
    },
  },
  {
    name: "the default language is en-US",
    shows: ["transcription-requests/language"],
    async run(tools) {
      const file = tools.facts.silencePath;
      assert.equal((await verbose(tools, { file })).language, "en-US");
      assert.equal((await verbose(tools, { file, language: "en-US" })).language, "en-US");
      await assert.rejects(async () => verbose(tools, { language: "not a language" }), isRefusal("language"));
    },
  },
  {
    name: "fields of extra_body override the others, and extra_headers are sent",
    shows: ["transcription-requests/extra_body", "clients/call-headers"],
    async run(tools) {
      const file = tools.facts.silencePath;
      const overridden = { file, language: "not a language", extra_body: { language: "en-US" } };
      assert.equal((await verbose(tools, overridden)).language, "en-US");
      const accounted = (account: string) => verbose(tools, { file, extra_headers: { "x-account": account } });
      assert.equal((await accounted(tools.facts.organizationName)).task, "transcribe");
      await assert.rejects(async () => accounted("somebody else"), { status: 403 });
    },
  },
  {
    name: "lists and objects are read from JSON and from repeated fields, and a stream ends with [DONE]",
    shows: ["transcription-requests/form-encodings", "transcription-events/end-of-stream"],
    withoutClient: true,
    async run({ facts }) {
      const send = async (fields: readonly (readonly [string, string])[]): Promise<Response> => {
        const form = new FormData();
        for (const [name, value] of [["model", model], ["timeout", "None"], ...fields] as const)
          form.append(name, value);
        form.set("file", await openAsBlob(facts.silencePath), "silence.wav");
        const headers = { authorization: `Bearer ${facts.key}` };
        return fetch(`${facts.url}/v1/audio/transcriptions`, { method: "POST", headers, body: form });
      };
      const verboseJson = ["response_format", "verbose_json"] as const;
      const encodings = [
        [
          ["timestamp_granularities", '["segment","word"]'],
          ["chunking_strategy", '{"type":"server_vad"}'],
        ],
        [
          ["timestamp_granularities[]", "segment"],
          ["timestamp_granularities[]", "word"],
          ["chunking_strategy[type]", "server_vad"],
        ],
      ] as const;
      for (const fields of encodings) {
        const response = await send([verboseJson, ["stream", "False"], ...fields]);
        const { text, segments, words } = (await response.json()) as Record<string, unknown>;
        assert.deepEqual([text, segments, words], ["", [], []]);
      }
      const events = await dataOf(await send([["stream", "True"]]));
      assert.equal(events.at(-1), "[DONE]");
      assert.equal((JSON.parse(events.at(-2)!) as { type: string }).type, "transcript.text.done");
    },
  },
  {
    name: "timeout limits a transcription; the default is sixty seconds, and more for longer recordings",
    shows: ["transcription-requests/timeout"],
    async run(tools) {
      await assert.rejects(async () => verbose(tools, { timeout: 0.01 }), TimeoutError);
      const document = (await (await fetch(`${tools.facts.url}/openapi.json`)).json()) as object;
      assert.match(JSON.stringify(document), /Maximum time for the response[^"]*Default 60, plus/);
    },
  },
];

export const transcriptionCases = cases.map((one): InterfaceCase => ({ ...one, needsRecognizer: true }));
