/**
 * Reads the weights of a model in CTranslate2's format, `model.bin`: a table of tensors, and their values on demand.
 * https://github.com/OpenNMT/CTranslate2/blob/master/python/ctranslate2/specs/model_spec.py
 */
import { open, type FileHandle } from "node:fs/promises";
import { inputLimit } from "../../input-limits.ts";

/** In the order of their numbers in the file. */
const dataTypes = ["float32", "int8", "int16", "int32", "float16", "bfloat16"] as const;
type DataType = (typeof dataTypes)[number];
const bytesPerValue: Readonly<Record<DataType, number>> = {
  float32: 4,
  int8: 1,
  int16: 2,
  int32: 4,
  float16: 2,
  bfloat16: 2,
};

/** The versions that have types of data; others are of 2020 and before, or not known yet. */
const versions: ReadonlySet<number> = new Set([4, 5, 6]);
const mostTensors = inputLimit({
  area: "Configuration and model files",
  bounds: "Tensors of a model that is converted",
  value: 10_000,
  error: { instead: "`sounding models pull` and `add` fail" },
});
/** Whisper's largest has 66 million: the embedding. */
const mostValues = inputLimit({
  area: "Configuration and model files",
  bounds: "Values of one tensor of a model that is converted",
  value: 2 ** 27,
  error: { instead: "`sounding models pull` and `add` fail" },
});
const longestName = 512;
const mostDimensions = 4;
/** Values that are read at once. */
const valuesPerRead = 2 ** 20;

export interface Tensor {
  readonly name: string;
  readonly type: DataType;
  readonly shape: readonly number[];
  /** In the file. */
  readonly start: number;
}

/** The file is not what it should be; the message is the end of a sentence about the model. */
export class UnusableWeights extends Error {}

export class WeightsFile implements AsyncDisposable {
  readonly #file: FileHandle;
  /** What the model is, such as `WhisperSpec`. */
  readonly spec: string;
  readonly tensors: ReadonlyMap<string, Tensor>;

  private constructor(file: FileHandle, spec: string, tensors: ReadonlyMap<string, Tensor>) {
    this.#file = file;
    this.spec = spec;
    this.tensors = tensors;
  }

  /** @throws UnusableWeights */
  static async open(path: string): Promise<WeightsFile> {
    const file = await open(path);
    try {
      const head = new HeadReader(file, (await file.stat()).size);
      const { spec, count } = await readStart(head);
      const tensors = new Map<string, Tensor>();
      for (let index = 0; index < count; index++) {
        const tensor = await readTensor(head);
        if (tensors.has(tensor.name)) throw new UnusableWeights(`it has two tensors ${shown(tensor.name)}`);
        tensors.set(tensor.name, tensor);
      }
      return new WeightsFile(file, spec, tensors);
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#file.close();
  }

  /** @throws UnusableWeights for a name that the file does not have, or another shape or type */
  require(name: string, shape: readonly number[], types: readonly DataType[]): Tensor {
    const tensor = this.tensors.get(name);
    if (tensor === undefined) throw new UnusableWeights(`it lacks the tensor ${shown(name)}`);
    if (tensor.shape.length !== shape.length || shape.some((size, index) => tensor.shape[index] !== size))
      throw new UnusableWeights(
        `${shown(name)} has the shape ${tensor.shape.join("×")}; ${shape.join("×")} is expected`,
      );
    if (!types.includes(tensor.type))
      throw new UnusableWeights(`${shown(name)} has the type ${tensor.type}; ${types.join(", ")} are supported`);
    return tensor;
  }

  /** The value of a setting that is stored among the tensors. @throws UnusableWeights */
  async integer(name: string): Promise<number> {
    const tensor = this.require(name, [], ["int8", "int16", "int32"]);
    return (await this.#values(tensor, 0, 1))[0]!;
  }

  /**
   * The values in pieces of whole rows.
   * @throws UnusableWeights if a value is not finite
   */
  async *rows(tensor: Tensor, rowLength: number): AsyncGenerator<Float32Array, void> {
    const count = countOf(tensor.shape);
    const step = Math.max(1, Math.floor(valuesPerRead / rowLength)) * rowLength;
    for (let from = 0; from < count; from += step) {
      const values = await this.#values(tensor, from, Math.min(count, from + step));
      if (!areFinite(values)) throw new UnusableWeights(`${shown(tensor.name)} has values that are no finite numbers`);
      yield values;
    }
  }

  async #values(tensor: Tensor, from: number, to: number): Promise<Float32Array> {
    const size = bytesPerValue[tensor.type];
    const length = (to - from) * size;
    const bytes = new Uint8Array(length);
    for (let done = 0; done < length;) {
      const { bytesRead } = await this.#file.read(bytes, done, length - done, tensor.start + from * size + done);
      if (bytesRead === 0) throw new UnusableWeights("it became shorter while it was read");
      done += bytesRead;
    }
    return decode(bytes.buffer, tensor.type);
  }
}

function areFinite(values: Float32Array): boolean {
  for (const value of values) if (!Number.isFinite(value)) return false;
  return true;
}

export function countOf(shape: readonly number[]): number {
  return shape.reduce((product, size) => product * size, 1);
}

async function readStart(head: HeadReader): Promise<{ spec: string; count: number }> {
  const version = (await head.take(4)).readUInt32LE();
  if (!versions.has(version)) throw new UnusableWeights("its model.bin is not of CTranslate2, or of another version");
  const spec = await head.text();
  // The revision of the specification adds tensors, which are required by name.
  await head.take(4);
  const count = (await head.take(4)).readUInt32LE();
  if (count > mostTensors) throw new UnusableWeights(`it has ${count} tensors; at most ${mostTensors} are allowed`);
  return { spec, count };
}

async function readTensor(head: HeadReader): Promise<Tensor> {
  const name = await head.text();
  const [rank = 0] = await head.take(1);
  if (rank > mostDimensions) throw new UnusableWeights(`${shown(name)} has ${rank} dimensions`);
  const sizes = await head.take(4 * rank);
  const shape = Array.from({ length: rank }, (_, index) => sizes.readUInt32LE(4 * index));
  const facts = await head.take(5);
  const type = dataTypes[facts[0]!];
  if (type === undefined) throw new UnusableWeights(`${shown(name)} has an unknown type`);
  const count = countOf(shape);
  const bytes = facts.readUInt32LE(1);
  if (count > mostValues || count === 0)
    throw new UnusableWeights(`${shown(name)} has ${count} values; 1 to ${mostValues} are allowed`);
  if (bytes !== count * bytesPerValue[type])
    throw new UnusableWeights(`${shown(name)} has ${bytes} bytes, which its shape and type contradict`);
  return { name, type, shape, start: head.skip(bytes) };
}

/** Names come from the file. */
function shown(name: string): string {
  return JSON.stringify(name.slice(0, 100));
}

/** Reads what is between the tensors. */
class HeadReader {
  readonly #file: FileHandle;
  readonly #size: number;
  #at = 0;
  #block: Buffer = Buffer.alloc(0);
  #blockAt = 0;

