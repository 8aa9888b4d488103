/**
 * The fields of a transcription request: the interface's parameters and OpenAI's, each once they have been read from the
 * form's strings. https://platform.openai.com/docs/api-reference/audio/createTranscription
 */
import { Type } from "typebox";
import { optional, schema, type TypeOf } from "./schema.ts";

export const timestampGranularities = ["segment", "word"] as const;
export type TimestampGranularity = (typeof timestampGranularities)[number];

const ChunkingStrategy = Type.Object(
  {
    type: Type.Literal("server_vad", { description: "Cut where nobody speaks." }),
    prefix_padding_ms: optional(
      Type.Integer({ minimum: 0, maximum: 5_000 }),
      "Sound kept before detected speech, milliseconds; at least 4000 for recordings that begin with silence. Default 4000.",
    ),
    silence_duration_ms: optional(
      Type.Integer({ minimum: 0, maximum: 5_000 }),
      "Silence that ends a chunk, milliseconds. Default 5000.",
    ),
    threshold: optional(Type.Number({ minimum: 0, maximum: 1 }), "Sensitivity; accepted and ignored."),
  },
  { additionalProperties: true, description: "How the recording is cut before it is transcribed." },
);

export const TranscriptionRequest = schema(
  Type.Object(
    {
      model: Type.String({ minLength: 1, maxLength: 512, description: "Model ID." }),
      chunking_strategy: optional(
        Type.Union([Type.Literal("auto"), ChunkingStrategy]),
        "How the recording is cut before it is transcribed: `auto`, which is the default, or an object.",
      ),
      language: optional(
        Type.String({ pattern: "^[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*$", maxLength: 35 }),
        "Language that is spoken, such as `en-US` or `fr`. Default `en-US`.",
      ),
      response_format: optional(
        Type.Enum(["json", "verbose_json"]),
        "`json` has the text alone, `verbose_json` times too. Default `json`.",
      ),
      timestamp_granularities: optional(
        Type.Array(Type.Enum([...timestampGranularities]), { maxItems: 16 }),
        "What is told with its time: `segment`, `word`. Needs `response_format` `verbose_json`. Absent or empty: segments.",
      ),
      stream: optional(Type.Boolean(), "Send the text while it is understood, as events. Default false."),
      include: optional(
        Type.Array(Type.String({ maxLength: 64 }), { maxItems: 16 }),
        "Further things to tell: `logprobs`, where the model knows how sure it is of each word. Others are ignored.",
      ),
      prompt: optional(
        Type.String({ maxLength: 32_768 }),
        "Words that the speaker may have used; ignored by models that cannot be told.",
      ),
      temperature: optional(
        Type.Number({ minimum: 0, maximum: 1 }),
        "How freely the text is chosen; ignored by models that cannot be told.",
      ),
      timeout: optional(
        Type.Number({ exclusiveMinimum: 0, maximum: 86_400 }),
        "Longest time that the answer may take once the recording is there, seconds; then a 408, or the end of the stream. Default 60.",
      ),
      extra_body: optional(
        Type.Object({}, { additionalProperties: true }),
        "Further parameters; those that are named here as well override these.",
      ),
    },
    { additionalProperties: true, description: "What a recording is transcribed by, and into what." },
  ),
);
export type TranscriptionRequest = TypeOf<typeof TranscriptionRequest>;
