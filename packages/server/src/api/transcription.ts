/** The transcription operation and its responses, batch and streamed. */
import { Type, type Static } from "typebox";
import { costMembers } from "./cost-members.ts";
import { operation } from "./operation.ts";
import { schema, type TypeOf } from "./schema.ts";
import { TranscriptionRequest, TranslationRequest } from "./transcription-request.ts";

const seconds = (description: string) => Type.Number({ minimum: 0, description });

const word = {
  word: Type.String({ description: "The word." }),
  start: seconds("Start, in seconds from the start of the recording."),
  end: seconds("End, in seconds from the start of the recording."),
  confidence: Type.Optional(
    Type.Number({ minimum: 0, maximum: 1, description: "The model's confidence; absent if it reports none." }),
  ),
  segment: Type.Optional(Type.Integer({ minimum: 0, description: "ID of the word's segment." })),
};

const TranscriptionWord = Type.Object(word, { description: "A word and when it was spoken." });

const TranscriptionSegment = Type.Object(
  {
    id: Type.Integer({ minimum: 0, description: "Index of the segment, from 0." }),
    seek: seconds("Position in the recording, in seconds."),
    start: seconds("Start, in seconds from the start of the recording."),
    end: seconds("End, in seconds from the start of the recording."),
    text: Type.String({ description: "Text of the segment." }),
    avg_logprob: Type.Number({
      maximum: 0,
      description: "Mean log probability of the words; 0 if the model does not report it.",
    }),
    compression_ratio: Type.Number({ exclusiveMinimum: 0, description: "Average number of characters per word." }),
    speaker_id: Type.Optional(
      Type.String({
        pattern: "^(Guest-[1-9][0-9]*|Unknown)$",
        description: "The speaker: `Guest-1` and so on, or `Unknown`; absent if the model does not identify speakers.",
      }),
    ),
  },
  { description: "A segment of speech." },
);

const usage = {
  usage: Type.Optional(
    Type.Union(
      [
        Type.Object(
          {
            type: Type.Literal("duration", { description: "The recording's length is charged for." }),
            seconds: seconds("Length of the recording in seconds."),
            ...costMembers,
          },
          { description: "Usage by length." },
        ),
        Type.Object(
          {
            type: Type.Literal("tokens", { description: "Tokens are charged for." }),
            input_tokens: Type.Integer({ minimum: 0, description: "Tokens of the recording and the prompt." }),
            output_tokens: Type.Integer({ minimum: 0, description: "Tokens of the text." }),
            total_tokens: Type.Integer({ minimum: 0, description: "All tokens." }),
            input_token_details: Type.Object(
              {
                audio_tokens: Type.Integer({ minimum: 0, description: "Tokens of the recording." }),
                text_tokens: Type.Integer({ minimum: 0, description: "Tokens of the prompt." }),
              },
              { description: "Parts of the input." },
            ),
            ...costMembers,
          },
          { description: "Usage by tokens." },
        ),
      ],
      { description: "What was used, and what it cost; absent if the cost is not known." },
    ),
  ),
};
const usageObject = Type.Object(usage);
export type TranscriptionUsageMembers = Static<typeof usageObject>;

export const TranscriptionText = schema(
  Type.Object(
    {
      text: Type.Union([Type.String(), Type.Null()], { description: "The text; null if nothing was said." }),
      logprobs: Type.Optional(logprobs("The words with their log probabilities, if `include` requests them.")),
      ...usage,
    },
    { description: "A transcription as text only." },
  ),
);
export type TranscriptionText = TypeOf<typeof TranscriptionText>;

export const TranscriptionVerbose = schema(
  Type.Object(
    {
      task: Type.Enum(["transcribe", "translate"], { description: "`transcribe`, or `translate` for a translation." }),
      language: Type.String({
        description: "The language that was requested or that the model detected, such as `en-US`.",
      }),
      duration: seconds("Length of the recording in seconds."),
      text: Type.String({ description: "The text; empty if nothing was said." }),
      segments: Type.Array(TranscriptionSegment, { description: "The segments in order of time." }),
      words: Type.Optional(Type.Array(TranscriptionWord, { description: "The words, if requested." })),
      speakers: Type.Optional(
        Type.Array(Type.String(), {
          description: "The speakers, each once; absent if the model does not identify speakers.",
        }),
      ),
      ...usage,
    },
    { description: "A transcription with times." },
  ),
);
export type TranscriptionVerbose = TypeOf<typeof TranscriptionVerbose>;

