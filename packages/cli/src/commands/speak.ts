/**
 * `sounding speak`: synthesizes text and plays the audio, or writes it to a file or to standard output while it is
 * generated.
 */
import { extname } from "node:path";
import type { SpeechParams, TTSWordBoundaryEvent } from "@sounding/client";
import { readPiped } from "../chat/question.ts";
import { CliError, UsageError } from "../cli-error.ts";
import { command, type CommandIo } from "../command.ts";
import { connectionOptions, numberOption, openClient } from "../connection.ts";
import { exitCodes } from "../exit-codes.ts";
import { printable, writeJson, writeLine } from "../output.ts";
import { showBytes } from "../progress.ts";
import { fileSink, outputSink, type AudioFormat, type AudioSink } from "../speak/audio-sink.ts";
import { chooseVoice } from "../speak/choose-voice.ts";
import { playerSink } from "../speak/player.ts";
import { speakTexts } from "../speak/speak.ts";
import { textPieces } from "../speak/text-pieces.ts";

const formats = ["wav", "mp3", "pcm", "opus"] as const;

const formatByEnding: Readonly<Record<string, AudioFormat>> = {
  ".mp3": "mp3",
  ".ogg": "opus",
  ".opus": "opus",
  ".pcm": "pcm",
  ".raw": "pcm",
  ".wav": "wav",
};

/** Destination of the audio: a path, `-` for standard output, or the loudspeakers. */
type Destination = { readonly kind: "file"; readonly path: string } | { readonly kind: "output" | "player" };

export const speakCommand = command({
  name: "speak",
  summary: "Synthesize speech to a file or play it",
  description: `Without -o, plays the speech with the first installed program of afplay, paplay, aplay, ffplay, play and mpg123. If standard
output is piped, the audio is written there instead. Piped text is spoken while it arrives, line by line if the input is slow.

With --words, prints each word, punctuation mark and sentence as it is synthesized: start, duration (seconds) and text.
With --json, prints one object with model, voice, format, output, bytes, sample_rate and, with --words, word_boundaries.`,
  arguments: [{ name: "text", description: "The text; several words need no quotes.", variadic: true }],
  options: {
    output: {
      type: "string",
      short: "o",
      value: "FILE",
      description: "Write the audio to this file; `-` is standard output.",
    },
    play: { type: "boolean", description: "Play the speech even if standard output is piped." },
    voice: { type: "string", short: "v", value: "NAME", description: "The voice. Default: the first one that fits." },
    model: { type: "string", short: "m", value: "ID", description: "The model. Default: the first one with a voice." },
    format: {
      type: "string",
      short: "f",
      value: "FORMAT",
      choices: formats,
      description: "Audio format. Default: by the file's extension, otherwise wav.",
    },
    rate: {
      type: "string",
      value: "HZ",
      choices: ["8000", "16000", "22050", "24000", "44100", "48000"],
      description: "Sample rate in Hz. Default: the voice's own.",
    },
    speed: { type: "string", value: "FACTOR", description: "Speaking rate, 0.25 to 4; 1 is the voice's own." },
    language: { type: "string", short: "l", value: "TAG", description: "Language of the text, such as fr-FR." },
    words: { type: "boolean", description: "Print when each word is spoken." },
    ...connectionOptions,
  },
  examples: [
    ["sounding speak 'A fathom is six feet.'", "Aloud."],
    ["sounding speak -o fathom.mp3 --voice rms 'A fathom is six feet.'", "Write a file."],
    ["sounding chat what is a fathom | sounding speak --play", "Read a model's response aloud."],
    [
      "sounding speak --words -o fathom.wav 'A fathom is six feet.'",
      "Write a file and print when each word is spoken.",
    ],
  ],
  async run({ values, positionals, json, io }) {
    const { signal } = io;
    const printing = values.words === true || json;
    const destination = destinationOf(values, io, printing);
    const format = formatOf(values.format, destination);
    const words = positionals.join(" ");
    if (words.trim() === "" && io.isTTY.stdin) throw new UsageError("no text: pass it as an argument, or pipe it in");
    const client = await openClient(values, io);
    const { model, voice } = await chooseVoice(client, values, signal);
    const sink = await openSink(destination, format, io);
    const boundaries: TTSWordBoundaryEvent[] = [];
    const { audioBytes, sampleRate } = await speakTexts(
      client,
      {
        texts: textsOf(words, printing, io),
        settings: {
          model,
          voice,
          speed: numberOption("speed", values.speed),
          sample_rate: numberOption("rate", values.rate) as SpeechParams["sample_rate"],
          speech_synthesis_language: values.language,
          enable_word_boundary: values.words === true ? true : undefined,
        },
        sink,
      },
      {
        signal,
        async onBoundary(boundary) {
          if (json) boundaries.push(boundary);
          else await writeLine(io.stdout, boundaryLine(boundary));
        },
      },
    );
    if (audioBytes === 0) throw new CliError("the text is empty", exitCodes.usage);
    const path = destination.kind === "file" ? destination.path : null;
    if (json) {
      await writeJson(io.stdout, {
        model,
        voice,
        format: destination.kind === "player" ? null : format,
        output: path,
        bytes: audioBytes,
        sample_rate: sampleRate ?? null,
        ...(values.words === true ? { word_boundaries: boundaries } : {}),
      });
    } else if (path !== null && io.progress) await writeLine(io.stderr, `${path}: ${showBytes(audioBytes)}`);
    return exitCodes.ok;
  },
});

