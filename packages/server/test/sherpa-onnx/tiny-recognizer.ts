/**
 * Tiny recognisers of the tones in spoken-tones.ts: the real library computes their features and decodes them. The
 * networks look at one band of the features for each token, and for nothing at a level between silence and a tone.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { SherpaOnnxKind } from "../../src/config/engines/sherpa-onnx.ts";
import { encodeOnnx, floats, integers, node, type OnnxModel, type OnnxNode, type TensorSpec } from "./onnx-file.ts";
import { tokens, toneOf } from "./spoken-tones.ts";

const bands = 80;
const vocabulary = tokens.length;

/** Kaldi's mel scale from 20 to 7 600 Hz, as the library sets it. */
function bandOf(frequency: number): number {
  const mel = (hertz: number): number => 1127 * Math.log(1 + hertz / 700);
  const step = (mel(7_600) - mel(20)) / (bands + 1);
  return Math.round((mel(frequency) - mel(20)) / step) - 1;
}

/** From features to logits: one column for each token. */
function detectorWeights(inputs = bands, offset = 0): number[] {
  const weights = Array.from({ length: inputs * vocabulary }, () => 0);
  for (const [index, token] of tokens.entries()) {
    if (token !== "<blk>") weights[(offset + bandOf(toneOf[token])) * vocabulary + index] = 1;
  }
  return weights;
}

/** Of a tone's band in dB-like units of the natural logarithm: silence has −16, the voice 0, a tone 6. */
const threshold = 3;

const detector = {
  weights: floats([bands, vocabulary], detectorWeights()),
  bias: floats([vocabulary], [threshold, ...Array.from({ length: vocabulary - 1 }, () => 0)]),
};

/** Every fourth frame of `x`, as far as `length` goes, to logits. */
function detect(length: number): { nodes: OnnxNode[]; weights: NonNullable<OnnxModel["weights"]> } {
  return {
    nodes: [
      node("Slice", ["x", "from", "to", "time_axis", "step"], "frames"),
      node("MatMul", ["frames", "detector"], "levels"),
      node("Add", ["levels", "bias"], "logits"),
    ],
    weights: {
      from: integers([1], [0]),
      to: integers([1], [length]),
      time_axis: integers([1], [1]),
      step: integers([1], [4]),
      detector: detector.weights,
      bias: detector.bias,
    },
  };
}

/** Frames of the encoder for so many of the features. */
const shortened = {
  nodes: [node("Add", ["x_lens", "three"], "padded_lens"), node("Div", ["padded_lens", "four"], "lens")],
  weights: { three: integers([], [3]), four: integers([], [4]) },
};

const features: TensorSpec = ["x", "float", ["N", "T", bands]];
const featureLengths: TensorSpec = ["x_lens", "int64", ["N"]];

function encoder(): OnnxModel {
  const { nodes, weights } = detect(1_000_000);
  return {
    inputs: [features, featureLengths],
    outputs: [
      ["encoder_out", "float", ["N", "S", vocabulary]],
      ["encoder_out_lens", "int64", ["N"]],
    ],
    nodes: [
      ...nodes,
      node("Identity", ["logits"], "encoder_out"),
      ...shortened.nodes,
      node("Identity", ["lens"], "encoder_out_lens"),
    ],
    weights: { ...weights, ...shortened.weights },
  };
}

/** Takes from the token that was last what would say it again. */
function decoder(): OnnxModel {
  const penalties = Array.from({ length: vocabulary ** 2 }, (_, index) =>
    index > 0 && index % (vocabulary + 1) === 0 ? -50 : 0,
  );
  return {
    inputs: [["y", "int64", ["N", 1]]],
    outputs: [["decoder_out", "float", ["N", vocabulary]]],
    nodes: [node("Squeeze", ["y", "last_axis"], "token"), node("Gather", ["penalties", "token"], "decoder_out")],
    weights: { last_axis: integers([1], [1]), penalties: floats([vocabulary, vocabulary], penalties) },
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

/** What a streaming Zipformer of one layer remembers between two chunks; ours hands it on as it is. */
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
  const { nodes, weights } = detect(chunk);
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
  const { nodes, weights } = detect(1_000_000);
  return {
    inputs: [features, featureLengths],
    outputs: [
      ["log_probs", "float", ["N", "S", vocabulary]],
      ["log_probs_len", "int64", ["N"]],
    ],
    nodes: [
      ...nodes,
      node("LogSoftmax", ["logits"], "log_probs", { axis: 2 }),
      ...shortened.nodes,
      node("Identity", ["lens"], "log_probs_len"),
    ],
    weights: { ...weights, ...shortened.weights },
    metadata: { model_type: "zipformer2_ctc" },
  };
}

const transducer = { "decoder.onnx": decoder, "joiner.onnx": joiner };

/** Files by the names that released models have. */
const files: Partial<Record<SherpaOnnxKind, Readonly<Record<string, () => OnnxModel>>>> = {
  zipformer_ctc: { "model.onnx": zipformerCtc },
  transducer: { "encoder.onnx": encoder, ...transducer },
  streaming_transducer: {
    "encoder.onnx": () => streaming("encoder_out", node("Identity", ["logits"], "encoder_out")),
    ...transducer,
  },
  streaming_zipformer_ctc: {
    "model.onnx": () => streaming("log_probs", node("LogSoftmax", ["logits"], "log_probs", { axis: 2 })),
  },
};

/** Writes a recogniser into a folder. */
export async function writeTinyRecognizer(folder: string, kind: SherpaOnnxKind): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const [name, model] of Object.entries(files[kind]!)) await writeFile(join(folder, name), encodeOnnx(model()));
  await writeFile(join(folder, "tokens.txt"), tokens.map((token, index) => `${token} ${index}\n`).join(""));
}
