/** The parts that the encoder and the decoder of Whisper have in common, as operations of a graph. */
import type { Attention, FeedForward, Matrix, Normalization } from "./architecture.ts";
import type { GraphBuilder } from "./graph-builder.ts";

const epsilon = 1e-5;

export class Transformer {
  readonly graph: GraphBuilder;
  readonly #heads: number;
  readonly #width: number;

  constructor(graph: GraphBuilder, { heads, width }: { readonly heads: number; readonly width: number }) {
    this.graph = graph;
    this.#heads = heads;
    this.#width = width;
  }

  linear(x: string, { weight, scale, bias }: Matrix): string {
    return this.graph.multiply(x, this.graph.matrix(weight, scale), bias);
  }

  normalize(x: string, { gamma, beta }: Normalization): string {
    const { graph } = this;
    return graph.operation("LayerNormalization", [x, graph.tensor(gamma), graph.tensor(beta)], { axis: -1, epsilon });
  }

  gelu(x: string): string {
    const { graph } = this;
    const erf = graph.operation("Erf", [graph.operation("Div", [x, graph.number(Math.SQRT2)])]);
    const sum = graph.operation("Add", [erf, graph.number(1)]);
    return graph.operation("Mul", [graph.operation("Mul", [x, sum]), graph.number(0.5)]);
  }

  /** Divides the last dimension, which has a multiple of the width, into parts of the width. */
  split(x: string, parts: number): readonly string[] {
    const sizes = this.graph.integers(...Array.from({ length: parts }, () => this.#width));
    return this.graph.operations("Split", [x, sizes], parts, { axis: -1 });
  }

  /** Queries, keys and values of the layer itself. */
  selfInputs(x: string, { normalization, linear }: Attention): readonly [string, string, string] {
    const inputs = this.split(this.linear(this.normalize(x, normalization), linear[0]!), 3);
    return inputs as [string, string, string];
  }

  /** @returns the result and the weights, by head */
  attend(queries: string, keys: string, values: string, mask?: string): { result: string; weights: string } {
    const { graph } = this;
    const size = this.#width / this.#heads;
    const shape = graph.integers(0, 0, this.#heads, size);
    const byHead = (x: string, permutation: readonly number[]): string =>
      graph.operation("Transpose", [graph.operation("Reshape", [x, shape])], { perm: permutation });
    const scaled = graph.operation("Mul", [queries, graph.number(size ** -0.5)]);
    const product = graph.operation("MatMul", [byHead(scaled, [0, 2, 1, 3]), byHead(keys, [0, 2, 3, 1])]);
    const masked = mask === undefined ? product : graph.operation("Add", [product, mask]);
    const weights = graph.operation("Softmax", [masked], { axis: -1 });
    const result = graph.operation("MatMul", [weights, byHead(values, [0, 2, 1, 3])]);
    const joined = graph.operation("Transpose", [result], { perm: [0, 2, 1, 3] });
    return { result: graph.operation("Reshape", [joined, graph.integers(0, 0, this.#width)]), weights };
  }

  feedForward(x: string, { normalization, up, down }: FeedForward): string {
    const wide = this.gelu(this.linear(this.normalize(x, normalization), up));
    return this.graph.operation("Add", [x, this.linear(wide, down)]);
  }

  /** The size of a dimension of `x`, as a list of one. */
  sizeOf(x: string, dimension: number): string {
    const { graph } = this;
    const shape = graph.operation("Shape", [x]);
    return graph.operation("Slice", [shape, graph.integers(dimension), graph.integers(dimension + 1)]);
  }

  slice(x: string, from: string, to: string, dimension: number): string {
    return this.graph.operation("Slice", [x, from, to, this.graph.integers(dimension)]);
  }
}
