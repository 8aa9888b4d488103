/** Reads what a Whisper model in CTranslate2's format consists of, and checks that all of it is there. */
import { isObject } from "../../json-object.ts";
import type { Vocabulary } from "./vocabulary.ts";
import { UnusableWeights, type Tensor, type WeightsFile } from "./weights-file.ts";

/** Of any model of its kind; the largest Whisper has 1,280, 32 layers, 20 heads, 1,500 frames and 448 tokens. */
const most = { width: 2_048, layers: 128, heads: 256, frames: 4_096, tokens: 2_048, mels: 512 };
/** CTranslate2's number of the activation function. */
const gelu = 3;

const floats = ["float32", "float16", "bfloat16"] as const;
const weights = [...floats, "int8", "int16"] as const;

/** A matrix with the scale of its rows, if it is stored as integers. */
export interface Matrix {
  readonly weight: Tensor;
  readonly scale: Tensor | undefined;
  readonly bias: Tensor;
}

export interface Normalization {
  readonly gamma: Tensor;
  readonly beta: Tensor;
}

export interface Convolution {
  readonly weight: Tensor;
  readonly bias: Tensor;
}

export interface Attention {
  readonly normalization: Normalization;
  /** In the order in which CTranslate2 numbers them. */
  readonly linear: readonly Matrix[];
}

export interface FeedForward {
  readonly normalization: Normalization;
  readonly up: Matrix;
  readonly down: Matrix;
}

interface EncoderLayer {
  readonly attention: Attention;
  readonly feedForward: FeedForward;
}

export interface Architecture {
  readonly width: number;
  readonly mels: number;
  readonly frames: number;
  readonly context: number;
  readonly encoder: {
    readonly heads: number;
    readonly convolutions: readonly [Convolution, Convolution];
    readonly positions: Tensor;
    readonly layers: readonly EncoderLayer[];
    readonly normalization: Normalization;
  };
  readonly decoder: {
    readonly heads: number;
    readonly embeddings: { readonly weight: Tensor; readonly scale: Tensor | undefined };
    readonly positions: Tensor;
    readonly layers: readonly (EncoderLayer & { readonly cross: Attention })[];
    readonly normalization: Normalization;
    /** Layer and head of those that follow the audio. */
    readonly alignment: readonly (readonly [layer: number, head: number])[];
  };
}

/** @param config the parsed `config.json` @throws UnusableWeights */
export async function readArchitecture(
  file: WeightsFile,
  config: unknown,
  vocabulary: Vocabulary,
): Promise<Architecture> {
  if (file.spec !== "WhisperSpec") throw new UnusableWeights(`it is a ${file.spec.slice(0, 100)}, not Whisper`);
  const [width = 0] = shapeOf(file, "encoder/layer_norm/gamma", 1);
  const [, mels = 0] = shapeOf(file, "encoder/conv1/weight", 3);
  const [frames = 0] = shapeOf(file, "encoder/position_encodings/encodings", 2);
  const [context = 0] = shapeOf(file, "decoder/position_encodings/encodings", 2);
  requireAtMost({ width, mels, frames, tokens: context });
  await requireSettings(file);
  const parts = partsOf(file, width);
  const [encoderHeads, decoderHeads] = [await headsOf(file, "encoder", width), await headsOf(file, "decoder", width)];
  const layersOf = (side: string): number => {
    let count = 0;
    while (file.tensors.has(`${side}/layer_${count}/ffn/linear_0/weight`)) count++;
    requireAtMost({ layers: count });
    return count;
  };
  const encoderLayer = (name: string): EncoderLayer => ({
    attention: parts.attention(`${name}/self_attention`, [3 * width, width]),
    feedForward: parts.feedForward(`${name}/ffn`),
  });
  const decoderLayers = layersOf("decoder");
  return {
    width,
    mels,
    frames,
    context,
    encoder: {
      heads: encoderHeads,
      convolutions: [parts.convolution("encoder/conv1", mels), parts.convolution("encoder/conv2", width)],
      positions: file.require("encoder/position_encodings/encodings", [frames, width], floats),
      layers: Array.from({ length: layersOf("encoder") }, (_, layer) => encoderLayer(`encoder/layer_${layer}`)),
      normalization: parts.normalization("encoder/layer_norm"),
    },
    decoder: {
      heads: decoderHeads,
      embeddings: parts.weight("decoder/embeddings", [vocabulary.size, width]),
      positions: file.require("decoder/position_encodings/encodings", [context, width], floats),
      layers: Array.from({ length: decoderLayers }, (_, layer) => ({
        ...encoderLayer(`decoder/layer_${layer}`),
        cross: parts.attention(`decoder/layer_${layer}/attention`, [width, 2 * width, width]),
      })),
      normalization: parts.normalization("decoder/layer_norm"),
      alignment: alignmentHeads(config, decoderLayers, decoderHeads),
    },
  };
}