export const TranscriptionStreamEvent = schema(
  Type.Union(
    [
      Type.Object(
        {
          type: Type.Literal("transcript.text.delta", { description: "Always `transcript.text.delta`." }),
          delta: Type.String({ description: "The next piece of the text. All pieces joined are the complete text." }),
          text: Type.String({ description: "Same as `delta`." }),
          logprobs: logprobs("Always null; log probabilities are sent at the end."),
        },
        { description: "More text." },
      ),
      Type.Object(
        { type: Type.Literal("transcript.word", { description: "Always `transcript.word`." }), ...word },
        {
          description: "A word, if words were requested; sent after the text that contains it and before its segment.",
        },
      ),
      Type.Object(
        {
          type: Type.Literal("transcript.segment", { description: "Always `transcript.segment`." }),
          segment: TranscriptionSegment,
        },
        { description: "A completed segment, if segments were requested." },
      ),
      Type.Object(
        {
          type: Type.Literal("transcript.text.done", { description: "Always `transcript.text.done`." }),
          text: Type.String({ description: "The complete text; empty if nothing was said." }),
          logprobs: logprobs("The words with their log probabilities if `include` requests them; otherwise null."),
          language: Type.Optional(
            Type.String({
              description: "The language that the model found, such as `en-US`, if the request names none.",
            }),
          ),
          ...usage,
        },
        { description: "The last event: the transcription is complete." },
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
      bytes: Type.Array(Type.Integer({ minimum: 0, maximum: 255 }), { description: "The word's UTF-8 bytes." }),
      logprob: Type.Number({ maximum: 0, description: "Log probability of the word." }),
    },
    { description: "A word and its log probability." },
  );
  return Type.Union([Type.Array(Logprob), Type.Null()], { description });
}

const recording =
  "The recording: WAV, MP3, FLAC, Ogg (Opus or Vorbis), WebM or MP4 (Opus), M4A (AAC, if ffmpeg is installed on the server), or raw samples (`audio/pcm`, `audio/L16`, or a file name that ends in `.pcm` or `.raw`; 16 bits, little-endian; `rate` and `channels` as parameters of the media type, otherwise 16 000 Hz mono).";
const transcript = schema(
  Type.Union([TranscriptionText.json, TranscriptionVerbose.json], {
    description: "The format depends on `response_format`.",
  }),
);

export const createTranscription = operation({
  id: "createTranscription",
  method: "POST",
  path: "/v1/audio/transcriptions",
  tag: "Transcription",
  summary: "Transcribe a recording",
  description:
    "Fields may be sent before or after the file. With `stream`, the response is a stream of server-sent events, which starts during the upload if `model` and `stream` are sent before `file`. Send lists and objects as JSON in one field, or in fields such as `timestamp_granularities[]` and `chunking_strategy[type]`. The members of a JSON object in the field `extra_body` override fields with the same name.",
  permission: "inference",
  form: {
    fields: TranscriptionRequest,
    file: recording,
  },
  answer: {
    type: "application/json",
    schema: transcript,
    description: "The transcription.",
  },
  stream: { type: "text/event-stream", schema: TranscriptionStreamEvent, description: "With `stream`." },
});

export const createTranslation = operation({
  id: "createTranslation",
  method: "POST",
  path: "/v1/audio/translations",
  tag: "Transcription",
  summary: "Translate a recording into English text",
  description:
    "OpenAI's translations, for models of OpenAI-compatible servers that have them, such as Whisper. Other models refuse the call.",
  permission: "inference",
  form: { fields: TranslationRequest, file: recording },
  answer: { type: "application/json", schema: transcript, description: "The text in English." },
});
