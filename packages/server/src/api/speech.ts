/** The operations of speech synthesis. */
import { Type } from "typebox";
import { operation } from "./operation.ts";
import { schema, type TypeOf } from "./schema.ts";
import { boundaryTypes, SpeechRequest } from "./speech-request.ts";

const wordBoundary = Type.Object(
  {
    type: Type.Literal("word_boundary", { description: "Always `word_boundary`." }),
    text: Type.String({ description: "The word, punctuation mark or sentence, as it appears in `input`." }),
    audio_offset_ms: Type.Number({ description: "Start, in milliseconds from the start of the audio." }),
    duration_ms: Type.Number({ description: "Duration in milliseconds." }),
    text_offset: Type.Integer({ description: "Start position in `input`, in UTF-16 code units." }),
    word_length: Type.Integer({ description: "Length in `input`, in UTF-16 code units." }),
    boundary_type: Type.Enum([...boundaryTypes], { description: "Type of the boundary." }),
  },
  { description: "A word, punctuation mark or sentence, and when it is spoken." },
);
export const WordBoundary = schema(wordBoundary);
export type WordBoundary = TypeOf<typeof WordBoundary>;

export const SpeechWithBoundaries = schema(
  Type.Object(
    {
      audio: Type.String({ description: "The audio, in base64." }),
      word_boundaries: Type.Array(wordBoundary, { description: "The boundaries in order of time." }),
    },
    { description: "Audio with word boundaries." },
  ),
);
export type SpeechWithBoundaries = TypeOf<typeof SpeechWithBoundaries>;

export const SpeechStreamLine = schema(
  Type.Union(
    [
      Type.Object(
        {
          type: Type.Literal("audio", { description: "Always `audio`." }),
          data: Type.String({ description: "The next bytes of the audio, in base64." }),
        },
        { description: "A chunk of audio." },
      ),
      wordBoundary,
    ],
    { description: "One line of a stream with word boundaries." },
  ),
);

export const createSpeech = operation({
  id: "createSpeech",
  method: "POST",
  path: "/v1/audio/speech",
  tag: "Speech",
  summary: "Synthesize speech from text",
  description:
    'Returns audio (`audio/wav`, `audio/mpeg`, `audio/pcm` or `audio/ogg; codecs=opus`; the header `x-sample-rate` contains the sample rate). With `stream`, the audio is sent while it is generated. With `enable_word_boundary`, the response is JSON, or JSON lines (`application/x-ndjson`) with `stream`. With `stream_format: "sse"`, it is a stream of OpenAI\'s events.',
  permission: "inference",
  body: SpeechRequest,
  answer: { type: "application/json", schema: SpeechWithBoundaries, description: "With `enable_word_boundary`." },
  stream: {
    type: "application/x-ndjson",
    schema: SpeechStreamLine,
    description: "With `enable_word_boundary` and `stream`.",
  },
  example: { model: "flite", voice: "slt", input: "Hello, world.", response_format: "mp3" },
});

export const VoiceList = schema(
  Type.Object(
    {
      object: Type.Literal("list", { description: "Always `list`." }),
      data: Type.Array(
        Type.Object(
          {
            name: Type.String({ description: "Voice name, to be sent as `voice`." }),
            model: Type.String({ description: "The model that has the voice, to be sent as `model`." }),
            engine: Type.String({ description: "The model's owner, or the engine that runs it." }),
            languages: Type.Array(Type.String(), {
              description: "Languages of the voice (BCP 47), its main language first; `*` for every language.",
            }),
            gender: Type.Union([Type.Enum(["female", "male", "neutral"]), Type.Null()], {
              description: "Gender of the voice; null when unknown.",
            }),
            description: Type.Union([Type.String(), Type.Null()], { description: "More about the voice." }),
          },
          { description: "A voice of a model." },
        ),
        { description: "The voices, model by model." },
      ),
    },
    { description: "Voices." },
  ),
);
export type VoiceList = TypeOf<typeof VoiceList>;

export const listVoices = operation({
  id: "listVoices",
  method: "GET",
  path: "/v1/audio/voices",
  tag: "Speech",
  summary: "List the voices of the models that the key's organization may call",
  permission: "models_read",
  queryParameters: {
    model: "Only voices of this model.",
    language: "Only voices that speak this language, such as `fr` or `fr-FR`.",
  },
  answer: { type: "application/json", schema: VoiceList, description: "The voices." },
});
