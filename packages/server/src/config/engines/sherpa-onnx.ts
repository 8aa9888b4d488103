/** Settings of an engine of type `sherpa_onnx`: neural speech and transcription by ONNX models on this machine. */
import { Type, type Static } from "typebox";
import { limitsInput } from "../../input-limits.ts";
import { modelProcessSettings } from "./model-process.ts";

export const sherpaOnnxKinds = [
  "vits",
  "matcha",
  "kokoro",
  "kitten",
  "whisper",
  "moonshine",
  "sense_voice",
  "transducer",
  "nemo_transducer",
  "nemo_ctc",
  "zipformer_ctc",
  "streaming_transducer",
  "streaming_zipformer_ctc",
] as const;
export type SherpaOnnxKind = (typeof sherpaOnnxKinds)[number];

const language = Type.String({
  pattern: "^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$",
  description: "BCP 47, such as `en-US`.",
});

const voice = Type.Object(
  {
    speaker: Type.Integer({
      minimum: 0,
      maximum: 1_000_000,
      default: 0,
      description: "Number of the speaker in the model.",
    }),
    languages: Type.Optional(
      Type.Array(language, { minItems: 1, maxItems: 100, description: "What it speaks, in place of the model's." }),
    ),
    gender: Type.Optional(Type.Enum(["female", "male", "neutral"], { description: "How it sounds." })),
    description: Type.Optional(
      Type.String({ minLength: 1, maxLength: 512, description: "Shown in the list of voices." }),
    ),
  },
  { additionalProperties: false, description: "One voice." },
);

const speakers = Type.Object(
  {
    segmentation: Type.String({
      minLength: 1,
      description:
        "The ONNX file of a segmentation model (pyannote), a path or its name in `models` of the data directory: it hears when the speaker changes.",
    }),
    embedding: Type.String({
      minLength: 1,
      description: "The ONNX file of a speaker embedding model (WeSpeaker, 3D-Speaker, NeMo): it tells voices apart.",
    }),
    threshold: Type.Number({
      minimum: 0,
      maximum: 2,
      default: 0.5,
      description: "Cosine distance up to which two voices are one speaker's: more makes fewer speakers.",
    }),
  },
  { additionalProperties: false, description: "Tell who speaks, in the answers of a model that transcribes." },
);

const sherpaOnnxModelSettings = Type.Object(
  {
    kind: Type.Enum([...sherpaOnnxKinds], {
      description:
        "What the model is: `vits` (Piper, MeloTTS, Coqui), `matcha`, `kokoro` and `kitten` speak; the others transcribe. `nemo_…` are NVIDIA's (Parakeet), `streaming_…` give text while they listen.",
    }),
    folder: Type.String({
      minLength: 1,
      description:
        "The folder with the model's files: a path, or the name under which `sounding models pull` put it into `models` of the data directory.",
    }),
    files: Type.Record(
      Type.String({ pattern: "^[a-z_]+$" }),
      Type.Union(
        [Type.String({ minLength: 1 }), Type.Array(Type.String({ minLength: 1 }), { minItems: 1, maxItems: 100 })],
        { description: "A path, within the folder or absolute; several for `lexicon` and `rule_fsts`." },
      ),
      {
        default: {},
        description:
          "Files by their part in the model (`model`, `encoder`, `tokens`, …), where their usual names do not say it or several would fit.",
      },
    ),
    languages: Type.Optional(
      Type.Array(language, {
        minItems: 1,
        maxItems: 200,
        description: "What the model speaks or understands. Absent: what its files say; any, where they say nothing.",
      }),
    ),
    voices: Type.Optional(
      Type.Record(Type.String({ minLength: 1, maxLength: 256 }), voice, {
        minProperties: 1,
        description: "Names of the speakers of a model that speaks. Absent: the model's own names, or their numbers.",
      }),
    ),
    speakers: Type.Optional(speakers),
    threads: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1024,
        description: "CPU threads that work on one phrase or stretch of speech. Absent: one for each core, at most 4.",
      }),
    ),
    processes: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 64,
        default: 1,
        description: "Processes that work at the same time; each has the whole model in memory.",
      }),
    ),
    queue_limit: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 100_000,
        default: 64,
        description: "Calls that take turns beside one for each process; a further one is a 503.",
        ...limitsInput("Transcription and audio", "overloaded"),
      }),
    ),
    ...modelProcessSettings,
  },
  { additionalProperties: false, description: "One model." },
);
export type SherpaOnnxModelSettings = Static<typeof sherpaOnnxModelSettings>;

export const sherpaOnnxEngineSettings = Type.Object(
  {
    type: Type.Literal("sherpa_onnx", { description: "sherpa-onnx on this machine." }),
    models: Type.Record(Type.String({ minLength: 1, maxLength: 512 }), sherpaOnnxModelSettings, {
      minProperties: 1,
      description: "The engine's models by name.",
    }),
  },
  {
    additionalProperties: false,
    description: "Runs ONNX models that speak or transcribe with sherpa-onnx, in processes of their own.",
  },
);
export type SherpaOnnxEngineSettings = Static<typeof sherpaOnnxEngineSettings>;
