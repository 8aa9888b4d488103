/**
 * The fields of a transcription request, read from the form's strings: OpenAI's parameters and those of
 * docs/reference/interface.md. https://platform.openai.com/docs/api-reference/audio/createTranscription
 */
import { Type } from "typebox";
import { optional, schema, type TypeOf } from "./schema.ts";

export const timestampGranularities = ["segment", "word"] as const;
export type TimestampGranularity = (typeof timestampGranularities)[number];

const ChunkingStrategy = Type.Object(
  {
    type: Type.Literal("server_vad", { description: "Split at pauses in speech." }),
    prefix_padding_ms: optional(
      Type.Integer({ minimum: 0, maximum: 5_000 }),
      "Audio to keep before detected speech, in milliseconds; at least 4000 for recordings that start with silence. Default 4000.",
    ),
    silence_duration_ms: optional(
      Type.Integer({ minimum: 0, maximum: 5_000 }),
      "Silence that ends a chunk, in milliseconds. Default 5000.",
    ),
    threshold: optional(Type.Number({ minimum: 0, maximum: 1 }), "Sensitivity; accepted and ignored."),
  },
  { additionalProperties: true, description: "How the recording is split before transcription." },
);

const fields = {
  model: Type.String({ minLength: 1, maxLength: 512, description: "Model ID." }),
  chunking_strategy: optional(
    Type.Union([Type.Literal("auto"), ChunkingStrategy]),
    "How the recording is split before transcription: `auto` (the default), or an object.",
  ),
  language: optional(
    Type.String({ pattern: "^(auto|[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*)$", maxLength: 35 }),
    "Spoken language, such as `en-US` or `fr`. Absent or `auto`: the only language of a model that knows one, such as `en-US`; a model that knows several detects it.",
  ),
  response_format: optional(
    Type.Enum(["json", "verbose_json"]),
    "`json` returns only the text, `verbose_json` also times. Default `json`. A server with `transcription.text_formats` also accepts OpenAI's `text`, `srt` and `vtt`.",
  ),
  timestamp_granularities: optional(
    Type.Array(Type.Enum([...timestampGranularities]), { maxItems: 16 }),
    "Timings to return: `segment`, `word`. Requires `response_format` `verbose_json`. Absent or empty: segments.",
  ),
  stream: optional(Type.Boolean(), "Stream the text as events while it is recognized. Default false."),
  include: optional(
    Type.Array(Type.String({ maxLength: 64 }), { maxItems: 16 }),
    "Additional data to return: `logprobs`, if the model reports its confidence in each word. Other values are ignored.",
  ),
  prompt: optional(
    Type.String({ maxLength: 32_768 }),
    "Words that the speaker may use; ignored by models without support for prompts.",
  ),
  temperature: optional(
    Type.Number({ minimum: 0, maximum: 1 }),
    "Sampling temperature; ignored by models without support for it.",
  ),
  timeout: optional(
    Type.Number({ exclusiveMinimum: 0, maximum: 86_400 }),
    "Maximum time for the response once the recording has arrived, in seconds. After that the call fails with 408, or the stream ends with an error. Default 60, plus 3 for each second of the recording.",
  ),
  extra_body: optional(
    Type.Object({}, { additionalProperties: true }),
    "Additional parameters; members with the name of another field override that field.",
  ),
};

export const TranscriptionRequest = schema(
  Type.Object(fields, { additionalProperties: true, description: "Parameters of a transcription." }),
);
export type TranscriptionRequest = TypeOf<typeof TranscriptionRequest>;

const { model, prompt, response_format, temperature, timeout, extra_body } = fields;
/** https://platform.openai.com/docs/api-reference/audio/createTranslation */
export const TranslationRequest = schema(
  Type.Object(
    { model, prompt, response_format, temperature, timeout, extra_body },
    { additionalProperties: true, description: "Parameters of a translation." },
  ),
);
