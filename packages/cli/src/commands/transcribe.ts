/** `sounding transcribe`: transcribes a recording to text, JSON or subtitles. */
import { ApiStatusError, type AsyncSounding, type TranscriptionParams, type TranscriptionWord } from "@sounding/client";
import { CliError, UsageError } from "../cli-error.ts";
import { command, type CommandIo } from "../command.ts";
import { connectionOptions, numberOption, openClient } from "../connection.ts";
import { exitCodes } from "../exit-codes.ts";
import { printable, write, writeJson, writeLine } from "../output.ts";
import { cuesOf, renderSrt, renderVtt, wordCues } from "../transcribe/cues.ts";
import { createProgressBar } from "../transcribe/progress-bar.ts";
import {
  fileRecording,
  keptRecording,
  microphoneRecording,
  pipedRecording,
  type RecordingSource,
} from "../transcribe/recording-source.ts";
import { readTranscript, type Transcript, type TranscriptListener } from "../transcribe/transcribe.ts";

/** Long recordings take long, and the server's default is a minute; this is the server's maximum. */
const timeoutSeconds = 86_400;

export const transcribeCommand = command({
  name: "transcribe",
  summary: "Transcribe a recording",
  description: `The recording is a file (WAV, MP3, FLAC, Ogg, WebM, MP4, M4A, or raw samples: .pcm, .raw), standard input, or with --mic the
microphone until Ctrl-C or --duration. Raw samples on standard input need --type, such as 'audio/L16; rate=16000'.

With --stream, prints text while it is recognized; --mic always does. With --words, prints one line per word with its start and end
(seconds) and the model's confidence; in subtitles each word becomes a cue. --format json and --json print the server's
response with segments, and with words if --words is set. In a terminal, progress is shown on standard error. The exit code is
0 even if no speech is found.`,
  arguments: [{ name: "file", description: "The recording; `-` or none for standard input." }],
  options: {
    format: {
      type: "string",
      short: "f",
      value: "FORMAT",
      choices: ["text", "json", "srt", "vtt"],
      default: "text",
      description: "Output format.",
    },
    words: { type: "boolean", description: "Print word timings." },
    stream: { type: "boolean", description: "Print text while it is recognized." },
    mic: { type: "boolean", description: "Record from the microphone with arecord." },
    duration: { type: "string", value: "SECONDS", description: "How long to record with --mic." },
    model: {
      type: "string",
      short: "m",
      value: "ID",
      description: "The model. Default: the first one that transcribes.",
    },
    language: { type: "string", short: "l", value: "TAG", description: "Spoken language, such as en-US, or auto." },
    type: {
      type: "string",
      value: "MEDIA_TYPE",
      description: "Media type of standard input, if it cannot be detected.",
    },
    ...connectionOptions,
  },
  examples: [
    ["sounding transcribe talk.wav", "Print the text."],
    ["sounding transcribe talk.wav --format srt > talk.srt", "Subtitles."],
    [
      "ffmpeg -v error -i talk.m4a -f wav - | sounding transcribe --stream",
      "Transcribe another program's output while it arrives.",
    ],
    ["sounding transcribe --mic", "Transcribe the microphone until Ctrl-C."],
  ],
  async run({ values, positionals, json, io }) {
    const format = json ? "json" : values.format;
    const path = positionals[0] ?? "-";
    const seconds = numberOption("duration", values.duration);
    checkOptions({ ...values, format, path: positionals[0] }, io);
    const client = await openClient({ ...values, timeout: values.timeout ?? String(timeoutSeconds) }, io);
    // The first Ctrl-C ends the recording, not its transcription.
    const signal = values.mic === true ? undefined : io.signal;
    const model = values.model ?? (await firstTranscriber(client, io.signal));
    const isSubtitles = format === "srt" || format === "vtt";
    const source = await sourceOf({ mic: values.mic, type: values.type, path, seconds, isSubtitles, signal }, io);
    const task: Task = {
      params: { model, file: source.file, language: values.language },
      format,
      words: values.words === true,
      live: format === "text" && values.words !== true && (values.stream === true || values.mic === true),
      seconds: source.seconds,
      signal,
    };
    try {
      await (format === "json" ? writeAnswer(client, task, io) : writeTranscript(client, task, io));
    } catch (error) {
      // The local error while the recording was read, instead of the client's error for it.
      throw error instanceof Error && error.cause instanceof CliError ? error.cause : error;
    } finally {
      await source.remove?.();
    }
    return exitCodes.ok;
  },
});

interface Task {
  readonly params: TranscriptionParams;
  readonly format: string;
  /** Whether to print word timings. */
  readonly words: boolean;
  /** Whether to print text while it is recognized. */
  readonly live: boolean;
  /** Length of the recording, if known. */
  readonly seconds: number | undefined;
  readonly signal: AbortSignal | undefined;
}

