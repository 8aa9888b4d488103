/** Cases that both clients must pass against the real server and its own engines; test/client-modes.test.ts has the outcomes. */
import { errorOf, type ModeCases } from "../../packages/client/test/mode-case.ts";

const chat = { model: "sounding-trial", messages: [{ role: "user" as const, content: "Hello!" }], seed: 7 };
const input = "Dr. Lee paid $3.50, twice.";
const spoken = { model: "flite", voice: "slt", input, response_format: "pcm" as const };

function joined(pieces: readonly Uint8Array[]): Buffer {
  return Buffer.concat(pieces);
}

/** What the server must refuse. */
async function refusalOf(work: () => unknown): Promise<unknown> {
  const { name, status, code, param } = (await errorOf(work)) as Record<string, unknown>;
  return { name, status, code, param };
}

export const modeCases = {
  "lists and finds models": async ({ client }) => {
    const { data } = await client.models.list();
    const flite = await client.models.retrieve("flite");
    return [data.map(({ id }) => id).includes("sounding-trial"), flite.id];
  },
  "refuses an unknown key": ({ make }) => refusalOf(() => make({ apiKey: "sk-unknown" }).models.list()),
  "answers whole and in pieces alike": async ({ client }) => {
    const whole = await client.chat.completions.create(chat);
    let text = "";
    for await (const { choices } of await client.chat.completions.create({ ...chat, stream: true })) {
      text += choices[0]?.delta.content ?? "";
    }
    return [whole.choices[0]?.message.content === text, text.length > 0, whole.object];
  },
  "refuses an unknown model": ({ client }) =>
    refusalOf(() => client.chat.completions.create({ ...chat, model: "no-such-model" })),
  "speaks whole and in pieces alike": async ({ client }) => {
    const { content } = await client.audio.speech.create(spoken);
    const pieces: Uint8Array[] = [];
    for await (const piece of await client.audio.speech.with_streaming_response.create(spoken)) pieces.push(piece);
    return [content.length > 16_000, joined(pieces).equals(content)];
  },
  "speaks in every format": async ({ client }) => {
    const beginnings: string[] = [];
    for (const response_format of ["wav", "mp3", "opus"] as const) {
      const { content } = await client.audio.speech.create({ ...spoken, response_format });
      beginnings.push(new TextDecoder("latin1").decode(content.subarray(0, 4)));
    }
    return beginnings.map((text) => (/^(RIFF|OggS)$/.test(text) ? text : /^(ID3|ÿ[óûú])/.test(text)));
  },
  "tells the words of whole speech": async ({ client }) => {
    const { content, word_boundaries = [] } = await client.audio.speech.create({
      ...spoken,
      extra_body: { enable_word_boundary: true, boundary_types: ["word"] },
    });
    const places = word_boundaries.map((each) => input.slice(each.text_offset, each.text_offset + each.word_length));
    const endMs = Math.max(...word_boundaries.map((each) => each.audio_offset_ms + each.duration_ms));
    return [places, word_boundaries.map(({ text }) => text), endMs / 1000 <= content.length / 2 / 16_000];
  },
  "tells the words while it speaks": async ({ client }) => {
    const pieces: Uint8Array[] = [];
    const kinds = new Set<string>();
    const stream = await client.audio.speech.with_streaming_response.create({ ...spoken, enable_word_boundary: true });
    for await (const item of stream) {
      if (item instanceof Uint8Array) pieces.push(item);
      else kinds.add(item.boundary_type);
    }
    const { content } = await client.audio.speech.create(spoken);
    return [[...kinds].sort(), joined(pieces).equals(content)];
  },
  "refuses speech that breaks a rule": async ({ client }) => {
    const { speech } = client.audio;
    const wrong = [
      { ...spoken, speed: 5 },
      { ...spoken, response_format: "flac" as "wav" },
      { ...spoken, extra_body: { enable_word_boundary: true, boundary_types: [] } },
      { ...spoken, voice: "nobody" },
      { ...spoken, model: "no-such-model" },
    ];
    const seen: unknown[] = [];
    for (const params of wrong) {
      seen.push(await refusalOf(() => speech.create(params)));
      seen.push(await refusalOf(() => speech.with_streaming_response.create(params)));
    }
    return seen;
  },
  "lists voices by language": async ({ client }) => {
    const { data } = await client.audio.voices.list({ model: "flite", language: "en" });
    return data.map(({ name }) => name).sort();
  },
  "transcribes what it speaks": async ({ client }) => {
    const [model] = (await client.models.list({ capability: "transcription" })).data;
    if (model === undefined) return "no model transcribes";
    const speech = await client.audio.speech.create({ model: "flite", voice: "rms", input: "A fathom is six feet." });
    const recording = { model: model.id, file: speech.content };
    const whole = await client.audio.transcriptions.create(recording);
    const verbose = await client.audio.transcriptions.create({
      ...recording,
      response_format: "verbose_json",
      timestamp_granularities: ["word"],
    });
    let joined = "";
    let done = "";
    for await (const event of await client.audio.transcriptions.create({ ...recording, stream: true })) {
      if (event.type === "transcript.text.delta") joined += event.delta;
      if (event.type === "transcript.text.done") done = event.text;
    }
    const endsIn = verbose.words?.every(({ start, end }) => start <= end && end <= verbose.duration);
    return [/six feet/.test(whole.text ?? ""), verbose.task, endsIn, joined === done, /six feet/.test(done)];
  },
  "leaves streams early, and calls again": async ({ client }) => {
    const long = { ...spoken, input: "The tide comes in and goes out again. ".repeat(400) };
    for await (const piece of await client.audio.speech.with_streaming_response.create(long))
      if (piece.length > 0) break;
    for await (const { choices } of await client.chat.completions.create({ ...chat, stream: true })) {
      if (choices.length > 0) break;
    }
    const late = (await errorOf(() => client.audio.speech.create(long, { timeout: 0.05 }))) as { kind: string };
    return [late.kind, (await client.models.retrieve("flite")).id];
  },
  "administers budgets": async ({ facts, make, mode }) => {
    const { budgets } = make({ apiKey: (facts as { readonly operatorKey: string }).operatorKey });
    const { id, name, amount, period, used, remaining } = await budgets.create({
      name: "trial budget",
      amount: 1.5,
      period: "day",
      tag: undefined,
    });
    const { data } = await budgets.list({ search: "trial", limit: 1, order: undefined });
    const changed = await budgets.update(id, { amount: 2, thresholds: [80] });
    const shown = await budgets.retrieve(id);
    const deleted = await budgets.delete(id);
    return [
      [name, amount, period, used, remaining],
      [data.map((each) => each.name), changed.amount, changed.thresholds],
      [shown.amount === 2, deleted.id === id],
      await refusalOf(() => budgets.retrieve(`${id}/${mode}`)),
    ];
  },
  "reads telemetry": async ({ client }) => {
    const logs = await client.logs.query({ time_window: "1h" });
    const metrics = await client.metrics.query({ metric: "token_consumption", time_window: "1h" });
    const traces = await client.traces.query({ trace: "all_traces", limit: 5 });
    return [
      [logs.status, logs.result_type, logs["data"].result.length === logs.samples.length],
      [metrics.status, metrics.result_type, metrics.query !== ""],
      [traces.status, traces["traces"].length === traces.traces.length, Array.isArray(traces.spans)],
    ];
  },
} satisfies ModeCases;
