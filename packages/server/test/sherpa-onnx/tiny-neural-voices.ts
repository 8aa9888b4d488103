/**
 * Tiny voices in the forms of Piper, Kokoro, Kitten and Matcha, whose texts espeak-ng converts to phonemes inside the
 * library: every letter of the phonetic alphabet is a tone of 50 ms.
 */
import { spawnSync } from "node:child_process";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { encodeOnnx, floats, integers, node, type OnnxModel, type OnnxNode, type TensorSpec } from "./onnx-file.ts";

export type NeuralVoice = "piper" | "kokoro" | "kitten" | "matcha";

export const neuralVoiceRate = 22_050;
const signSamples = 1_102;
const signs = ["_", "^", "$", " ", ...Array.from("abcdefghijklmnopqrstuvwxyzæçðøħŋœɐɑɒɔəɚɛɜɡɪɹʃʊʌʒθᵻˈˌː.,!?;:")];
/** Audible symbols; the others are silent. */
const levels = signs.map((sign) => (/[a-zæçðøħŋœɐɑɒɔəɚɛɜɡɪɹʃʊʌʒθᵻ]/.test(sign) ? 0.5 : 0));
const speakers = 2;
/** The values of a speaker's style: the pitch of the tone is the first. */
const styleSize = 4;
/** Kokoro has a style for each length of a text. */
const kokoroLengths = 510;

const speaking = {
  zero: floats([], [0]),
  one: floats([], [1]),
  sign_samples: floats([], [signSamples]),
  step: floats([], [(2 * Math.PI * 200) / neuralVoiceRate]),
  levels: floats([levels.length], levels),
  last_axis: integers([1], [2]),
  flat: integers([1], [-1]),
};

/** From `tokens` (1, n), `length_scale` and `height`, both single numbers, to `output`. */
const speak: readonly OnnxNode[] = [
  node("Mul", ["length_scale", "sign_samples"], "exact_count"),
  node("Round", ["exact_count"], "count"),
  node("Range", ["zero", "count", "one"], "times"),
  node("Mul", ["times", "step"], "angle"),
  node("Mul", ["angle", "height"], "phase"),
  node("Sin", ["phase"], "wave"),
  node("Gather", ["levels", "tokens"], "level"),
  node("Unsqueeze", ["level", "last_axis"], "level_of_each"),
  node("Mul", ["level_of_each", "wave"], "sound"),
  node("Reshape", ["sound", "flat"], "output"),
];

const output: TensorSpec = ["output", "float", ["samples"]];
const common = { language: "English", voice: "en-us", sample_rate: neuralVoiceRate, has_espeak: 1 };

function piper(): OnnxModel {
  return {
    inputs: [
      ["tokens", "int64", [1, "n"]],
      ["input_lengths", "int64", [1]],
      ["scales", "float", [3]],
    ],
    outputs: [output],
    nodes: [node("Gather", ["scales", "length_index"], "length_scale"), node("Identity", ["one"], "height"), ...speak],
    weights: { ...speaking, length_index: integers([], [1]) },
    metadata: { ...common, model_type: "vits", comment: "piper", n_speakers: 1 },
  };
}

/** Kokoro and Kitten accept a speaker's style and the speed. */
function styled(metadata: Record<string, string | number>): OnnxModel {
  return {
    inputs: [
      ["tokens", "int64", [1, "n"]],
      ["style", "float", [1, styleSize]],
      ["speed", "float", [1]],
    ],
    outputs: [output],
    nodes: [
      node("Squeeze", ["speed"], "pace"),
      node("Div", ["one", "pace"], "length_scale"),
      node("ReduceMax", ["style"], "height", { keepdims: 0 }),
      ...speak,
    ],
    weights: speaking,
    metadata: { ...common, n_speakers: speakers, speaker_names: "af_anna,bm_bert", ...metadata },
  };
}

/** Speaker n's tone is n + 1 times as high. */
function styles(rows: number): Uint8Array {
  const values = Array.from({ length: speakers * rows * styleSize }, (_, index) =>
    index % styleSize === 0 ? 1 + Math.floor(index / (rows * styleSize)) : 0,
  );
  return new Uint8Array(new Float32Array(values).buffer);
}

const melBands = 80;

