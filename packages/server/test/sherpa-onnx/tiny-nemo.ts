/** Networks in the forms of NVIDIA's NeMo: CTC, and a transducer that predicts the duration of its tokens (TDT, Parakeet). */
import { floats, integers, node, type OnnxModel } from "./onnx-file.ts";
import { bands, detect, penalties, shortened, slaneyBand, transposed } from "./tiny-networks.ts";
import { tokens } from "./spoken-tones.ts";

/** The first is the unknown token, the last is the blank. */
export const nemoTokens = ["<unk>", ...tokens.slice(1), "<blk>"];
const size = nemoTokens.length;
const hearing = { scale: slaneyBand, threshold: -2, columns: nemoTokens };
const metadata = { subsampling_factor: 4, normalize_type: "NA" };

export function nemoCtc(): OnnxModel {
  const { nodes, weights } = detect("x", hearing);
  return {
    inputs: [
      ["audio_signal", "float", ["N", bands, "T"]],
      ["length", "int64", ["N"]],
    ],
    outputs: [["logprobs", "float", ["N", "S", size]]],
    nodes: [transposed("audio_signal", "x"), ...nodes, node("LogSoftmax", ["logits"], "logprobs", { axis: 2 })],
    weights,
    metadata: { ...metadata, model_type: "EncDecCTCModelBPE", vocab_size: size },
  };
}

export function nemoEncoder(): OnnxModel {
  const { nodes, weights } = detect("x", { ...hearing, scale: (frequency) => slaneyBand(frequency, 7_600) });
  const lengths = shortened("length");
  return {
    inputs: [
      ["audio_signal", "float", ["N", bands, "T"]],
      ["length", "int64", ["N"]],
    ],
    outputs: [
      ["outputs", "float", ["N", size, "S"]],
      ["encoded_lengths", "int64", ["N"]],
    ],
    nodes: [
      transposed("audio_signal", "x"),
      ...nodes,
      transposed("logits", "outputs"),
      ...lengths.nodes,
      node("Identity", ["lens"], "encoded_lengths"),
    ],
    weights: { ...weights, ...lengths.weights },
    metadata: {
      ...metadata,
      model_type: "EncDecRNNTBPEModel",
      url: "https://huggingface.co/nvidia/parakeet-tdt-0.6b-v2",
      // Without the blank.
      vocab_size: size - 1,
      pred_rnn_layers: 1,
      pred_hidden: 2,
    },
  };
}

export function nemoDecoder(): OnnxModel {
  const state = [1, "N", 2] as const;
  return {
    inputs: [
      ["targets", "int32", ["N", 1]],
      ["target_length", "int32", ["N"]],
      ["states.1", "float", state],
      ["onnx::Slice_3", "float", state],
    ],
    outputs: [
      ["outputs", "float", ["N", size, 1]],
      ["prednet_lengths", "int32", ["N"]],
      ["states", "float", state],
      ["162", "float", state],
    ],
    nodes: [
      node("Gather", ["penalties", "targets"], "penalty"),
      transposed("penalty", "outputs"),
      node("Identity", ["target_length"], "prednet_lengths"),
      node("Identity", ["states.1"], "states"),
      node("Identity", ["onnx::Slice_3"], "162"),
    ],
    weights: { penalties: floats([size, size], penalties(nemoTokens)) },
  };
}

/** After the tokens' logits, those of the number of frames to advance: always one. */
export function nemoJoiner(): OnnxModel {
  const steps = [0, 1, 0, 0, 0];
  return {
    inputs: [
      ["encoder_outputs", "float", ["N", size, 1]],
      ["decoder_outputs", "float", ["N", size, 1]],
    ],
    outputs: [["outputs", "float", [1, 1, 1, size + steps.length]]],
    nodes: [
      node("Add", ["encoder_outputs", "decoder_outputs"], "sum"),
      node("Reshape", ["sum", "shape"], "token_logits"),
      node("Concat", ["token_logits", "steps"], "outputs", { axis: 3 }),
    ],
    weights: { shape: integers([4], [1, 1, 1, size]), steps: floats([1, 1, 1, steps.length], steps) },
  };
}
