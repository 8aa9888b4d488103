/** Cases that both clients must pass with the server's transcription; test/transcription-modes.test.ts has the outcomes. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { errorOf, type CaseTools, type ModeCases } from "../../packages/client/test/mode-case.ts";

/** Two seconds of a tone as raw samples, 8 000 per second. */
const samples = new Uint8Array(Int16Array.from({ length: 16_000 }, (_, index) => 8_000 * Math.sin(index / 3)).buffer);
const file = { content: samples, name: "tone.pcm", type: "audio/L16; rate=8000" };
const transcribed = { model: "scripted", file };

async function eventsOf(tools: CaseTools, params: object): Promise<[types: string[], text: string, done: string]> {
  const types: string[] = [];
  let text = "";
  let done = "";
  for await (const event of await tools.client.audio.transcriptions.create({
    ...transcribed,
    ...params,
    stream: true,
  })) {
    types.push(event.type.replace("transcript.", ""));
    if (event.type === "transcript.text.delta") text += event.delta;
    if (event.type === "transcript.text.done") done = event.text;
  }
  return [types, text, done];
}

async function refusalOf(work: () => unknown): Promise<unknown> {
  const { name, status, param } = (await errorOf(work)) as Record<string, unknown>;
  return { name, status, param };
}

export const modeCases = {
  "gives the text alone": async ({ client }) => client.audio.transcriptions.create(transcribed),
  "gives times": async ({ client }) => {
    const answer = await client.audio.transcriptions.create({
      ...transcribed,
      response_format: "verbose_json",
      timestamp_granularities: ["word", "segment"],
      chunking_strategy: { type: "server_vad", prefix_padding_ms: 100, silence_duration_ms: 200 },
      language: "en",
    });
    const { task, language, duration, segments, words } = answer;
    return [task, language, duration, segments.map(({ text }) => text), words?.map(({ word, start }) => [word, start])];
  },
  "reads a file by its path": async ({ client }) => {
    const directory = mkdtempSync(join(tmpdir(), "sounding-cases-"));
    try {
      const path = join(directory, "tone.pcm");
      writeFileSync(path, samples);
      return (await client.audio.transcriptions.create({ model: "scripted", file: path, timeout: 20 })).text;
    } finally {
      rmSync(directory, { recursive: true });
    }
  },
  "streams text alone": (tools) => eventsOf(tools, {}),
  "streams words and segments": (tools) =>
    eventsOf(tools, { response_format: "verbose_json", timestamp_granularities: ["segment", "word"] }),
  "lets extra_body override": async ({ client }) => {
    const answer = await client.audio.transcriptions.create({
      ...transcribed,
      extra_body: { response_format: "verbose_json", timestamp_granularities: ["segment"] },
    });
    return Object.keys(answer).sort();
  },
  "refuses what breaks a rule": async ({ client }) => {
    const wrong = [
      { ...transcribed, timestamp_granularities: ["word" as const] },
      { ...transcribed, response_format: "srt" as "json" },
      { ...transcribed, chunking_strategy: { type: "server_vad" as const, silence_duration_ms: 5001 } },
      { ...transcribed, file: { content: new Uint8Array(0), name: "empty.wav" } },
      { ...transcribed, model: "no-such-model" },
    ];
    const seen: unknown[] = [];
    for (const params of wrong) {
      seen.push(await refusalOf(() => client.audio.transcriptions.create(params)));
      seen.push(await refusalOf(() => client.audio.transcriptions.create({ ...params, stream: true })));
    }
    return seen;
  },
  "finds the models that transcribe": async ({ client }) => {
    const { data } = await client.models.list({ capability: "transcription" });
    const speech = await client.models.list({ capability: "speech" });
    return [data.map(({ id }) => id), speech.data.length];
  },
} satisfies ModeCases;
