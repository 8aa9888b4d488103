/** Recordings with known content: silence, a sentence, a pause, another sentence, silence; and one of a short sentence. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { wavHeader } from "../../packages/server/src/audio/wav-encoder.ts";

/** The recognizer takes longer the more words a sound may be: these are clear. */
export const spokenSentences = ["We will go in the morning", "We will go to the station"] as const;

/** The recognizer takes a third of the time for it. */
export const [shortSentence] = spokenSentences;

export const leadingSilenceSeconds = 1.5;

const sampleRate = 16_000;
const silence = (seconds: number): Buffer => Buffer.alloc(2 * Math.round(seconds * sampleRate));

export interface KnownRecording {
  readonly recordingPath: string;
  readonly recordingSeconds: number;
  /** The short sentence. */
  readonly sentencePath: string;
  /** The same samples without a header. */
  readonly rawSentencePath: string;
  readonly sentenceSeconds: number;
  /** A recording without speech. */
  readonly silencePath: string;
}

/** @param speak returns 16-bit samples at 16 000 Hz */
export async function makeKnownRecording(
  directory: string,
  speak: (text: string) => Promise<Buffer>,
): Promise<KnownRecording> {
  const [first, second] = [await speak(`${spokenSentences[0]}.`), await speak(`${spokenSentences[1]}.`)];
  const samples = Buffer.concat([silence(leadingSilenceSeconds), first, silence(1.2), second, silence(0.5)]);
  const sentence = Buffer.concat([silence(0.5), await speak(`${shortSentence}.`), silence(0.5)]);
  const seconds = ({ length }: Buffer): number => length / 2 / sampleRate;
  const toWav = (data: Buffer): Buffer => Buffer.concat([wavHeader(sampleRate, data.length), data]);
  const paths = {
    recordingPath: join(directory, "recording.wav"),
    sentencePath: join(directory, "sentence.wav"),
    rawSentencePath: join(directory, "sentence.pcm"),
    silencePath: join(directory, "silence.wav"),
  };
  await writeFile(paths.recordingPath, toWav(samples));
  await writeFile(paths.sentencePath, toWav(sentence));
  await writeFile(paths.rawSentencePath, sentence);
  await writeFile(paths.silencePath, toWav(silence(2)));
  return { ...paths, recordingSeconds: seconds(samples), sentenceSeconds: seconds(sentence) };
}
