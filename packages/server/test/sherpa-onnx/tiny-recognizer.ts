/** Tiny recognizers of the tones in spoken-tones.ts: the real library computes their features and decodes them. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { SherpaOnnxKind } from "../../src/config/engines/sherpa-onnx.ts";
import { encodeOnnx, floats, integers, node, type OnnxModel, type OnnxNode, type TensorSpec } from "./onnx-file.ts";
import { tokens } from "./spoken-tones.ts";
import {
  moonshineCachedDecoder,
  moonshineEncoder,
  moonshinePreprocessor,
  moonshineTokens,
  moonshineUncachedDecoder,
} from "./tiny-moonshine.ts";
import { nemoCtc, nemoDecoder, nemoEncoder, nemoJoiner, nemoTokens } from "./tiny-nemo.ts";
import { bands, detect, kaldiBand, penalties, shortened, vocabulary } from "./tiny-networks.ts";
import { senseVoice, senseVoiceTokens } from "./tiny-sense-voice.ts";
import { whisperDecoder, whisperEncoder, whisperTokens } from "./tiny-whisper.ts";

const hearing = { scale: kaldiBand, threshold: 3 };
const lengths = shortened("x_lens");

const features: TensorSpec = ["x", "float", ["N", "T", bands]];
const featureLengths: TensorSpec = ["x_lens", "int64", ["N"]];

function encoder(): OnnxModel {
  const { nodes, weights } = detect("x", hearing);
  return {
    inputs: [features, featureLengths],
    outputs: [
      ["encoder_out", "float", ["N", "S", vocabulary]],
      ["encoder_out_lens", "int64", ["N"]],
    ],
    nodes: [
      ...nodes,
      node("Identity", ["logits"], "encoder_out"),
      ...lengths.nodes,
      node("Identity", ["lens"], "encoder_out_lens"),
    ],
    weights: { ...weights, ...lengths.weights },
  };
}

/** Subtracts from the last token what would repeat it. */
function decoder(): OnnxModel {
  return {
    inputs: [["y", "int64", ["N", 1]]],
    outputs: [["decoder_out", "float", ["N", vocabulary]]],
    nodes: [node("Squeeze", ["y", "last_axis"], "token"), node("Gather", ["penalties", "token"], "decoder_out")],
    weights: { last_axis: integers([1], [1]), penalties: floats([vocabulary, vocabulary], penalties()) },
    metadata: { vocab_size: vocabulary, context_size: 1 },
  };
}

function joiner(): OnnxModel {
  return {
    inputs: [
      ["encoder_out", "float", ["N", vocabulary]],
      ["decoder_out", "float", ["N", vocabulary]],
    ],
    outputs: [["logit", "float", ["N", vocabulary]]],
    nodes: [node("Add", ["encoder_out", "decoder_out"], "logit")],
    metadata: { joiner_dim: vocabulary },
  };
}

/** The state of a one-layer streaming Zipformer between two chunks; ours passes it on unchanged. */
const states: TensorSpec[] = [
  ["cached_key_0", "float", [2, "N", 1]],
  ["cached_nonlin_attn_0", "float", [1, "N", 2, 3]],
  ["cached_val1_0", "float", [2, "N", 1]],
  ["cached_val2_0", "float", [2, "N", 1]],
  ["cached_conv1_0", "float", ["N", 4, 1]],
  ["cached_conv2_0", "float", ["N", 4, 1]],
  ["embed_states", "float", ["N", 128, 3, 19]],
  ["processed_lens", "int64", ["N"]],
];
/** Frames of features in a chunk. */
const chunk = 32;
const streamingMetadata = {
  model_type: "zipformer2",
  encoder_dims: 4,
  query_head_dims: 1,
  value_head_dims: 1,
  num_heads: 1,
  num_encoder_layers: 1,
  cnn_module_kernels: 3,
  left_context_len: 2,
  T: chunk,
  decode_chunk_len: chunk,
};

