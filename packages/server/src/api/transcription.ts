/** The operation of transcription: its answers, whole and streamed. */
import { Type } from "typebox";
import { operation } from "./operation.ts";
import { schema, type TypeOf } from "./schema.ts";
import { TranscriptionRequest } from "./transcription-request.ts";

const seconds = (description: string) => Type.Number({ minimum: 0, description });

const word = {
  word: Type.String({ description: "The word." }),
  start: seconds("When it begins, seconds from the start of the recording."),
  end: seconds("When it ends, seconds from the start of the recording."),
  confidence: Type.Optional(
    Type.Number({ minimum: 0, maximum: 1, description: "How sure the model is of it; absent where it does not tell." }),
  ),
  segment: Type.Optional(Type.Integer({ minimum: 0, description: "The ID of its segment." })),
};

const TranscriptionWord = Type.Object(word, { description: "A word and when it is spoken." });

const TranscriptionSegment = Type.Object(
  {
    id: Type.Integer({ minimum: 0, description: "Its number, from 0." }),
    seek: seconds("Where it begins in the recording, seconds."),
    start: seconds("When it begins, seconds from the start of the recording."),
    end: seconds("When it ends, seconds from the start of the recording."),
    text: Type.String({ description: "What is said." }),
    avg_logprob: Type.Number({
      maximum: 0,
      description: "Mean natural logarithm of the words' confidence; 0 where the model does not tell it.",
    }),
    compression_ratio: Type.Number({ exclusiveMinimum: 0, description: "Characters a word, on average." }),
    speaker_id: Type.Optional(
      Type.String({
        pattern: "^(Guest-[1-9][0-9]*|Unknown)$",
        description:
          "Who speaks: `Guest-1` and so on, or `Unknown`; absent where the model does not tell speakers apart.",
      }),
    ),
  },
  { description: "A stretch of speech." },
);

export const TranscriptionText = schema(
  Type.Object(
    {
      text: Type.Union([Type.String(), Type.Null()], { description: "What is said; null when nothing was." }),
      logprobs: Type.Optional(logprobs("The words with their probabilities, where `include` asks for them.")),
    },
    { description: "A transcription, the text alone." },
  ),
);
export type TranscriptionText = TypeOf<typeof TranscriptionText>;

export const TranscriptionVerbose = schema(
  Type.Object(
    {
      task: Type.Literal("transcribe", { description: "Always `transcribe`." }),
      language: Type.String({ description: "The language that was given, or that the model heard, such as `en-US`." }),
      duration: seconds("How long the recording is, seconds."),
      text: Type.String({ description: "What is said; empty when nothing was." }),
      segments: Type.Array(TranscriptionSegment, { description: "The stretches of speech in the order of time." }),
      words: Type.Optional(Type.Array(TranscriptionWord, { description: "The words, where they were asked for." })),
      speakers: Type.Optional(
        Type.Array(Type.String(), { description: "Who speaks, each once; absent where the model cannot tell." }),
      ),
    },
    { description: "A transcription with its times." },
  ),
);
export type TranscriptionVerbose = TypeOf<typeof TranscriptionVerbose>;

export const TranscriptionStreamEvent = schema(
  Type.Union(
    [
      Type.Object(
        {
          type: Type.Literal("transcript.text.delta", { description: "Always `transcript.text.delta`." }),
          delta: Type.String({ description: "What the text goes on with. All of them joined are the whole text." }),
          text: Type.String({ description: "The same as `delta`." }),
          logprobs: logprobs("Null: words are told with their probabilities when all is said."),
        },
        { description: "The text goes on." },
      ),
      Type.Object(
        { type: Type.Literal("transcript.word", { description: "Always `transcript.word`." }), ...word },
        { description: "A word, where words were asked for; after the text in which it is, before its segment." },
      ),
      Type.Object(
        {
          type: Type.Literal("transcript.segment", { description: "Always `transcript.segment`." }),
          segment: TranscriptionSegment,
        },
        { description: "A stretch of speech is over, where segments were asked for." },
      ),
      Type.Object(
        {
          type: Type.Literal("transcript.text.done", { description: "Always `transcript.text.done`." }),
          text: Type.String({ description: "The whole text; empty when nothing was said." }),
          logprobs: logprobs("The words with their probabilities, where `include` asks for them; else null."),
        },
        { description: "All is said: the last event." },
      ),
    ],
    { description: "An event of a streamed transcription." },
  ),
);
export type TranscriptionStreamEvent = TypeOf<typeof TranscriptionStreamEvent>;

function logprobs(description: string) {
  const Logprob = Type.Object(
    {
      token: Type.String({ description: "The word." }),
      bytes: Type.Array(Type.Integer({ minimum: 0, maximum: 255 }), { description: "The word in UTF-8." }),
      logprob: Type.Number({ maximum: 0, description: "Natural logarithm of the model's confidence." }),
    },
    { description: "A word and its probability." },
  );
  return Type.Union([Type.Array(Logprob), Type.Null()], { description });
}

export const createTranscription = operation({
  id: "createTranscription",
  method: "POST",
  path: "/v1/audio/transcriptions",
  tag: "Transcription",
  summary: "Write down what is said in a recording",
  description:
    "Fields may stand before or after the file. With `stream` the answer is server-sent events, and begins while the recording is still uploaded if `model` and `stream` stand before `file`. Lists and objects are sent as JSON in one field, or in fields such as `timestamp_granularities[]` and `chunking_strategy[type]`. The members of a JSON object in the field `extra_body` override fields of the same name.",
  permission: "inference",
  form: {
    fields: TranscriptionRequest,
    file: "The recording: WAV, MP3, FLAC, Ogg (Opus or Vorbis), WebM or MP4 (Opus), or raw samples (`audio/pcm`, `audio/L16`, a name that ends in `.pcm` or `.raw`; 16 bits, little-endian; `rate` and `channels` as parameters of the media type, else 16 000 Hz mono).",
  },
  answer: {
    type: "application/json",
    schema: schema(
      Type.Union([TranscriptionText.json, TranscriptionVerbose.json], { description: "As `response_format` says." }),
    ),
    description: "The transcription.",
  },
  stream: { type: "text/event-stream", schema: TranscriptionStreamEvent, description: "With `stream`." },
});
