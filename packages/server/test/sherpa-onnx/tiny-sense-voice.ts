/** A network in the form of SenseVoice: seven frames joined, and language, emotion and event before the words. */
import { floats, node, type OnnxModel } from "./onnx-file.ts";
import { bands, detect, kaldiBand } from "./tiny-networks.ts";
import { tokens } from "./spoken-tones.ts";

const joined = 7;
/** Language, emotion, event, and whether numbers are written out. */
const said = ["<|en|>", "<|NEUTRAL|>", "<|Speech|>", "<|withitn|>"];
export const senseVoiceTokens = [...tokens, ...said];
const size = senseVoiceTokens.length;
const inputs = bands * joined;

export function senseVoice(): OnnxModel {
  const { nodes, weights } = detect("x", {
    // The middle one of the seven frames.
    scale: (frequency) => Math.floor(joined / 2) * bands + kaldiBand(frequency, 8_000),
    // Samples are not scaled down to one.
    threshold: 3 + 2 * Math.log(32_768),
    columns: senseVoiceTokens,
    inputs,
    step: 1,
  });
  const first = said.flatMap((token) => senseVoiceTokens.map((each) => (each === token ? 50 : 0)));
  return {
    inputs: [
      ["x", "float", ["N", "T", inputs]],
      ["x_length", "int32", ["N"]],
      ["language", "int32", ["N"]],
      ["text_norm", "int32", ["N"]],
    ],
    outputs: [["logits_out", "float", ["N", "S", size]]],
    nodes: [...nodes, node("Concat", ["said", "logits"], "logits_out", { axis: 1 })],
    weights: { ...weights, said: floats([1, said.length, size], first) },
    metadata: {
      model_type: "sense_voice_ctc",
      vocab_size: size,
      lfr_window_size: joined,
      lfr_window_shift: 6,
      normalize_samples: 0,
      with_itn: 14,
      without_itn: 15,
      lang_auto: 0,
      lang_zh: 3,
      lang_en: 4,
      lang_yue: 7,
      lang_ja: 11,
      lang_ko: 12,
      neg_mean: Array.from({ length: inputs }, () => 0).join(","),
      inv_stddev: Array.from({ length: inputs }, () => 1).join(","),
    },
  };
}
