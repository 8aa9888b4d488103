/** A tiny voice: every letter is a tone of 50 ms, every other character a silence of that length, so that words are visible in the audio. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { encodeOnnx, floats, integers, node, type OnnxModel, type OnnxNode } from "./onnx-file.ts";

export interface TinyVoiceOptions {
  /** Speaker n's tone is n + 1 times as high. */
  readonly speakers?: number;
  /** Products of large matrices before the first sample; one takes about 50 ms. */
  readonly work?: number;
  /** Replaces the metadata of the file. */
  readonly metadata?: Readonly<Record<string, string | number>>;
}

export const tinyVoiceRate = 16_000;
/** The length of one character at speed 1. */
export const signSamples = 800;
/** The model's file has no level for it, so the library fails on it. */
export const unspeakable = "^";

const signs = " abcdefghijklmnopqrstuvwxyz0123456789.,!?:;'-";
const matrixSize = 1_200;

/** `work` products that are not audible. */
function workNodes(work: number): OnnxNode[] {
  const products = Array.from({ length: work }, (_, index) =>
    node("MatMul", [index === 0 ? "matrix" : `product${index - 1}`, "matrix"], `product${index}`),
  );
  if (work === 0) return [node("Identity", ["wave"], "worked")];
  return [
    node("Expand", ["length_scale", "matrix_shape"], "ones"),
    node("Mul", ["ones", "tiny"], "matrix"),
    ...products,
    node("ReduceMax", [`product${work - 1}`], "most", { keepdims: 0 }),
    node("Mul", ["most", "zero"], "nothing"),
    node("Add", ["wave", "nothing"], "worked"),
  ];
}

function voiceModel({ speakers = 1, work = 0, metadata = {} }: TinyVoiceOptions): OnnxModel {
  const levels = Array.from(signs, (sign) => (/[a-z0-9]/.test(sign) ? 0.5 : 0));
  return {
    inputs: [
      ["input", "int64", [1, "signs"]],
      ["input_lengths", "int64", [1]],
      ["scales", "float", [3]],
      ["sid", "int64", [1]],
    ],
    outputs: [["output", "float", [1, 1, "samples"]]],
    weights: {
      zero: floats([], [0]),
      one: floats([], [1]),
      tiny: floats([], [1e-6]),
      sign_samples: floats([], [signSamples]),
      step: floats([], [(2 * Math.PI * 200) / tinyVoiceRate]),
      levels: floats([levels.length], levels),
      length_index: integers([], [1]),
      last_axis: integers([1], [2]),
      matrix_shape: integers([2], [matrixSize, matrixSize]),
      output_shape: integers([3], [1, 1, -1]),
    },
    nodes: [
      node("Gather", ["scales", "length_index"], "length_scale"),
      node("Mul", ["length_scale", "sign_samples"], "exact_count"),
      node("Round", ["exact_count"], "count"),
      node("Range", ["zero", "count", "one"], "times"),
      node("Cast", ["sid"], "speaker", { to: "float" }),
      node("Add", ["speaker", "one"], "height"),
      node("Mul", ["times", "step"], "angle"),
      node("Mul", ["angle", "height"], "phase"),
      node("Sin", ["phase"], "wave"),
      ...workNodes(work),
      node("Gather", ["levels", "input"], "level"),
      node("Unsqueeze", ["level", "last_axis"], "level_of_each"),
      node("Mul", ["level_of_each", "worked"], "sound"),
      node("Reshape", ["sound", "output_shape"], "output"),
    ],
    metadata: {
      model_type: "vits",
      comment: "coqui",
      language: "English",
      voice: "en-us",
      frontend: "characters",
      sample_rate: tinyVoiceRate,
      n_speakers: speakers,
      use_eos_bos: 0,
      ...metadata,
    },
  };
}

/** Writes the voice into a folder, under the names that released models have. */
export async function writeTinyVoice(folder: string, options: TinyVoiceOptions = {}): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "tiny-voice.onnx"), encodeOnnx(voiceModel(options)));
  const tokens = Array.from(signs + unspeakable, (sign, index) => `${sign === " " ? "" : sign} ${index}\n`);
  await writeFile(join(folder, "tokens.txt"), tokens.join(""));
}