/** If words are printed, they use standard output. */
function destinationOf(
  { output, play }: { output: string | undefined; play: boolean | undefined },
  io: CommandIo,
  printing: boolean,
): Destination {
  if (output !== undefined && play === true) throw new UsageError("--play and -o cannot be combined");
  if (output === "-" && printing) {
    throw new UsageError(
      "-o - and --words or --json both write to standard output; use -o FILE to write the audio elsewhere",
    );
  }
  if (output !== undefined && output !== "-") return { kind: "file", path: output };
  if (output === undefined && (play === true || io.isTTY.stdout || printing)) return { kind: "player" };
  if (io.isTTY.stdout) throw new UsageError("audio is not written to a terminal; use -o FILE to write a file");
  return { kind: "output" };
}

function formatOf(asked: string | undefined, destination: Destination): AudioFormat {
  if (asked !== undefined || destination.kind !== "file") return (asked ?? "wav") as AudioFormat;
  const ending = extname(destination.path).toLowerCase();
  const format = ending === "" ? "wav" : formatByEnding[ending];
  // A device such as /dev/dsp1.0 or a file of another name needs --format.
  if (format === undefined) {
    const endings = Object.keys(formatByEnding).join(", ");
    throw new UsageError(`the extension ${ending} is not one of ${endings}; set --format`);
  }
  return format;
}

async function openSink(destination: Destination, format: AudioFormat, io: CommandIo): Promise<AudioSink> {
  if (destination.kind === "file") return fileSink(destination.path, format);
  return destination.kind === "output" ? outputSink(io.stdout, format) : await playerSink(io.env);
}

/**
 * The words of the command line, otherwise the piped input; read to its end if times and positions refer to the whole
 * text.
 */
async function* textsOf(words: string, printing: boolean, io: CommandIo): AsyncGenerator<string, void, void> {
  if (words.trim() !== "") yield words;
  else if (printing) yield await readPiped(io);
  else {
    const stop = (): void => void io.stdin.destroy(new Error("interrupted"));
    io.signal.addEventListener("abort", stop, { once: true });
    try {
      yield* textPieces(io.stdin as AsyncIterable<Uint8Array>);
    } finally {
      io.signal.removeEventListener("abort", stop);
    }
  }
}

/** `   0.050   0.310  word         fathom` */
function boundaryLine({ audio_offset_ms, duration_ms, boundary_type, text }: TTSWordBoundaryEvent): string {
  const seconds = (ms: number): string => (ms / 1000).toFixed(3).padStart(8);
  const shown = printable(text).replaceAll(/\s+/g, " ");
  return `${seconds(audio_offset_ms)}${seconds(duration_ms)}  ${boundary_type.padEnd(11)}  ${shown}`;
}
