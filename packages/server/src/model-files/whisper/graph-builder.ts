/** Builds the graph of a network from its operations. Matrices become 7-bit integers with a scale for each column. */
import { attributeType } from "./onnx-messages.ts";
import type { Initializer, Network, Node, Value } from "./onnx-file.ts";
import { countOf, type Tensor, type WeightsFile } from "./weights-file.ts";

/** 8 bits overflow the sums of AVX2's kernel for integers. */
const mostSteps = 63;
const smallestLargest = 1e-8;

type Attributes = Readonly<Record<string, number | readonly number[]>>;

/** A matrix that is stored as integers, and where its scales are. */
interface Quantized {
  readonly values: string;
  readonly scales: string;
}

export class GraphBuilder {
  readonly #weights: WeightsFile;
  readonly #nodes: Node[] = [];
  readonly #initializers: Initializer[] = [];
  readonly #constants = new Map<string, string>();
  readonly #matrices = new Map<string, Quantized>();
  readonly #quantizedInputs = new Map<string, readonly string[]>();
  #names = 0;

  constructor(weights: WeightsFile) {
    this.#weights = weights;
  }

  /** Adds an operation. @returns the names of its outputs */
  operations(
    opType: string,
    input: readonly string[],
    outputs: number | readonly string[],
    attributes: Attributes = {},
  ): readonly string[] {
    const output = typeof outputs === "number" ? Array.from({ length: outputs }, () => this.#name(opType)) : outputs;
    const attribute = Object.entries(attributes).map(([name, value]) =>
      typeof value !== "number"
        ? { name, type: attributeType.ints, ints: value }
        : name === "epsilon"
          ? { name, type: attributeType.float, f: value }
          : { name, type: attributeType.int, i: value },
    );
    this.#nodes.push({ name: this.#name("n"), opType, input, output, attribute });
    return output;
  }

  operation(opType: string, input: readonly string[], attributes: Attributes = {}): string {
    return this.operations(opType, input, 1, attributes)[0]!;
  }

  integers(...values: readonly number[]): string {
    const name = `i${values.join("_")}`;
    return this.#constant(name, { type: "int64", shape: [values.length] }, BigInt64Array.from(values, BigInt));
  }

  integer(value: number): string {
    return this.#constant(`s${value}`, { type: "int64", shape: [] }, BigInt64Array.of(BigInt(value)));
  }

  number(value: number): string {
    return this.#constant(`f${value}`, { type: "float", shape: [] }, Float32Array.of(value));
  }

  /** A tensor that is computed when it is written. */
  computed(name: string, facts: Pick<Initializer, "type" | "shape" | "byteLength">, bytes: () => Uint8Array): string {
    if (!this.#constants.has(name)) {
      this.#constants.set(name, name);
      this.#initializers.push({ name, ...facts, bytes: () => Promise.resolve(bytes()) });
    }
    return name;
  }

  /** A tensor of the model as it is. */
  tensor(tensor: Tensor): string {
    const { name, shape } = tensor;
    if (!this.#constants.has(name)) {
      this.#constants.set(name, name);
      const bytes = async (): Promise<Uint8Array> => bytesOf(await this.#all(tensor));
      this.#initializers.push({ name, type: "float", shape, byteLength: 4 * countOf(shape), bytes });
    }
    return name;
  }

  /**
   * The transpose of a matrix of the model as integers.
   * @param scale of each row of the model's integers, by which they are divided
   */
  matrix(tensor: Tensor, scale: Tensor | undefined): Quantized {
    const known = this.#matrices.get(tensor.name);
    if (known !== undefined) return known;
    const [rows, columns] = tensor.shape as [number, number];
    let scales: Float32Array | undefined;
    const values = {
      name: `${tensor.name}_q`,
      type: "int8",
      shape: [columns, rows],
      byteLength: rows * columns,
    } as const;
    this.#initializers.push({
      ...values,
      bytes: async () => {
        const quantized = await this.#quantize(tensor, scale);
        ({ scales } = quantized);
        return quantized.values;
      },
    });
    const name = `${tensor.name}_s`;
    const bytes = (): Promise<Uint8Array> => Promise.resolve(bytesOf(scales!));
    this.#initializers.push({ name, type: "float", shape: [rows], byteLength: 4 * rows, bytes });
    const matrix = { values: values.name, scales: name };
    this.#matrices.set(tensor.name, matrix);
    return matrix;
  }

