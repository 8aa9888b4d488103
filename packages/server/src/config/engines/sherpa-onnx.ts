/**
 * Settings of an engine of type `sherpa_onnx`: neural speech synthesis and transcription with ONNX models on this
 * machine.
 */
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
      description: "The speaker's number in the model.",
    }),
    languages: Type.Optional(
      Type.Array(language, {
        minItems: 1,
        maxItems: 100,
        description: "The voice's languages, instead of the model's.",
      }),
    ),
    gender: Type.Optional(Type.Enum(["female", "male", "neutral"], { description: "The voice's gender." })),
    description: Type.Optional(
      Type.String({ minLength: 1, maxLength: 512, description: "Description shown in the list of voices." }),
    ),
  },
  { additionalProperties: false, description: "One voice." },
);

export const usualSpeakerThreshold = 0.5;

const speakers = Type.Object(
  {
    segmentation: Type.String({
      minLength: 1,
      description:
        "ONNX file of a segmentation model (pyannote), which detects speaker changes: a path, or its name in `models` in the data directory.",
    }),
    embedding: Type.String({
      minLength: 1,
      description: "ONNX file of a speaker embedding model (WeSpeaker, 3D-Speaker, NeMo), which distinguishes voices.",
    }),
    threshold: Type.Number({
      minimum: 0,
      maximum: 2,
      default: usualSpeakerThreshold,
      description:
        "Cosine distance up to which two voices count as the same speaker; a higher value yields fewer speakers.",
    }),
  },
  { additionalProperties: false, description: "Identify speakers in the transcriptions of this model." },
);

const sherpaOnnxModelSettings = Type.Object(
  {
    kind: Type.Enum([...sherpaOnnxKinds], {
      description:
        "Type of the model. `vits` (Piper, MeloTTS, Coqui), `matcha`, `kokoro` and `kitten` synthesize speech; the others transcribe. `nemo_…` are NVIDIA's models (Parakeet); `streaming_…` return text while they listen.",
    }),
    folder: Type.String({
      minLength: 1,
      description:
        "Folder of the model's files: a path, or the name under which `sounding models pull` stored it in `models` in the data directory.",
    }),
    files: Type.Record(
      Type.String({ pattern: "^[a-z_]+$" }),
      Type.Union(
        [Type.String({ minLength: 1 }), Type.Array(Type.String({ minLength: 1 }), { minItems: 1, maxItems: 100 })],
        { description: "A path, absolute or relative to the folder; `lexicon` and `rule_fsts` accept several." },
      ),
      {
        default: {},
        description:
          "Model files by role (`model`, `encoder`, `tokens`, …). Needed only if their names are unusual or ambiguous.",
      },
    ),
    languages: Type.Optional(
      Type.Array(language, {
        minItems: 1,
        maxItems: 200,
        description:
          "Languages that the model speaks or understands. Absent: the languages declared in its files, or any if they declare none.",
      }),
    ),
    voices: Type.Optional(
      Type.Record(Type.String({ minLength: 1, maxLength: 256 }), voice, {
        minProperties: 1,
        description: "Names of a synthesis model's speakers. Absent: the model's own names, or the speakers' numbers.",
      }),
    ),
    speakers: Type.Optional(speakers),
    threads: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1024,
        description:
          "Number of CPU threads for one phrase or speech segment. Several shorten a call on an idle machine, and take more CPU time in total. Absent: 1.",
      }),
    ),
    processes: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 64,
        default: 1,
        description: "Number of processes that work concurrently; each loads the whole model into memory.",
      }),
    ),
    queue_limit: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 100_000,
        default: 64,
        description: "Maximum number of calls that wait for a process; more fail with 503.",
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
      description: "The engine's models, by name.",
    }),
  },
  {
    additionalProperties: false,
    description: "ONNX models for speech synthesis or transcription, run by sherpa-onnx in separate processes.",
  },
);
export type SherpaOnnxEngineSettings = Static<typeof sherpaOnnxEngineSettings>;
