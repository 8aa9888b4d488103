/**
 * The networks of tiny recognizers of the tones in spoken-tones.ts: each reads one band of the features per token, and
 * predicts the blank at a level between silence and a tone.
 */
import { floats, integers, node, type OnnxModel, type OnnxNode } from "./onnx-file.ts";
import { tokens, toneOf } from "./spoken-tones.ts";

export const bands = 80;
export const vocabulary = tokens.length;
export const everyFrame = 1_000_000;

/** Kaldi's mel scale from 20 Hz up; to 7 600 Hz, as the library sets it for most models. */
export function kaldiBand(frequency: number, highest = 7_600): number {
  const mel = (hertz: number): number => 1127 * Math.log(1 + hertz / 700);
  return Math.round(((mel(frequency) - mel(20)) / (mel(highest) - mel(20))) * (bands + 1)) - 1;
}

/** Slaney's mel scale from 0 Hz up, for NeMo's models and Whisper. */
export function slaneyBand(frequency: number, highest = 8_000): number {
  const mel = (hertz: number): number => 15 + (27 * Math.log(hertz / 1_000)) / Math.log(6.4);
  return Math.round((mel(frequency) / mel(highest)) * (bands + 1)) - 1;
}

interface DetectorOptions {
  readonly scale: (frequency: number) => number;
  /** Between the level of the voice and that of a tone. */
  readonly threshold: number;
  /** Of the columns, each token's own. */
  readonly columns?: readonly string[];
  /** The column of the blank. */
  readonly blank?: string;
  /** The frequency that each column hears, if it hears one. */
  readonly tones?: Readonly<Record<string, number>>;
  /** Features of one frame, if several frames are joined. */
  readonly inputs?: number;
  readonly gain?: number;
}

/** From features to logits: one column for each token. */
export function detector(options: DetectorOptions): NonNullable<OnnxModel["weights"]> {
  const { scale, threshold, columns = tokens, blank = "<blk>", inputs = bands, gain = 1 } = options;
  const tones: Readonly<Record<string, number>> = options.tones ?? toneOf;
  const weights = Array.from({ length: inputs * columns.length }, () => 0);
  for (const [column, name] of columns.entries()) {
    if (name in tones) weights[scale(tones[name]!) * columns.length + column] = gain;
  }
  const bias = columns.map((name) => (name === blank ? threshold * gain : name in tones ? 0 : -1_000));
  return { detector: floats([inputs, columns.length], weights), bias: floats([columns.length], bias) };
}

/** Every `step`th frame of `input` (batch, frame, feature), up to `length`, to `logits`. */
export function detect(
  input: string,
  { length = everyFrame, step = 4, ...options }: DetectorOptions & { readonly length?: number; readonly step?: number },
): { nodes: OnnxNode[]; weights: NonNullable<OnnxModel["weights"]> } {
  return {
    nodes: [
      node("Slice", [input, "from", "to", "time_axis", "step"], "frames"),
      node("MatMul", ["frames", "detector"], "levels"),
      node("Add", ["levels", "bias"], "logits"),
    ],
    weights: {
      from: integers([1], [0]),
      to: integers([1], [length]),
      time_axis: integers([1], [1]),
      step: integers([1], [step]),
      ...detector(options),
    },
  };
}

/** How many of `input` frames remain when every fourth is used: `lens`. */
export function shortened(input: string) {
  return {
    nodes: [node("Add", [input, "three"], "padded_lens"), node("Div", ["padded_lens", "four"], "lens")],
    weights: { three: integers([], [3]), four: integers([], [4]) },
  };
}

export function transposed(name: string, to: string): OnnxNode {
  return node("Transpose", [name], to, { perm: [0, 2, 1] });
}

/** A diagonal of penalties for tokens that were already emitted; zero for the tokens without a tone. */
export function penalties(columns: readonly string[] = tokens): number[] {
  return columns.flatMap((row, index) => columns.map((_, column) => (index === column && row in toneOf ? -50 : 0)));
}

export function identity(size: number): number[] {
  return Array.from({ length: size ** 2 }, (_, index) => (index % (size + 1) === 0 ? 1 : 0));
}
