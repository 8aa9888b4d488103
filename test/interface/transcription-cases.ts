/** Transcription: sections 1, 2.4, 4.6, 6.2 and 8 of the interface, by the engine that comes with the server where PocketSphinx is. */
import assert from "node:assert/strict";
import { createReadStream } from "node:fs";
import { BadRequestError, TimeoutError, type AsyncSounding, type TranscriptionParams } from "@sounding/client";
import type { InterfaceCase, InterfaceTools } from "./interface-case.ts";
import { leadingSilenceSeconds, spokenSentences } from "./known-recording.ts";

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

/** Fails unless most of the words that were spoken are there. */
function assertUnderstood(text: string | null): void {
  const words = new Set((text ?? "").toLowerCase().split(/\W+/));
  const spoken = spokenSentences.join(" ").toLowerCase().match(/\w+/g)!;
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
    name: "a recording becomes text",
    shows: ["1/10", "1/11", "2.4/1", "4.6/1", "4.6/model", "4.6/file", "4.6/response_format"],
    async run({ client, facts, mode }) {
      const { text, ...rest } = await client.audio.transcriptions.create({ model, file: facts.recordingPath });
      assertUnderstood(text);
      assert.deepEqual(rest, {});
      const again = { model, file: facts.silencePath, response_format: "json", stream: false } as const;
      assert.deepEqual(Object.keys(await client.audio.transcriptions.create(again)), ["text"]);
      const raw = { model, file: facts.rawRecordingPath };
      assertUnderstood((await client.audio.transcriptions.create(raw)).text);
      if (mode === "asynchronous") {
        const open = createReadStream(facts.recordingPath);
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
    name: "the text is null where nothing was said",
    shows: ["2.4/1"],
    async run({ client, facts }) {
      assert.equal((await client.audio.transcriptions.create({ model, file: facts.silencePath })).text, null);
    },
  },
  {
    name: "a transcription with times tells of its segments and words",
    shows: [
      "1/13",
      "2.4/verbose.task",
      "2.4/verbose.language",
      "2.4/verbose.duration",
      "2.4/verbose.text",
      "2.4/verbose.segments",
      "2.4/verbose.words",
      "2.4/Segment.id",
      "2.4/Segment.seek",
      "2.4/Segment.start",
      "2.4/Segment.end",
      "2.4/Segment.text",
      "2.4/Segment.avg_logprob",
      "2.4/Segment.compression_ratio",
      "2.4/Word.word",
      "2.4/Word.start",
      "2.4/Word.end",
      "2.4/Word.confidence",
      "2.4/Word.segment",
      "4.6/2",
      "4.6/timestamp_granularities",
      "8/Word-confidence",
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
    name: "timestamp_granularities choose what is told, and need verbose_json",
    shows: ["2.4/verbose.segments", "2.4/verbose.words", "4.6/timestamp_granularities", "7/2"],
    async run(tools) {
      assert.equal((await verbose(tools, { timestamp_granularities: ["segment"] })).words, undefined);
      assert.ok((await verbose(tools, { timestamp_granularities: ["word"] })).words!.length > 3);
      for (const response_format of ["json", undefined] as const) {
        await assert.rejects(
          async () => verbose(tools, { timestamp_granularities: ["word"], response_format } as object),
          isRefusal("timestamp_granularities"),
        );
      }
    },
  },
  {
    name: "speakers are told by a model that can tell them, and left out by one that cannot",
    shows: ["2.4/verbose.speakers", "2.4/Segment.speaker_id"],
    async run(tools) {
      const { speakers, segments } = await verbose(tools, { model: "listener" });
      assert.deepEqual(speakers, ["Guest-1", "Guest-2"]);
      assert.deepEqual(
        segments.map(({ speaker_id }) => speaker_id),
        ["Guest-1", "Guest-2", "Guest-1"],
      );
      const without = await verbose(tools);
      assert.deepEqual([without.speakers, without.segments[0]!.speaker_id], [undefined, undefined]);
    },
  },
  {
    name: "a stream tells the text while it is understood, and ends with the whole",
    shows: [
      "1/12",
      "4.6/3",
      "4.6/stream",
      "6/2",
      "6.2/1",
      "6.2/TranscriptionTextDeltaEvent",
      "6.2/TranscriptionTextDoneEvent",
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
    name: "a stream tells words and segments where they are asked for",
    shows: ["6.2/TranscriptionWordEvent", "6.2/TranscriptionSegmentEvent"],
    async run({ client, facts }) {
      for (const timestamp_granularities of [["word"], ["segment"], [...both]] as ("segment" | "word")[][]) {
        const words: string[] = [];
        const segments: string[] = [];
        let text = "";
        const more = { response_format: "verbose_json", timestamp_granularities } as const;
        for await (const event of await streamed(client, facts.recordingPath, more)) {
          if (event.type === "transcript.word") {
            const { word, segment, confidence } = event;
            assertTimes(event, facts.recordingSeconds);
            // A word that was told before its segment was over may turn out to be none that the decoder is sure of.
            assert.ok(confidence === undefined || (confidence >= 0 && confidence <= 1), `${confidence}`);
            assert.ok(Number.isInteger(segment));
            words.push(word);
          }
          if (event.type === "transcript.segment") {
            assertTimes(event.segment, facts.recordingSeconds);
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
    name: "chunking is automatic or by voice activity, within its limits",
    shows: [
      "2.4/ChunkingStrategy.type",
      "2.4/ChunkingStrategy.prefix_padding_ms",
      "2.4/ChunkingStrategy.silence_duration_ms",
      "2.4/ChunkingStrategy.threshold",
      "4.6/chunking_strategy",
      "8/ChunkingStrategy-prefix_padding_ms",
      "8/ChunkingStrategy-threshold",
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
    name: "speech after silence is whole with a padding of 4000 ms",
    shows: ["2.4/2"],
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
    name: "the language is en-US where none is given",
    shows: ["4.6/language"],
    async run(tools) {
      const file = tools.facts.silencePath;
      assert.equal((await verbose(tools, { file })).language, "en-US");
      assert.equal((await verbose(tools, { file, language: "en-US" })).language, "en-US");
      await assert.rejects(async () => verbose(tools, { language: "not a language" }), isRefusal("language"));
    },
  },
  {
    name: "fields of extra_body override those beside them, and headers go along",
    shows: ["4.6/extra_body", "4.6/extra_headers"],
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
    name: "a call has a time limit, sixty seconds where none is given",
    shows: ["4.6/timeout", "8/ASR-timeout-default"],
    async run(tools) {
      await assert.rejects(async () => verbose(tools, { timeout: 0.01 }), TimeoutError);
      const document = (await (await fetch(`${tools.facts.url}/openapi.json`)).json()) as object;
      assert.match(JSON.stringify(document), /Maximum time for the response[^"]*Default 60\./);
    },
  },
];

export const transcriptionCases = cases.map((one): InterfaceCase => ({ ...one, needsRecogniser: true }));
