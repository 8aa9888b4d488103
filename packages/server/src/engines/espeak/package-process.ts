/**
 * Synthesizes phrases with the npm package of espeak-ng (GPL-3.0), one at a time, in a separate process: the server
 * imports nothing of it and communicates over standard input and output. Any failure ends the process.
 */
import { createInterface } from "node:readline";
import createEspeak, { type EspeakEvent } from "@echogarden/espeak-ng-emscripten";
import { amplitude, type EspeakPhrase, type EspeakReady, type EspeakSpoken, type EspeakWord } from "./protocol.ts";

// The package would print to standard output, which belongs to the protocol.
const espeak = await createEspeak({ print: () => {}, printErr: (text) => process.stderr.write(`${text}\n`) });
const worker = new espeak.eSpeakNGWorker();
const sampleRate = worker.get_samplerate();

const ready: EspeakReady = {
  type: "ready",
  voices: worker.list_voices().map(({ identifier, name, languages }) => ({
    identifier,
    name,
    language: languages[0]!.name,
  })),
};
process.stdout.write(`${JSON.stringify(ready)}\n`);

let voice: string | undefined;

function speak(phrase: EspeakPhrase): void {
  if (voice !== phrase.voice && worker.set_voice(phrase.voice) !== 0) throw new Error(`no voice ${phrase.voice}`);
  voice = phrase.voice;
  worker.set_rate(phrase.wordsPerMinute);
  worker.set_volume(amplitude);
  const pieces: Uint8Array[] = [];
  const events: EspeakEvent[] = [];
  worker.synthesize(phrase.text, (samples, found) => {
    // Copied, since the next piece is written over it.
    if (samples !== null) pieces.push(new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength).slice());
    if (found !== null) events.push(...found);
    return false;
  });
  const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0);
  const spoken: EspeakSpoken = { type: "spoken", sampleRate, bytes, words: wordsOf(events) };
  process.stdout.write(`${JSON.stringify(spoken)}\n`);
  for (const piece of pieces) process.stdout.write(piece);
}

/** A word ends with its last sound: where a pause, another word or the end of the clause begins. */
function wordsOf(events: readonly EspeakEvent[]): EspeakWord[] {
  const timed = events.filter(({ type }) => type === "word" || type === "phoneme" || type === "end");
  return timed.flatMap((event, index) => {
    if (event.type !== "word") return [];
    const rest = timed.slice(index + 1);
    const end = rest.find(({ type, id }, after) => type !== "phoneme" || (id === "" && after > 0));
    const startMs = event.audio_position;
    return [{ position: event.text_position - 1, startMs, endMs: end?.audio_position ?? startMs }];
  });
}

for await (const line of createInterface({ input: process.stdin })) speak(JSON.parse(line) as EspeakPhrase);
