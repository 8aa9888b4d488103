/**
 * Settings of speech synthesis for all engines: `speech` of the configuration file. They may change while the server
 * runs.
 */
import { Type } from "typebox";
import { limitsInput } from "../input-limits.ts";

export const speech = Type.Object(
  {
    max_input_characters: Type.Integer({
      minimum: 1,
      maximum: 10_000_000,
      default: 100_000,
      description: "Longest `input` of a request, in UTF-16 code units.",
      ...limitsInput("Speech", "invalid_request"),
    }),
    voices: Type.Record(
      Type.String({ minLength: 1, maxLength: 256 }),
      Type.Array(Type.String({ minLength: 1, maxLength: 256, description: "Name of a voice at an engine." }), {
        minItems: 1,
        maxItems: 100,
        description:
          "Voices that substitute for this name: the first one that the model has and that speaks the language.",
      }),
      {
        default: {},
        description:
          "Additional voice names. OpenAI's and Azure's names need no entry: Sounding substitutes a voice of the same language and gender.",
      },
    ),
  },
  { default: {}, description: "Speech synthesis." },
);
