/** Writes small Whisper models in CTranslate2's format. Their weights have the same values in each type of data. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

const width = 16;
const mels = 80;
const context = 32;
const frames = 1_500;
const layers = 2;

export type WeightType = "float32" | "float16" | "bfloat16" | "int8";

const special = [
  ..."endoftext startoftranscript en iw haw translate transcribe startoflm startofprev".split(" "),
  ..."nospeech notimestamps 0.00 0.02".split(" "),
].map((name) => `<|${name}|>`);

/** 256 pairs of letters, and then the tokens with a meaning. */
export function vocabularyOf(): string[] {
  const letters = "abcdefghijklmnop";
  const pairs = Array.from({ length: 256 }, (_, pair) => letters[pair >> 4]! + letters[pair & 15]!);
  return [...pairs.with(255, "Ġ"), ...special];
}

/** The 256 bytes as GPT-2 writes them, and then the tokens with a meaning. */
export function vocabularyOfBytes(): string[] {
  const isPrintable = (byte: number): boolean =>
    (byte > 32 && byte < 127) || (byte > 160 && byte < 256 && byte !== 173);
  let others = 0;
  const bytes = Array.from({ length: 256 }, (_, byte) =>
    String.fromCodePoint(isPrintable(byte) ? byte : 256 + others++),
  );
  return [...bytes, ...special];
}

interface Value {
  readonly shape: readonly number[];
  readonly type: number;
  readonly bytes: Buffer;
}

export type Tensors = Map<string, Value>;

const numbers: Readonly<Record<string, number>> = { float32: 0, int8: 1, int16: 2, int32: 3, float16: 4, bfloat16: 5 };

/** The largest of each row is 63 steps of 1/64. */
function valuesOf(shape: readonly number[]): number[] {
  const count = shape.reduce((product, size) => product * size, 1);
  const row = shape.at(-1) ?? 1;
  return Array.from(
    { length: count },
    (_, index) => (index % row === 0 ? 63 : (index * 37) % 64) * (index % 2 ? -1 : 1),
  );
}

function encode(values: readonly number[], type: WeightType): Buffer {
  if (type === "int8") return Buffer.from(Int8Array.from(values).buffer);
  const single = Float32Array.from(values, (value) => value / 64);
  if (type === "float32") return Buffer.from(single.buffer);
  if (type === "bfloat16")
    return Buffer.from(Uint16Array.from(new Uint32Array(single.buffer), (bits) => bits >>> 16).buffer);
  return Buffer.from(Uint16Array.from(single, toHalf).buffer);
}

/** Of a number with few digits. */
function toHalf(value: number): number {
  const sign = value < 0 ? 0x80_00 : 0;
  const size = Math.abs(value);
  if (size === 0) return sign;
  const exponent = Math.floor(Math.log2(size));
  return sign | ((exponent + 15) << 10) | Math.round((size / 2 ** exponent - 1) * 1_024);
}

export function tensorsOf(type: WeightType, vocabularySize: number = vocabularyOf().length): Tensors {
  const tensors: Tensors = new Map();
  const add = (name: string, shape: readonly number[], as: WeightType): void => {
    tensors.set(name, { shape, type: numbers[as]!, bytes: encode(valuesOf(shape), as) });
  };
  const float = (name: string, shape: readonly number[]): void => add(name, shape, type === "int8" ? "float32" : type);
  const matrix = (name: string, shape: readonly [number, number]): void => {
    add(`${name}/weight`, shape, type);
    const scales = Float32Array.from({ length: shape[0] }, () => 64);
    if (type === "int8")
      tensors.set(`${name}/weight_scale`, { shape: [shape[0]], type: 0, bytes: Buffer.from(scales.buffer) });
  };
  const linear = (name: string, shape: readonly [number, number]): void => {
    matrix(name, shape);
    float(`${name}/bias`, [shape[0]]);
  };
  const normalization = (name: string): void => {
    float(`${name}/gamma`, [width]);
    float(`${name}/beta`, [width]);
  };
  const attention = (name: string, sizes: readonly number[]): void => {
    normalization(`${name}/layer_norm`);
    for (const [index, size] of sizes.entries()) linear(`${name}/linear_${index}`, [size, width]);
  };
  for (const side of ["encoder", "decoder"]) {
    tensors.set(`${side}/num_heads`, { shape: [], type: numbers["int16"]!, bytes: Buffer.from([2, 0]) });
    normalization(`${side}/layer_norm`);
    float(`${side}/position_encodings/encodings`, [side === "encoder" ? frames : context, width]);
    for (let layer = 0; layer < layers; layer++) {
      const name = `${side}/layer_${layer}`;
      attention(`${name}/self_attention`, [3 * width, width]);
      if (side === "decoder") attention(`${name}/attention`, [width, 2 * width, width]);
      normalization(`${name}/ffn/layer_norm`);
      linear(`${name}/ffn/linear_0`, [4 * width, width]);
      linear(`${name}/ffn/linear_1`, [width, 4 * width]);
    }
  }
  for (const [index, channels] of [mels, width].entries()) {
    float(`encoder/conv${index + 1}/weight`, [width, channels, 3]);
    float(`encoder/conv${index + 1}/bias`, [width]);
  }
  matrix("decoder/embeddings", [vocabularySize, width]);
  return tensors;
}

/** The bytes of `model.bin`. */
export function weightsFile(tensors: Tensors, spec = "WhisperSpec"): Buffer {
  const text = (value: string): Buffer => {
    const bytes = Buffer.from(`${value}\0`);
    return Buffer.concat([uint(bytes.length, 2), bytes]);
  };
  const parts = [uint(6, 4), text(spec), uint(3, 4), uint(tensors.size, 4)];
  for (const [name, { shape, type, bytes }] of tensors) {
    parts.push(text(name), uint(shape.length, 1), ...shape.map((size) => uint(size, 4)));
    parts.push(uint(type, 1), uint(bytes.length, 4), bytes);
  }
  return Buffer.concat([...parts, uint(1, 4), text("decoder/projection/weight"), text("decoder/embeddings/weight")]);
}

function uint(value: number, bytes: number): Buffer {
  const buffer = Buffer.alloc(bytes);
  buffer.writeUIntLE(value, 0, bytes);
  return buffer;
}

interface Changes {
  readonly weights?: Buffer;
  readonly vocabulary?: string;
  readonly config?: string;
}

/** @returns the folder */
export async function writeCTranslate2Whisper(folder: string, changes: Changes = {}): Promise<string> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "model.bin"), changes.weights ?? weightsFile(tensorsOf("float16")));
  await writeFile(join(folder, "vocabulary.txt"), changes.vocabulary ?? `${vocabularyOf().join("\n")}\n`);
  await writeFile(join(folder, "config.json"), changes.config ?? '{"alignment_heads": [[1, 1], [0, 0], [1, 0]]}');
  return folder;
}
