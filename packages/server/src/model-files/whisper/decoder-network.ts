/**
 * The decoder of Whisper for sherpa-onnx: from tokens to the next ones, with the keys and values of earlier tokens as input and
 * output, and with the weights of the heads that follow the audio, from which come the times of words.
 */
import type { Architecture } from "./architecture.ts";
import { GraphBuilder } from "./graph-builder.ts";
import type { Network, Value } from "./onnx-file.ts";
import { Transformer } from "./transformer.ts";
import type { WeightsFile } from "./weights-file.ts";

/** The bits of -60,000 as a half-precision float: no weight remains. */
const forbidden = 0xfb53;

export function decoderNetwork(
  weights: WeightsFile,
  { width, context, decoder }: Architecture,
  vocabularySize: number,
): Network {
  const graph = new GraphBuilder(weights);
  const transformer = new Transformer(graph, { heads: decoder.heads, width });
  const zero = graph.integers(0);
  // One matrix is the input's embedding and the output's.
  const { embeddings } = decoder;
  const matrix = graph.matrix(embeddings.weight, embeddings.scale);
  const columns = graph.operation("Gather", [matrix.values, "tokens"], { axis: 1 });
  const rows = graph.operation("Cast", [graph.operation("Transpose", [columns], { perm: [1, 2, 0] })], { to: 1 });
  const scales = graph.operation("Gather", [matrix.scales, "tokens"], { axis: 0 });
  let x = graph.operation("Mul", [rows, graph.operation("Unsqueeze", [scales, graph.integers(2)])]);
  const end = graph.operation("Add", ["offset", transformer.sizeOf("tokens", 1)]);
  x = graph.operation("Add", [x, transformer.slice(graph.tensor(decoder.positions), "offset", end, 0)]);
  const facts = { type: "float16", shape: [context, context], byteLength: 2 * context * context } as const;
  const wholeMask = graph.computed("mask", facts, () => laterTokens(context));
  const mask = transformer.slice(transformer.slice(wholeMask, "offset", end, 0), zero, end, 1);
  const asFloat = graph.operation("Cast", [mask], { to: 1 });
  const caches: [keys: string[], values: string[]] = [[], []];
  const followed: string[] = [];
  for (const [layer, { attention, cross, feedForward }] of decoder.layers.entries()) {
    const [queries, ...added] = transformer.selfInputs(x, attention);
    const [keys, values] = added.map((part, index) => {
      const name = ["in_n_layer_self_k_cache", "in_n_layer_self_v_cache"][index]!;
      const cache = graph.operation("Gather", [name, graph.integer(layer)], { axis: 0 });
      const all = graph.operation("Concat", [transformer.slice(cache, zero, "offset", 1), part], { axis: 1 });
      const rest = transformer.slice(cache, end, graph.integers(context), 1);
      const whole = graph.operation("Concat", [all, rest], { axis: 1 });
      caches[index]!.push(graph.operation("Unsqueeze", [whole, zero]));
      return all;
    }) as [string, string];
    const own = transformer.attend(queries, keys, values, asFloat);
    x = graph.operation("Add", [x, transformer.linear(own.result, attention.linear[1]!)]);
    const asked = transformer.linear(transformer.normalize(x, cross.normalization), cross.linear[0]!);
    const [audioKeys, audioValues] = ["n_layer_cross_k", "n_layer_cross_v"].map((name) =>
      graph.operation("Gather", [name, graph.integer(layer)], { axis: 0 }),
    ) as [string, string];
    const heard = transformer.attend(asked, audioKeys, audioValues);
    const heads = decoder.alignment.filter(([of]) => of === layer).map(([, head]) => head);
    if (heads.length > 0)
      followed.push(graph.operation("Gather", [heard.weights, graph.integers(...heads)], { axis: 1 }));
    x = graph.operation("Add", [x, transformer.linear(heard.result, cross.linear[2]!)]);
    x = transformer.feedForward(x, feedForward);
  }
  const logits = graph.multiply(transformer.normalize(x, decoder.normalization), matrix);
  graph.operations("Identity", [logits], ["logits"]);
  graph.operations("Concat", caches[0], ["out_n_layer_self_k_cache"], { axis: 0 });
  graph.operations("Concat", caches[1], ["out_n_layer_self_v_cache"], { axis: 0 });
  graph.operations("Concat", followed, ["cross_attention_weights"], { axis: 1 });
  const layers = decoder.layers.length;
  const cache = (name: string): Value => ({ name, type: "float", shape: [layers, "n_audio", context, width] });
  const audio = (name: string): Value => ({ name, type: "float", shape: [layers, "n_audio", "T", width] });
  return graph.network(
    [
      { name: "tokens", type: "int64", shape: ["n_audio", "n_tokens"] },
      cache("in_n_layer_self_k_cache"),
      cache("in_n_layer_self_v_cache"),
      audio("n_layer_cross_k"),
      audio("n_layer_cross_v"),
      { name: "offset", type: "int64", shape: [1] },
    ],
    [
      { name: "logits", type: "float", shape: ["n_audio", "n_tokens", vocabularySize] },
      cache("out_n_layer_self_k_cache"),
      cache("out_n_layer_self_v_cache"),
      {
        name: "cross_attention_weights",
        type: "float",
        shape: ["n_audio", decoder.alignment.length, "n_tokens", "T"],
      },
    ],
    new Map(),
  );
}

/** What a token may not attend to. */
function laterTokens(context: number): Uint8Array {
  const mask = new Uint16Array(context * context);
  for (let token = 0; token < context; token++)
    mask.fill(forbidden, token * context + token + 1, (token + 1) * context);
  return new Uint8Array(mask.buffer);
}