  constructor(file: FileHandle, size: number) {
    this.#file = file;
    this.#size = size;
  }

  async take(count: number): Promise<Buffer> {
    if (this.#at + count > this.#size) throw new UnusableWeights("its model.bin is incomplete");
    if (this.#at + count > this.#blockAt + this.#block.length) {
      const length = Math.min(4_096, this.#size - this.#at);
      const { buffer, bytesRead } = await this.#file.read(Buffer.alloc(length), 0, length, this.#at);
      this.#block = buffer.subarray(0, bytesRead);
      this.#blockAt = this.#at;
      if (bytesRead < count) throw new UnusableWeights("its model.bin is incomplete");
    }
    const from = this.#at - this.#blockAt;
    this.#at += count;
    return this.#block.subarray(from, from + count);
  }

  /** A text that ends with a zero. */
  async text(): Promise<string> {
    const length = (await this.take(2)).readUInt16LE();
    if (length === 0 || length > longestName) throw new UnusableWeights("its model.bin has a name that is too long");
    return (await this.take(length)).toString("utf8", 0, length - 1);
  }

  /** @returns where the skipped bytes begin */
  skip(count: number): number {
    const start = this.#at;
    if (start + count > this.#size) throw new UnusableWeights("its model.bin is incomplete");
    this.#at += count;
    if (this.#at > this.#blockAt + this.#block.length) this.#block = Buffer.alloc(0);
    return start;
  }
}

function decode(buffer: ArrayBuffer, type: DataType): Float32Array {
  switch (type) {
    case "float32":
      return new Float32Array(buffer);
    case "float16":
      return decodeHalves(new Uint16Array(buffer));
    case "bfloat16": {
      // The upper half of a single-precision float.
      const halves = new Uint16Array(buffer);
      const wide = new Uint16Array(2 * halves.length);
      for (let index = 0; index < halves.length; index++) wide[2 * index + 1] = halves[index]!;
      return new Float32Array(wide.buffer);
    }
    case "int8":
      return new Float32Array(new Int8Array(buffer));
    case "int16":
      return new Float32Array(new Int16Array(buffer));
    case "int32":
      return new Float32Array(new Int32Array(buffer));
  }
}

function decodeHalves(bits: Uint16Array): Float32Array {
  const known = halves();
  const values = new Float32Array(bits.length);
  for (let index = 0; index < bits.length; index++) values[index] = known[bits[index]!]!;
  return values;
}

let table: Float32Array | undefined;

/** The value of each half-precision float by its bits. */
function halves(): Float32Array {
  table ??= Float32Array.from({ length: 65_536 }, (_, bits) => {
    const [exponent, fraction] = [(bits >> 10) & 31, bits & 1_023];
    const size =
      exponent === 31
        ? fraction === 0
          ? Infinity
          : NaN
        : exponent === 0
          ? fraction * 2 ** -24
          : (1 + fraction / 1_024) * 2 ** (exponent - 15);
    return bits >= 32_768 ? -size : size;
  });
  return table;
}
