/** The encoder of Whisper for sherpa-onnx: from the spectrum to the keys and values that the decoder attends to. */
import type { Architecture, Convolution } from "./architecture.ts";
import { GraphBuilder } from "./graph-builder.ts";
import type { Network } from "./onnx-file.ts";
import { Transformer } from "./transformer.ts";
import type { WeightsFile } from "./weights-file.ts";

/** @param metadata what sherpa-onnx reads to know the model */
export function encoderNetwork(
  weights: WeightsFile,
  { width, mels, encoder, decoder }: Architecture,
  metadata: ReadonlyMap<string, string>,
): Network {
  const graph = new GraphBuilder(weights);
  const transformer = new Transformer(graph, { heads: encoder.heads, width });
  const [first, second] = encoder.convolutions;
  const convolve = (x: string, { weight, bias }: Convolution, stride: number): string => {
    const attributes = { kernel_shape: [3], pads: [1, 1], strides: [stride] };
    return transformer.gelu(graph.operation("Conv", [x, graph.tensor(weight), graph.tensor(bias)], attributes));
  };
  const convolved = convolve(convolve("mel", first, 1), second, 2);
  let x = graph.operation("Transpose", [convolved], { perm: [0, 2, 1] });
  const length = transformer.sizeOf(x, 1);
  const positions = transformer.slice(graph.tensor(encoder.positions), graph.integers(0), length, 0);
  x = graph.operation("Add", [x, positions]);
  for (const { attention, feedForward } of encoder.layers) {
    const { result } = transformer.attend(...transformer.selfInputs(x, attention));
    x = graph.operation("Add", [x, transformer.linear(result, attention.linear[1]!)]);
    x = transformer.feedForward(x, feedForward);
  }
  x = transformer.normalize(x, encoder.normalization);
  const all: [keys: string[], values: string[]] = [[], []];
  for (const { cross } of decoder.layers) {
    const parts = transformer.split(transformer.linear(x, cross.linear[1]!), 2);
    for (const [index, part] of parts.entries())
      all[index]!.push(graph.operation("Unsqueeze", [part, graph.integers(0)]));
  }
  const names = ["n_layer_cross_k", "n_layer_cross_v"];
  for (const [index, name] of names.entries()) graph.operations("Concat", all[index]!, [name], { axis: 0 });
  return graph.network(
    [{ name: "mel", type: "float", shape: ["n_audio", mels, "T"] }],
    names.map((name) => ({ name, type: "float", shape: [decoder.layers.length, "n_audio", "T2", width] })),
    metadata,
  );
}
