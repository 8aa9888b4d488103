/**
 * Describes the kinds of sherpa-onnx models: their task, their files, and the names under which these are released.
 * https://k2-fsa.github.io/sherpa/onnx/pretrained_models/index.html, https://k2-fsa.github.io/sherpa/onnx/tts/pretrained_models/index.html
 */
import type { SherpaOnnxKind } from "../config/engines/sherpa-onnx.ts";

export interface ModelPart {
  /** Patterns of file names in order of preference; the first pattern that matches a file selects it. */
  readonly names: readonly RegExp[];
  /** A folder in place of a file. */
  readonly folder?: true;
  /** May be absent. */
  readonly optional?: true;
  /** May be several files; all that fit. */
  readonly several?: true;
}

export interface ModelKind {
  /** Whether a transcription model processes one speech segment at a time or streams. */
  readonly task: "speech" | "segments" | "streams";
  readonly parts: Readonly<Record<string, ModelPart>>;
  /** The part whose metadata describes the model. */
  readonly main: string;
}

/** Quantized files are smaller and faster, and nearly as accurate. */
function onnx(stem: string): ModelPart {
  return {
    names: [new RegExp(`(?:^|-)${stem}.*int8.*\\.(?:onnx|ort)$`), new RegExp(`(?:^|-)${stem}.*\\.(?:onnx|ort)$`)],
  };
}

const tokens: ModelPart = { names: [/(?:^|-)tokens\.txt$/] };
const anyModel: ModelPart = { names: [/^model.*int8.*\.onnx$/, /^model.*\.onnx$/, /\.onnx$/] };
const espeakData: ModelPart = { names: [/^espeak-ng-data$/], folder: true, optional: true };
const lexicon: ModelPart = { names: [/^lexicon.*\.txt$/], optional: true, several: true };
/** Rules that write out numbers and dates: used where the configuration names them, since releases have many for one language each. */
const ruleFsts: ModelPart = { names: [], optional: true, several: true };
const voices: ModelPart = { names: [/^voices\.bin$/] };

const transducerParts = { encoder: onnx("encoder"), decoder: onnx("decoder"), joiner: onnx("joiner"), tokens };

export const modelKinds: Readonly<Record<SherpaOnnxKind, ModelKind>> = {
  vits: {
    task: "speech",
    main: "model",
    parts: { model: anyModel, tokens, lexicon, data_dir: espeakData, rule_fsts: ruleFsts },
  },
  matcha: {
    task: "speech",
    main: "acoustic_model",
    parts: {
      acoustic_model: { names: [/^model.*\.onnx$/] },
      vocoder: { names: [/^(?:vocos|hifigan).*\.onnx$/] },
      tokens,
      lexicon,
      data_dir: espeakData,
      rule_fsts: ruleFsts,
    },
  },
  kokoro: {
    task: "speech",
    main: "model",
    parts: { model: anyModel, voices, tokens, lexicon, data_dir: espeakData, rule_fsts: ruleFsts },
  },
  kitten: {
    task: "speech",
    main: "model",
    parts: { model: anyModel, voices, tokens, data_dir: espeakData, rule_fsts: ruleFsts },
  },
  whisper: {
    task: "segments",
    main: "encoder",
    parts: { encoder: onnx("encoder"), decoder: onnx("decoder"), tokens },
  },
  moonshine: {
    task: "segments",
    main: "encoder",
    parts: {
      preprocessor: { names: [/^preprocess.*\.onnx$/] },
      encoder: onnx("encode"),
      uncached_decoder: onnx("uncached_decode"),
      cached_decoder: { names: [/^cached_decode.*int8.*\.onnx$/, /^cached_decode.*\.onnx$/] },
      tokens,
    },
  },
  sense_voice: { task: "segments", main: "model", parts: { model: anyModel, tokens } },
  transducer: { task: "segments", main: "encoder", parts: transducerParts },
  nemo_transducer: { task: "segments", main: "encoder", parts: transducerParts },
  nemo_ctc: { task: "segments", main: "model", parts: { model: anyModel, tokens } },
  zipformer_ctc: { task: "segments", main: "model", parts: { model: anyModel, tokens } },
  streaming_transducer: { task: "streams", main: "encoder", parts: transducerParts },
  streaming_zipformer_ctc: {
    task: "streams",
    main: "model",
    parts: { model: { names: [/^ctc.*int8.*\.onnx$/, /^ctc.*\.onnx$/, ...anyModel.names] }, tokens },
  },
};