/** The server's response, unchanged. */
async function writeAnswer(client: AsyncSounding, { params, words, signal }: Task, io: CommandIo): Promise<void> {
  const granularities = words ? (["segment", "word"] as const) : (["segment"] as const);
  const answer = await client.audio.transcriptions.create(
    { ...params, stream: false, response_format: "verbose_json", timestamp_granularities: [...granularities] },
    { signal },
  );
  await writeJson(io.stdout, answer);
}

async function writeTranscript(client: AsyncSounding, task: Task, io: CommandIo): Promise<void> {
  const { params, format, words, live, signal } = task;
  const bar = createProgressBar(live ? { ...io, progress: false } : io, task.seconds);
  const show = (text: string): string => (io.isTTY.stdout ? printable(text) : text);
  const listener: TranscriptListener = {
    onText: async (text) => (live ? write(io.stdout, show(text)) : undefined),
    onWord: async (word) => {
      if (format !== "text" || !words) return;
      bar.clear();
      await writeLine(io.stdout, wordLine(word));
    },
    onProgress: bar.show,
  };
  const read = (withWords: boolean): Promise<Transcript> =>
    readTranscript(client, { ...params, words: withWords }, { signal, listener });
  const transcript = await read(words || format !== "text")
    // Long segments are then not split into several cues.
    .catch((error: unknown) => (!words && cannotTellWords(error) ? read(false) : Promise.reject(error)))
    .finally(bar.clear);
  if (format !== "text") await write(io.stdout, subtitles(transcript, format, words));
  else if (live) await write(io.stdout, transcript.text === "" ? "" : "\n");
  else if (!words && transcript.text !== "") await writeLine(io.stdout, show(transcript.text));
  if (transcript.text === "" && io.isTTY.stderr) await writeLine(io.stderr, "No speech was found.");
}

function checkOptions(
  values: {
    readonly mic: boolean | undefined;
    readonly stream: boolean | undefined;
    readonly duration: string | undefined;
    readonly format: string;
    readonly path: string | undefined;
  },
  io: CommandIo,
): void {
  if (values.mic === true && values.path !== undefined) {
    throw new UsageError("a file and --mic cannot be combined");
  }
  if (values.duration !== undefined && values.mic !== true) throw new UsageError("--duration requires --mic");
  if (values.stream === true && values.format !== "text") {
    throw new UsageError(`--stream requires --format text; --format is "${values.format}"`);
  }
  if (values.mic !== true && (values.path ?? "-") === "-" && io.isTTY.stdin) {
    throw new UsageError("no recording: pass a file, pipe one in, or use --mic");
  }
}

async function sourceOf(
  asked: {
    readonly mic: boolean | undefined;
    readonly type: string | undefined;
    readonly path: string;
    readonly seconds: number | undefined;
    readonly isSubtitles: boolean;
    readonly signal: AbortSignal | undefined;
  },
  io: CommandIo,
): Promise<RecordingSource> {
  if (asked.mic !== true && asked.path !== "-") return await fileRecording(asked.path);
  const source =
    asked.mic === true
      ? await microphoneRecording(io, { seconds: asked.seconds, signal: io.signal })
      : pipedRecording(io, asked.type);
  if (asked.mic === true && io.isTTY.stderr) await writeLine(io.stderr, "Listening; press Ctrl-C to stop.");
  // If the model does not support word timings, retry without them.
  return asked.isSubtitles ? await keptRecording(source, asked.signal) : source;
}

/** Throws CliError if no model transcribes. */
async function firstTranscriber(client: AsyncSounding, signal: AbortSignal): Promise<string> {
  const { data } = await client.models.list({ capability: "transcription", signal });
  const first = data[0]?.id;
  if (first === undefined) {
    throw new CliError(
      "the server has no transcription model; run `sounding doctor` to find out how to get one",
      exitCodes.notFound,
    );
  }
  return first;
}

function cannotTellWords(error: unknown): boolean {
  return error instanceof ApiStatusError && error.param === "timestamp_granularities";
}

function subtitles({ segments, words }: Transcript, format: string, single: boolean): string {
  const cues = single ? wordCues(words) : cuesOf(segments, words);
  return format === "srt" ? renderSrt(cues) : renderVtt(cues);
}

/** `   0.130   0.510  0.93  fathom` */
function wordLine({ start, end, word, confidence }: TranscriptionWord): string {
  const seconds = (value: number): string => value.toFixed(3).padStart(8);
  const sure = confidence === undefined ? "   -" : confidence.toFixed(2);
  return `${seconds(start)}${seconds(end)}  ${sure}  ${printable(word)}`;
}