function streaming(output: string, made: OnnxNode): OnnxModel {
  const { nodes, weights } = detect("x", { ...hearing, length: chunk });
  return {
    inputs: [["x", "float", ["N", chunk, bands]], ...states],
    outputs: [
      [output, "float", ["N", chunk / 4, vocabulary]],
      ...states.map(([name, type, dims]): TensorSpec => [`new_${name}`, type, dims]),
    ],
    nodes: [...nodes, made, ...states.map(([name]) => node("Identity", [name], `new_${name}`))],
    weights,
    metadata: streamingMetadata,
  };
}

function zipformerCtc(): OnnxModel {
  const { nodes, weights } = detect("x", hearing);
  return {
    inputs: [features, featureLengths],
    outputs: [
      ["log_probs", "float", ["N", "S", vocabulary]],
      ["log_probs_len", "int64", ["N"]],
    ],
    nodes: [
      ...nodes,
      node("LogSoftmax", ["logits"], "log_probs", { axis: 2 }),
      ...lengths.nodes,
      node("Identity", ["lens"], "log_probs_len"),
    ],
    weights: { ...weights, ...lengths.weights },
    metadata: { model_type: "zipformer2_ctc" },
  };
}

/** Files by the names that released models have. */
interface Release {
  readonly networks: Readonly<Record<string, () => OnnxModel>>;
  /** Lines of tokens.txt. */
  readonly tokens: readonly string[];
  readonly tokensFile?: string;
}

function numbered(names: readonly string[]): string[] {
  return names.map((name, index) => `${name} ${index}\n`);
}

const transducer = { "decoder.onnx": decoder, "joiner.onnx": joiner };
const usual = { tokens: numbered(tokens) };

function whisper(words: boolean): Release {
  return {
    networks: {
      "tiny-encoder.int8.onnx": () => whisperEncoder(words),
      "tiny-decoder.int8.onnx": () => whisperDecoder(words),
    },
    tokens: whisperTokens,
    tokensFile: "tiny-tokens.txt",
  };
}

const releases = {
  zipformer_ctc: { ...usual, networks: { "model.onnx": zipformerCtc } },
  transducer: { ...usual, networks: { "encoder.onnx": encoder, ...transducer } },
  streaming_transducer: {
    ...usual,
    networks: {
      "encoder.onnx": () => streaming("encoder_out", node("Identity", ["logits"], "encoder_out")),
      ...transducer,
    },
  },
  streaming_zipformer_ctc: {
    ...usual,
    networks: {
      "model.onnx": () => streaming("log_probs", node("LogSoftmax", ["logits"], "log_probs", { axis: 2 })),
    },
  },
  nemo_ctc: { networks: { "model.int8.onnx": nemoCtc }, tokens: numbered(nemoTokens) },
  nemo_transducer: {
    networks: {
      "encoder.int8.onnx": nemoEncoder,
      "decoder.int8.onnx": nemoDecoder,
      "joiner.int8.onnx": nemoJoiner,
    },
    tokens: numbered(nemoTokens),
  },
  sense_voice: { networks: { "model.int8.onnx": senseVoice }, tokens: numbered(senseVoiceTokens) },
  whisper: whisper(false),
  whisper_with_words: whisper(true),
  moonshine: {
    networks: {
      "preprocess.onnx": moonshinePreprocessor,
      "encode.int8.onnx": moonshineEncoder,
      "uncached_decode.int8.onnx": moonshineUncachedDecoder,
      "cached_decode.int8.onnx": moonshineCachedDecoder,
    },
    tokens: numbered(moonshineTokens),
  },
} satisfies Partial<Record<SherpaOnnxKind | "whisper_with_words", Release>>;

export type TinyRecognizer = keyof typeof releases;

/** Writes a recognizer into a folder. */
export async function writeTinyRecognizer(folder: string, name: TinyRecognizer): Promise<void> {
  await mkdir(folder, { recursive: true });
  const release: Release = releases[name];
  for (const [file, model] of Object.entries(release.networks)) {
    await writeFile(join(folder, file), encodeOnnx(model()));
  }
  await writeFile(join(folder, release.tokensFile ?? "tokens.txt"), release.tokens.join(""));
}