function matcha(): OnnxModel {
  return {
    inputs: [
      ["tokens", "int64", [1, "n"]],
      ["x_length", "int64", [1]],
      ["noise_scale", "float", [1]],
      ["length_scale", "float", [1]],
    ],
    outputs: [["mel", "float", [1, melBands, "n"]]],
    nodes: [
      node("Gather", ["levels", "tokens"], "level"),
      node("Unsqueeze", ["level", "row_axis"], "row"),
      node("Expand", ["row", "rows"], "mel"),
    ],
    weights: {
      levels: speaking.levels,
      row_axis: integers([1], [1]),
      rows: integers([3], [1, melBands, 1]),
    },
    metadata: { ...common, model_type: "matcha-tts", n_speakers: 1, use_eos_bos: 0, pad_id: 0 },
  };
}

/** Each column of the spectrum is as long as a symbol. */
function vocoder(): OnnxModel {
  const wave = Array.from({ length: signSamples }, (_, index) =>
    Math.sin((2 * Math.PI * 200 * index) / neuralVoiceRate),
  );
  return {
    inputs: [["mel", "float", [1, melBands, "n"]]],
    outputs: [["audio", "float", [1, "samples"]]],
    nodes: [
      node("ReduceMax", ["mel"], "level", { axes: [1], keepdims: 0 }),
      node("Unsqueeze", ["level", "last_axis"], "level_of_each"),
      node("Mul", ["level_of_each", "wave"], "sound"),
      node("Reshape", ["sound", "flat"], "audio"),
    ],
    weights: { wave: floats([signSamples], wave), last_axis: speaking.last_axis, flat: integers([2], [1, -1]) },
    metadata: { model_type: "hifigan" },
  };
}

/** A Piper voice as it is published: a network without metadata, and its description. */
export async function writePublishedPiper(
  folder: string,
  name: string,
  description: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, `${name}.onnx`), publishedPiperNetwork());
  await writeFile(join(folder, `${name}.onnx.json`), JSON.stringify({ ...piperDescription, ...description }));
}

export function publishedPiperNetwork(): Uint8Array {
  return encodeOnnx({ ...piper(), metadata: {} });
}

export const piperDescription = {
  audio: { sample_rate: neuralVoiceRate, quality: "medium" },
  espeak: { voice: "en-us" },
  inference: { noise_scale: 0.667, length_scale: 1, noise_w: 0.8 },
  phoneme_type: "espeak",
  phoneme_map: {},
  phoneme_id_map: Object.fromEntries(signs.map((sign, index) => [sign, [index]])),
  num_symbols: signs.length,
  num_speakers: 1,
  speaker_id_map: {},
  language: { code: "en_US", name_english: "English" },
};

/** @param espeakData the folder `espeak-ng-data` of an installed espeak-ng */
export async function writeNeuralVoice(folder: string, kind: NeuralVoice, espeakData: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const write = (name: string, content: Uint8Array | string): Promise<void> => writeFile(join(folder, name), content);
  await symlink(espeakData, join(folder, "espeak-ng-data"));
  await write("tokens.txt", signs.map((sign, index) => `${sign} ${index}\n`).join(""));
  if (kind === "piper") await write("en_US-tiny.onnx", encodeOnnx(piper()));
  if (kind === "kokoro") {
    await write(
      "model.onnx",
      encodeOnnx(styled({ model_type: "kokoro", style_dim: `${kokoroLengths},1,${styleSize}` })),
    );
    await write("voices.bin", styles(kokoroLengths));
  }
  if (kind === "kitten") {
    await write("model.fp16.onnx", encodeOnnx(styled({ model_type: "kitten-tts", style_dim: `1,${styleSize}` })));
    await write("voices.bin", styles(1));
  }
  if (kind === "matcha") {
    await write("model-steps-3.onnx", encodeOnnx(matcha()));
    await write("hifigan_tiny.onnx", encodeOnnx(vocoder()));
  }
}

/** Of the program: `eSpeak NG text-to-speech: 1.51  Data at: /usr/lib/…/espeak-ng-data`. */
export function installedEspeakData(): string | undefined {
  const { stdout } = spawnSync("espeak-ng", ["--version"], { encoding: "utf8" });
  return /Data at: (.+)$/m.exec(stdout ?? "")?.[1]?.trim();
}
