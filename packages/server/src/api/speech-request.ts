/**
 * The speech request: the interface's parameters and OpenAI's, flat or nested under `extra_body`.
 * https://platform.openai.com/docs/api-reference/audio/createSpeech
 */
import { Type } from "typebox";
import { optional, schema, type TypeOf } from "./schema.ts";

export const speechFormats = ["wav", "mp3", "pcm", "opus"] as const;
export type SpeechFormat = (typeof speechFormats)[number];

export const boundaryTypes = ["word", "punctuation", "sentence"] as const;
export type BoundaryType = (typeof boundaryTypes)[number];

const extras = {
  speech_synthesis_language: optional(
    Type.String({ pattern: "^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$", maxLength: 64 }),
    "Language to speak, such as `en-US` or `fr-FR`. Absent: the voice's own.",
  ),
  sample_rate: optional(
    Type.Enum([8_000, 16_000, 22_050, 24_000, 44_100, 48_000]),
    "Samples a second of the answer. Absent: the engine's own rate.",
  ),
  enable_word_boundary: optional(
    Type.Boolean(),
    "Tell when each word is spoken: the answer is JSON, or lines of JSON when `stream` is true. Default false.",
  ),
  boundary_types: optional(
    Type.Array(Type.Enum([...boundaryTypes]), { minItems: 1, maxItems: 16 }),
    "Which boundaries to tell. Absent: all three.",
  ),
};

export const SpeechRequest = schema(
  Type.Object(
    {
      model: Type.String({ minLength: 1, maxLength: 512, description: "Model ID." }),
      input: Type.String({ minLength: 1, description: "Text to speak, at most 100 000 characters." }),
      voice: Type.String({
        minLength: 1,
        maxLength: 256,
        description: "Voice name: one of `GET /v1/audio/voices`, or a well-known one of OpenAI or Azure.",
      }),
      response_format: optional(Type.Enum([...speechFormats]), "Format of the audio. Default `wav`."),
      speed: optional(Type.Number({ minimum: 0.25, maximum: 4 }), "Pace; 1 is the voice's own, which is the default."),
      instructions: optional(
        Type.String({ maxLength: 4_096 }),
        "How to speak, in words; refused by models that cannot be told.",
      ),
      stream: optional(Type.Boolean(), "Send the audio while it is made. Default false."),
      stream_format: optional(
        Type.Enum(["sse", "audio"]),
        "`sse`: server-sent events as OpenAI sends them. Default `audio`.",
      ),
      timeout: optional(
        Type.Number({ exclusiveMinimum: 0, maximum: 86_400 }),
        "Longest time that the answer may take, seconds; then a 408, or the end of the stream.",
      ),
      ...extras,
      extra_body: optional(
        Type.Object(extras, { additionalProperties: true }),
        "The same parameters once more, as some clients nest them; the top level comes first.",
      ),
    },
    { additionalProperties: true, description: "A text and how to speak it." },
  ),
);
export type SpeechRequest = TypeOf<typeof SpeechRequest>;
