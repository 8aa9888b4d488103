/**
 * The speech request: OpenAI's parameters and those of docs/reference/interface.md, flat or nested under `extra_body`.
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
    "Language of the text, such as `en-US` or `fr-FR`. Absent: the voice's own language.",
  ),
  sample_rate: optional(
    Type.Enum([8_000, 16_000, 22_050, 24_000, 44_100, 48_000]),
    "Sample rate of the audio in Hz. Absent: the engine's own rate.",
  ),
  enable_word_boundary: optional(
    Type.Boolean(),
    "Return word timings: the response is JSON, or JSON lines if `stream` is true. Default false.",
  ),
  boundary_types: optional(
    Type.Array(Type.Enum([...boundaryTypes]), { minItems: 1, maxItems: 16 }),
    "Types of boundaries to return. Absent: all three.",
  ),
};

export const SpeechRequest = schema(
  Type.Object(
    {
      model: Type.String({ minLength: 1, maxLength: 512, description: "Model ID." }),
      input: Type.String({ minLength: 1, description: "Text to synthesize, at most 100 000 characters by default." }),
      voice: Type.String({
        minLength: 1,
        maxLength: 256,
        description: "Voice: one of `GET /v1/audio/voices`, or a well-known voice name of OpenAI or Azure.",
      }),
      response_format: optional(Type.Enum([...speechFormats]), "Audio format. Default `wav`."),
      speed: optional(Type.Number({ minimum: 0.25, maximum: 4 }), "Speaking rate; 1, the default, is the voice's own."),
      instructions: optional(
        Type.String({ maxLength: 4_096 }),
        "How to speak, as free text; refused by models that do not support it.",
      ),
      stream: optional(Type.Boolean(), "Stream the audio while it is generated. Default false."),
      stream_format: optional(
        Type.Enum(["sse", "audio"]),
        "`sse` sends server-sent events in OpenAI's format. Default `audio`.",
      ),
      timeout: optional(
        Type.Number({ exclusiveMinimum: 0, maximum: 86_400 }),
        "Maximum time for the response, in seconds. After that the call fails with 408, or the stream ends with an error.",
      ),
      ...extras,
      extra_body: optional(
        Type.Object(extras, { additionalProperties: true }),
        "The same parameters, nested, as some clients send them; top-level parameters take precedence.",
      ),
    },
    { additionalProperties: true, description: "A text and how to speak it." },
  ),
);
export type SpeechRequest = TypeOf<typeof SpeechRequest>;
