/** Tiny models for speaker diarization: each speaker hums a different constant tone. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { encodeOnnx, floats, integers, node, type OnnxModel } from "./onnx-file.ts";
import { recordingRate } from "./spoken-tones.ts";
import { bands, kaldiBand } from "./tiny-networks.ts";

/** The frequency of each speaker, in hertz. */
const hums = [3_000, 3_500, 3_900];
const humLevel = 0.1;

/** The same speech, by this speaker. */
export function spokenBy(speaker: number, samples: Float32Array): Float32Array<ArrayBuffer> {
  const angle = (2 * Math.PI * hums[speaker]!) / recordingRate;
  return Float32Array.from(samples, (sample, index) => sample + humLevel * Math.sin(angle * index));
}

const window = 991;
const shift = 270;
/** Silence, three speakers, and each two of them. */
const classes = 7;

/** In the form of pyannote's segmentation: a filter for each hum. */
function segmentation(): OnnxModel {
  const filters = [Math.cos, Math.sin].flatMap((wave) =>
    hums.flatMap((hum) =>
      Array.from({ length: window }, (_, index) => (wave((2 * Math.PI * hum * index) / recordingRate) * 2) / window),
    ),
  );
  const size = hums.length;
  return {
    inputs: [["x", "float", ["N", 1, "T"]]],
    outputs: [["y", "float", ["N", "S", classes]]],
    nodes: [
      node("Conv", ["x", "filters"], "waves", { strides: [shift], kernel_shape: [window] }),
      node("Mul", ["waves", "waves"], "powers"),
      node("Slice", ["powers", "none", "count", "channel_axis"], "cosines"),
      node("Slice", ["powers", "count", "all", "channel_axis"], "sines"),
      node("Add", ["cosines", "sines"], "power"),
      node("Sqrt", ["power"], "levels"),
      node("Transpose", ["levels"], "heard", { perm: [0, 2, 1] }),
      node("MatMul", ["heard", "to_classes"], "voices"),
      node("Add", ["voices", "bias"], "y"),
    ],
    weights: {
      filters: floats([2 * size, 1, window], filters),
      channel_axis: integers([1], [1]),
      none: integers([1], [0]),
      count: integers([1], [size]),
      all: integers([1], [2 * size]),
      to_classes: floats(
        [size, classes],
        hums.flatMap((_, row) => Array.from({ length: classes }, (__, column) => (column === row + 1 ? 1 : 0))),
      ),
      bias: floats([classes], [humLevel / 2, 0, 0, 0, -10, -10, -10]),
    },
    metadata: {
      model_type: "pyannote-segmentation-3.0",
      sample_rate: recordingRate,
      window_size: 10 * recordingRate,
      receptive_field_size: window,
      receptive_field_shift: shift,
      num_speakers: 3,
      powerset_max_classes: 2,
      num_classes: classes,
    },
  };
}

/** By how much each hum's band is louder than those of the others. */
function embedding(): OnnxModel {
  const weights = Array.from({ length: bands * hums.length }, () => 0);
  for (const [row, hum] of hums.entries()) {
    for (let column = 0; column < hums.length; column++) {
      weights[kaldiBand(hum) * hums.length + column] = row === column ? 1 : -1 / (hums.length - 1);
    }
  }
  return {
    inputs: [["x", "float", ["N", "T", bands]]],
    outputs: [["embedding", "float", ["N", hums.length]]],
    nodes: [
      node("ReduceMean", ["x"], "mean", { axes: [1], keepdims: 0 }),
      node("MatMul", ["mean", "bands"], "embedding"),
    ],
    weights: { bands: floats([bands, hums.length], weights) },
    metadata: {
      framework: "wespeaker",
      language: "English",
      output_dim: hums.length,
      sample_rate: recordingRate,
      normalize_samples: 1,
    },
  };
}

/** Writes `segmentation.onnx` and `embedding.onnx`. */
export async function writeTinySpeakers(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "segmentation.onnx"), encodeOnnx(segmentation()));
  await writeFile(join(folder, "embedding.onnx"), encodeOnnx(embedding()));
}