  async #quantize(tensor: Tensor, scale: Tensor | undefined): Promise<{ values: Uint8Array; scales: Float32Array }> {
    const [rows, columns] = tensor.shape as [number, number];
    const rowScales = scale === undefined ? undefined : await this.#all(scale);
    const values = new Int8Array(rows * columns);
    const scales = new Float32Array(rows);
    let row = 0;
    for await (const piece of this.#weights.rows(tensor, columns)) {
      for (let from = 0; from < piece.length; from += columns, row++) {
        const divisor = rowScales?.[rowScales.length === 1 ? 0 : row];
        scales[row] = quantizeRow(piece.subarray(from, from + columns), { divisor, values, row, rows });
      }
    }
    return { values: bytesOf(values), scales };
  }

  async #all(tensor: Tensor): Promise<Float32Array> {
    const values = new Float32Array(countOf(tensor.shape));
    let at = 0;
    for await (const piece of this.#weights.rows(tensor, 1)) {
      values.set(piece, at);
      at += piece.length;
    }
    return values;
  }

  /** `x · matrix + bias` */
  multiply(x: string, { values, scales }: Quantized, bias?: Tensor): string {
    let quantized = this.#quantizedInputs.get(x);
    if (quantized === undefined) {
      quantized = this.operations("DynamicQuantizeLinear", [x], 3);
      this.#quantizedInputs.set(x, quantized);
    }
    const [integers, scale, zero] = quantized as [string, string, string];
    const none = this.#constant("zero", { type: "int8", shape: [] }, Int8Array.of(0));
    const product = this.operation("MatMulInteger", [integers, values, zero, none]);
    const asFloat = this.operation("Cast", [product], { to: 1 });
    const result = this.operation("Mul", [asFloat, this.operation("Mul", [scale, scales])]);
    return bias === undefined ? result : this.operation("Add", [result, this.tensor(bias)]);
  }

  network(inputs: readonly Value[], outputs: readonly Value[], metadata: ReadonlyMap<string, string>): Network {
    return { nodes: this.#nodes, initializers: this.#initializers, inputs, outputs, metadata };
  }

  #constant(name: string, facts: Pick<Initializer, "type" | "shape">, values: NodeJS.TypedArray): string {
    return this.computed(name, { ...facts, byteLength: values.byteLength }, () => bytesOf(values));
  }

  #name(prefix: string): string {
    return `${prefix.toLowerCase()}_${++this.#names}`;
  }
}

function bytesOf(values: NodeJS.TypedArray): Uint8Array {
  return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
}

/** Writes the row as a column. @returns its step */
function quantizeRow(
  piece: Float32Array,
  {
    divisor,
    values,
    row,
    rows,
  }: {
    readonly divisor: number | undefined;
    readonly values: Int8Array;
    readonly row: number;
    readonly rows: number;
  },
): number {
  let largest = smallestLargest;
  for (let column = 0; column < piece.length; column++) {
    if (divisor !== undefined) piece[column] = piece[column]! / divisor;
    const size = Math.abs(piece[column]!);
    if (size > largest) largest = size;
  }
  const step = Math.fround(Math.fround(largest) / mostSteps);
  for (let column = 0; column < piece.length; column++)
    values[column * rows + row] = roundToEven(Math.fround(piece[column]! / step));
  return step;
}

/** Halves become even, as in IEEE 754. */
function roundToEven(value: number): number {
  const rounded = Math.round(value);
  return rounded - value === 0.5 && (rounded & 1) !== 0 ? rounded - 1 : rounded;
}
