/**
 * Networks in the form of Moonshine, which reads samples: a filter for each tone replaces the features. The decoder emits
 * every detected token once, in numerical order, and then the end.
 */
import { floats, integers, node, type OnnxModel, type OnnxNode, type TensorSpec } from "./onnx-file.ts";
import { identity } from "./tiny-networks.ts";
import { recordingRate, tokens, toneOf, type Token } from "./spoken-tones.ts";

export const moonshineTokens = ["<unk>", "<s>", "</s>", ...tokens.slice(1)];
const size = moonshineTokens.length;
const window = 640;
/** The library counts a frame for this many samples. */
const step = 384;

/** Cosine and sine of each token's tone; zero for those without one. */
function filters(): number[] {
  return [Math.cos, Math.sin].flatMap((wave) =>
    moonshineTokens.flatMap((name) =>
      Array.from({ length: window }, (_, index) =>
        name in toneOf ? (wave((2 * Math.PI * toneOf[name as Token] * index) / recordingRate) * 2) / window : 0,
      ),
    ),
  );
}

export function moonshinePreprocessor(): OnnxModel {
  return {
    inputs: [["args_0", "float", [1, "samples"]]],
    outputs: [["sequential", "float", [1, "T", size]]],
    nodes: [
      node("Unsqueeze", ["args_0", "channel_axis"], "sound"),
      node("Conv", ["sound", "filters"], "waves", { strides: [step], kernel_shape: [window] }),
      node("Mul", ["waves", "waves"], "powers"),
      node("Slice", ["powers", "none", "count", "channel_axis"], "cosines"),
      node("Slice", ["powers", "count", "all", "channel_axis"], "sines"),
      node("Add", ["cosines", "sines"], "power"),
      node("Sqrt", ["power"], "levels"),
      node("Transpose", ["levels"], "sequential", { perm: [0, 2, 1] }),
    ],
    weights: {
      filters: floats([2 * size, 1, window], filters()),
      channel_axis: integers([1], [1]),
      none: integers([1], [0]),
      count: integers([1], [size]),
      all: integers([1], [2 * size]),
    },
  };
}

export function moonshineEncoder(): OnnxModel {
  return {
    inputs: [
      ["args_0", "float", [1, "T", size]],
      ["args_1", "int32", [1]],
    ],
    outputs: [["layer_normalization", "float", [1, "T", size]]],
    nodes: [node("Identity", ["args_0"], "layer_normalization")],
  };
}

const weights = {
  identity: floats([size, size], identity(size)),
  after: floats(
    [size, size],
    identity(size).map((each) => each * -50),
  ),
  // Tones have the level 0.2; at their frequency the voice has a tenth of it.
  bias: floats(
    [size],
    moonshineTokens.map((name, index) => (name === "</s>" ? 0.1 : -0.0001 * index)),
  ),
  most: floats([], [0.15]),
  least: floats([], [0]),
};

function decoder(said: readonly OnnxNode[], states: readonly TensorSpec[]): OnnxModel {
  return {
    inputs: [["args_0", "int32", [1, 1]], ["args_1", "float", [1, "T", size]], ["args_2", "int32", [1]], ...states],
    outputs: [
      ["reversible_embedding", "float", [1, 1, size]],
      ["said", "float", [1, 1, size]],
    ],
    nodes: [
      node("Gather", ["identity", "args_0"], "now"),
      ...said,
      node("MatMul", ["said", "after"], "penalty"),
      node("ReduceMax", ["args_1"], "heard", { axes: [1] }),
      node("Clip", ["heard", "least", "most"], "clear"),
      node("Add", ["clear", "bias"], "likely"),
      node("Add", ["likely", "penalty"], "reversible_embedding"),
    ],
    weights,
  };
}

export function moonshineUncachedDecoder(): OnnxModel {
  return decoder([node("Identity", ["now"], "said")], []);
}

export function moonshineCachedDecoder(): OnnxModel {
  return decoder([node("Max", ["now", "earlier"], "said")], [["earlier", "float", [1, 1, size]]]);
}
