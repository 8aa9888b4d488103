/** `sounding voices`: lists the voices of a server, and plays a sample of one. */
import type { VoiceList } from "@sounding/client";
import { CliError } from "../cli-error.ts";
import { command } from "../command.ts";
import { connectionOptions, openClient } from "../connection.ts";
import { exitCodes } from "../exit-codes.ts";
import { writeJson } from "../output.ts";
import { playerSink } from "../speak/player.ts";
import { sampleText } from "../speak/sample-texts.ts";
import { speakTexts } from "../speak/speak.ts";
import { writeTable } from "../terminal/table.ts";

type Voice = VoiceList["data"][number];

export const voicesCommand = command({
  name: "voices",
  summary: "List voices with their languages, and play a sample",
  description: `With --play, plays a sentence in the voice's language, or the text of --text, with the same programs as \`sounding speak\`.

With --json: a list of objects with name, model, engine, languages, gender and description; with --play, the voice that was played.`,
  options: {
    language: {
      type: "string",
      short: "l",
      value: "TAG",
      description: "Only voices of this language, such as fr or fr-FR.",
    },
    model: { type: "string", short: "m", value: "ID", description: "Only voices of this model." },
    play: { type: "string", short: "p", value: "NAME", description: "Play a sample of this voice." },
    text: { type: "string", value: "TEXT", description: "The text of the sample." },
    ...connectionOptions,
  },
  examples: [
    ["sounding voices --language fr", "French voices."],
    ["sounding voices --play slt", "A sample."],
    [
      "sounding voices --model kokoro-en --play af_bella --text 'Good morning.'",
      "A voice of one model, with your text.",
    ],
  ],
  async run({ values, json, io }) {
    const client = await openClient(values, io);
    const { language, model } = values;
    const { data } = await client.audio.voices.list({ language, model }, { signal: io.signal });
    if (values.play !== undefined) {
      const voice = findVoice(data, values.play);
      // Before the synthesis, since it fails where nothing can play.
      const sink = await playerSink(io.env);
      const [own] = voice.languages;
      const spoken = language ?? (own === "*" ? undefined : own);
      const settings = { model: voice.model, voice: voice.name, speech_synthesis_language: language };
      const texts = oneText(values.text ?? sampleText(spoken));
      await speakTexts(client, { texts, settings, sink }, { signal: io.signal, onBoundary: async () => {} });
      if (json) await writeJson(io.stdout, voice);
      return exitCodes.ok;
    }
    if (json) await writeJson(io.stdout, data);
    else {
      const columns = ["voice", "model", "languages", "gender", { title: "description", optional: 1 }] as const;
      await writeTable(io, columns, data.map(rowOf));
    }
    return exitCodes.ok;
  },
});

function rowOf({ name, model, languages, gender, description }: Voice): string[] {
  return [name, model, languages.join(", ").replace("*", "any"), gender ?? "-", description ?? ""];
}

/** Several models may have a voice of the same name; the first is as good as any, and --model selects. */
function findVoice(voices: readonly Voice[], name: string): Voice {
  const found = voices.find((voice) => voice.name.toLowerCase() === name.toLowerCase());
  if (found !== undefined) return found;
  throw new CliError(
    `the voice ${JSON.stringify(name)} is not one of those that \`sounding voices\` lists with the same options`,
    exitCodes.notFound,
  );
}

async function* oneText(text: string): AsyncGenerator<string, void, void> {
  yield text;
}
