/** The operations of speech synthesis. */
import { Type } from "typebox";
import { operation } from "./operation.ts";
import { schema, type TypeOf } from "./schema.ts";
import { boundaryTypes, SpeechRequest } from "./speech-request.ts";

const wordBoundary = Type.Object(
  {
    type: Type.Literal("word_boundary", { description: "Always `word_boundary`." }),
    text: Type.String({ description: "The word, the sign or the sentence, as it stands in `input`." }),
    audio_offset_ms: Type.Number({ description: "When it begins, milliseconds from the start of the audio." }),
    duration_ms: Type.Number({ description: "How long it takes, milliseconds." }),
    text_offset: Type.Integer({ description: "Where it begins in `input`, in UTF-16 code units." }),
    word_length: Type.Integer({ description: "How long it is in `input`, in UTF-16 code units." }),
    boundary_type: Type.Enum([...boundaryTypes], { description: "What it is." }),
  },
  { description: "A word, a sign or a sentence, and when it is spoken." },
);
export const WordBoundary = schema(wordBoundary);
export type WordBoundary = TypeOf<typeof WordBoundary>;

export const SpeechWithBoundaries = schema(
  Type.Object(
    {
      audio: Type.String({ description: "The audio, in base64." }),
      word_boundaries: Type.Array(wordBoundary, { description: "The boundaries in the order of time." }),
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
        { description: "A piece of audio." },
      ),
      wordBoundary,
    ],
    { description: "A line of a stream with word boundaries." },
  ),
);

export const createSpeech = operation({
  id: "createSpeech",
  method: "POST",
  path: "/v1/audio/speech",
  tag: "Speech",
  summary: "Speak a text",
  description:
    'Answers with audio (`audio/wav`, `audio/mpeg`, `audio/pcm` or `audio/ogg; codecs=opus`; the header `x-sample-rate` tells the rate), whole or, with `stream`, while it is made. With `enable_word_boundary` the answer is JSON, or with `stream` lines of JSON (`application/x-ndjson`). With `stream_format: "sse"` it is OpenAI\'s events.',
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
            engine: Type.String({ description: "Who speaks: the model's owner, or the engine that runs it." }),
            languages: Type.Array(Type.String(), {
              description: "Languages that it speaks (BCP 47), its own first; `*` for every language.",
            }),
            gender: Type.Union([Type.Enum(["female", "male", "neutral"]), Type.Null()], {
              description: "How it sounds; null when unknown.",
            }),
            description: Type.Union([Type.String(), Type.Null()], { description: "More about it." }),
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
  permission: "inference",
  queryParameters: {
    model: "Only the voices of this model.",
    language: "Only voices that speak this language, such as `fr` or `fr-FR`.",
  },
  answer: { type: "application/json", schema: VoiceList, description: "The voices." },
});