function shapeOf(file: WeightsFile, name: string, rank: number): readonly number[] {
  const shape = file.tensors.get(name)?.shape;
  if (shape?.length !== rank) throw new UnusableWeights(`it lacks the tensor ${name} of Whisper`);
  return shape;
}

function requireAtMost(found: Partial<typeof most>): void {
  for (const [name, value] of Object.entries(found)) {
    const limit = most[name as keyof typeof most];
    if (value < 1 || value > limit) throw new UnusableWeights(`it has ${value} ${name}; 1 to ${limit} are supported`);
  }
}

/** Whisper has none of the variants that the format knows. */
async function requireSettings(file: WeightsFile): Promise<void> {
  const expected: Readonly<Record<string, number>> = {
    "decoder/pre_norm": 1,
    "decoder/activation": gelu,
    "decoder/alibi": 0,
    "decoder/scale_embeddings": 0,
    "decoder/start_from_zero_embedding": 0,
  };
  for (const [name, value] of Object.entries(expected)) {
    const found = file.tensors.has(name) ? await file.integer(name) : value;
    if (found !== value) throw new UnusableWeights(`${name} is ${found}; ${value} is supported`);
  }
}

async function headsOf(file: WeightsFile, side: string, width: number): Promise<number> {
  const heads = await file.integer(`${side}/num_heads`);
  requireAtMost({ heads });
  if (width % heads !== 0) throw new UnusableWeights(`${heads} heads do not divide a width of ${width}`);
  return heads;
}

/** The parts of a model by their names, with the shapes that they must have. */
function partsOf(file: WeightsFile, width: number) {
  const weight = (name: string, shape: readonly [number, number]) => {
    const tensor = file.require(`${name}/weight`, shape, weights);
    if (tensor.type !== "int8" && tensor.type !== "int16") return { weight: tensor, scale: undefined };
    const scaleName = `${name}/weight_scale`;
    const isOne = file.tensors.get(scaleName)?.shape.length === 0;
    return { weight: tensor, scale: file.require(scaleName, isOne ? [] : [shape[0]], floats) };
  };
  const matrix = (name: string, shape: readonly [number, number]): Matrix => ({
    ...weight(name, shape),
    bias: file.require(`${name}/bias`, [shape[0]], floats),
  });
  const normalization = (name: string): Normalization => ({
    gamma: file.require(`${name}/gamma`, [width], floats),
    beta: file.require(`${name}/beta`, [width], floats),
  });
  return {
    weight,
    normalization,
    convolution: (name: string, channels: number): Convolution => ({
      weight: file.require(`${name}/weight`, [width, channels, 3], floats),
      bias: file.require(`${name}/bias`, [width], floats),
    }),
    attention: (name: string, sizes: readonly number[]): Attention => ({
      normalization: normalization(`${name}/layer_norm`),
      linear: sizes.map((size, index) => matrix(`${name}/linear_${index}`, [size, width])),
    }),
    feedForward: (name: string): FeedForward => ({
      normalization: normalization(`${name}/layer_norm`),
      up: matrix(`${name}/linear_0`, [4 * width, width]),
      down: matrix(`${name}/linear_1`, [width, 4 * width]),
    }),
  };
}

/** Those of `config.json`; otherwise all in the second half of the layers, as Whisper itself takes. */
function alignmentHeads(config: unknown, layers: number, heads: number): readonly (readonly [number, number])[] {
  const named = isObject(config) ? config["alignment_heads"] : undefined;
  const first = Math.floor(layers / 2);
  if (named === undefined || named === null)
    return Array.from({ length: (layers - first) * heads }, (_, index) => [
      first + Math.floor(index / heads),
      index % heads,
    ]);
  const isIndex = (value: unknown, count: number): boolean =>
    Number.isInteger(value) && (value as number) >= 0 && (value as number) < count;
  const isPair = (value: unknown): value is [number, number] =>
    Array.isArray(value) && value.length === 2 && isIndex(value[0], layers) && isIndex(value[1], heads);
  if (!Array.isArray(named) || named.length === 0 || named.length > layers * heads || !named.every(isPair))
    throw new UnusableWeights("alignment_heads in its config.json are not heads of the decoder");
  return named.toSorted((one, other) => one[0] - other[0] || one[1] - other[1]);
}
