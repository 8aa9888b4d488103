/**
 * Converts a model's files and settings to the library's configuration.
 * https://github.com/k2-fsa/sherpa-onnx/tree/master/scripts/node-addon-api/lib
 */
import type { SherpaOnnxKind, SherpaOnnxModelSettings } from "../../config/engines/sherpa-onnx.ts";
import { modelKinds } from "../../model-files/model-kinds.ts";
import type { LoadSettings, SpeakerSettings } from "./protocol.ts";
import type { ResolvedModel } from "./resolve-model.ts";

type Parts = ResolvedModel["parts"];

/** The sample rate of recognizers, in hertz. */
export const recognitionRate = 16_000;
/** More threads take 41 to 77 % more CPU time for the same audio, and are slower as soon as other calls want the cores. */
const defaultThreads = 1;
/** Seconds; the library's own choices. */
const shortestTurn = 0.3;
const shortestPauseInTurn = 0.5;
/** From one frame of features to the next. */
const frameSeconds = 0.01;
/** Fraction of a voice's pauses within and after a phrase that is kept; the library's default. */
const silenceScale = 0.2;

/**
 * Whisper needs some seconds after the speech to end its text. The library can fill them with a constant level, but Whisper
 * learned from silence and then rarely ends too early; and the library limits its tokens by the length of the samples.
 */
const whisperPadding = { silenceSeconds: 9.5, frames: 50 };

type FilesOf = (parts: Parts) => Record<string, unknown>;

const transducer: FilesOf = ({ encoder, decoder, joiner }) => ({ transducer: { encoder, decoder, joiner } });

const modelFiles: Readonly<Record<SherpaOnnxKind, FilesOf>> = {
  vits: ({ model, tokens, lexicon, data_dir: dataDir }) => ({ vits: { model, tokens, lexicon, dataDir } }),
  matcha: ({ acoustic_model: acousticModel, vocoder, tokens, lexicon, data_dir: dataDir }) => ({
    matcha: { acousticModel, vocoder, tokens, lexicon, dataDir },
  }),
  kokoro: ({ model, voices, tokens, lexicon, data_dir: dataDir }) => ({
    kokoro: { model, voices, tokens, lexicon, dataDir },
  }),
  kitten: ({ model, voices, tokens, data_dir: dataDir }) => ({ kitten: { model, voices, tokens, dataDir } }),
  // Without times of sentences, Whisper drops some of several, and does not show how far it came.
  whisper: ({ encoder, decoder }) => ({
    whisper: { encoder, decoder, task: "transcribe", enableSegmentTimestamps: 1, tailPaddings: whisperPadding.frames },
  }),
  moonshine: ({ preprocessor, encoder, uncached_decoder: uncachedDecoder, cached_decoder: cachedDecoder }) => ({
    moonshine: { preprocessor, encoder, uncachedDecoder, cachedDecoder },
  }),
  sense_voice: ({ model }) => ({ senseVoice: { model, useInverseTextNormalization: 1 } }),
  transducer: (parts) => ({ ...transducer(parts), modelType: "transducer" }),
  nemo_transducer: (parts) => ({ ...transducer(parts), modelType: "nemo_transducer" }),
  nemo_ctc: ({ model }) => ({ nemoCtc: { model } }),
  zipformer_ctc: ({ model }) => ({ zipformerCtc: { model } }),
  streaming_transducer: transducer,
  streaming_zipformer_ctc: ({ model }) => ({ zipformer2Ctc: { model } }),
};

/** What the model's process needs to load it. */
export function loadSettings(
  settings: SherpaOnnxModelSettings,
  { parts, metadata, speakerModels }: ResolvedModel,
): LoadSettings {
  const { kind } = settings;
  const { task } = modelKinds[kind];
  const numThreads = settings.threads ?? defaultThreads;
  const files = modelFiles[kind](parts);
  const common = { numThreads, provider: "cpu", debug: 0 };
  if (task === "speech") {
    const config = { model: { ...files, ...common }, maxNumSentences: 1, silenceScale, ruleFsts: parts["rule_fsts"] };
    return { task, config };
  }
  const wordTimes = kind === "whisper" && givesWordTimes(kind, metadata);
  const modelConfig = {
    ...files,
    ...(wordTimes ? { whisper: { ...(files["whisper"] as object), enableTokenTimestamps: 1 } } : {}),
    ...common,
    tokens: parts["tokens"],
  };
  const config = { featConfig: { sampleRate: recognitionRate, featureDim: 80 }, modelConfig };
  const chunkFrames = Number(metadata.get("decode_chunk_len") ?? 0);
  return {
    task,
    config,
    ...(kind === "whisper" ? { languageSetting: "whisper", silenceSeconds: whisperPadding.silenceSeconds } : {}),
    ...(speakerModels === undefined ? {} : { speakers: speakerSettings(speakerModels, settings) }),
    ...(chunkFrames > 0 ? { chunkSeconds: chunkFrames * frameSeconds } : {}),
  };
}

function speakerSettings(
  { segmentation, embedding }: NonNullable<ResolvedModel["speakerModels"]>,
  { speakers, threads }: SherpaOnnxModelSettings,
): SpeakerSettings {
  const numThreads = threads ?? defaultThreads;
  const common = { numThreads, provider: "cpu", debug: 0 };
  const ofEmbedding = { model: embedding, ...common };
  return {
    embedding: ofEmbedding,
    diarization: {
      segmentation: { pyannote: { model: segmentation }, ...common },
      embedding: ofEmbedding,
      clustering: { numClusters: -1, threshold: speakers?.threshold },
      minDurationOn: shortestTurn,
      minDurationOff: shortestPauseInTurn,
    },
  };
}

/** Whether the model returns token times: Whisper only if it was exported with its alignment heads. */
export function givesWordTimes(kind: SherpaOnnxKind, metadata: ResolvedModel["metadata"]): boolean {
  if (kind === "moonshine") return false;
  return kind !== "whisper" || Number(metadata.get("n_alignment_heads") ?? 0) > 0;
}
