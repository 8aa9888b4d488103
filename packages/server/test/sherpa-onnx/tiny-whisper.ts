/**
 * Networks in the form of Whisper: the encoder passes on each frame's logits; the decoder emits every token in them once,
 * in numerical order, and then the end. It does not recognize "one" as a German word, and takes "three" for German.
 */
import { floats, integers, node, type OnnxModel } from "./onnx-file.ts";
import { bands, detect, identity, slaneyBand } from "./tiny-networks.ts";
import { tokens, toneOf } from "./spoken-tones.ts";

const special = [
  "<eot>",
  "<sot>",
  "<transcribe>",
  "<translate>",
  "<nospeech>",
  "<en>",
  "<de>",
  "<notimestamps>",
  "<0.00>",
  "<0.02>",
] as const;
const names = [...tokens, ...special];
const size = names.length;
const numberOf = (name: (typeof names)[number]): number => names.indexOf(name);
const contextLength = 64;

/** Lines of tokens.txt: Whisper's are base64. */
export const whisperTokens = tokens.map(
  (token, index) => `${Buffer.from(token.replace("▁", " ")).toString("base64")} ${index}\n`,
);

/** @param words whether it was exported with the alignment of its words */
export function whisperEncoder(words: boolean): OnnxModel {
  const tones = { ...toneOf, "<de>": toneOf["▁three"] };
  const { nodes, weights } = detect("x", {
    scale: slaneyBand,
    threshold: 0,
    columns: names,
    blank: "",
    tones,
    step: 2,
  });
  return {
    inputs: [["mel", "float", [1, bands, "T"]]],
    outputs: [
      ["n_layer_cross_k", "float", [1, 1, "S", size]],
      ["n_layer_cross_v", "float", [1, 1, "S", size]],
    ],
    nodes: [
      node("Transpose", ["mel"], "x", { perm: [0, 2, 1] }),
      ...nodes,
      node("Unsqueeze", ["logits", "first_axis"], "n_layer_cross_k"),
      node("Identity", ["n_layer_cross_k"], "n_layer_cross_v"),
    ],
    weights: { ...weights, first_axis: integers([1], [0]) },
    metadata: {
      model_type: "whisper-tiny",
      n_mels: bands,
      n_text_layer: 1,
      n_text_ctx: contextLength,
      n_text_state: size,
      n_vocab: size,
      sot: numberOf("<sot>"),
      eot: numberOf("<eot>"),
      blank_id: 0,
      translate: numberOf("<translate>"),
      transcribe: numberOf("<transcribe>"),
      is_multilingual: 1,
      no_timestamps: numberOf("<notimestamps>"),
      no_speech: numberOf("<nospeech>"),
      sot_sequence: [numberOf("<sot>"), numberOf("<en>"), numberOf("<transcribe>")].join(","),
      all_language_tokens: [numberOf("<en>"), numberOf("<de>")].join(","),
      all_language_codes: "en,de",
      ...(words ? { n_alignment_heads: 1 } : {}),
    },
  };
}

export function whisperDecoder(words: boolean): OnnxModel {
  const cache = [1, 1, contextLength, size] as const;
  const cross = [1, 1, "S", size] as const;
  // Emitted tokens are not repeated.
  const after = identity(size).map((each) => each * -50);
  after[numberOf("<de>") * size + numberOf("▁one")] = -50;
  // A language is only the answer to the first token.
  after[numberOf("<transcribe>") * size + numberOf("<de>")] = -50;
  // A tone is detected above this level of Whisper's own features; of several, the first precedes.
  const bias = names.map((name, index) => {
    if (name === "<eot>") return 0.55;
    // Above the voice's own sound at that frequency.
    if (name === "<de>") return -0.3;
    // Only where the library demands a time.
    return (name.startsWith("<0") ? -100 : 0) - 0.001 * index;
  });
  return {
    inputs: [
      ["tokens", "int64", [1, "L"]],
      ["in_n_layer_self_k_cache", "float", cache],
      ["in_n_layer_self_v_cache", "float", cache],
      ["n_layer_cross_k", "float", cross],
      ["n_layer_cross_v", "float", cross],
      ["offset", "int64", [1]],
    ],
    outputs: [
      ["logits", "float", [1, 1, size]],
      ["out_n_layer_self_k_cache", "float", cache],
      ["out_n_layer_self_v_cache", "float", cache],
      ...(words ? [["cross_attention_weights", "float", [1, 1, "L", "S"]] as const] : []),
    ],
    nodes: [
      node("Gather", ["identity", "tokens"], "one_hot"),
      node("ReduceMax", ["one_hot"], "now", { axes: [1] }),
      node("ReduceMax", ["in_n_layer_self_k_cache"], "earlier", { axes: [1, 2], keepdims: 0 }),
      node("Max", ["now", "earlier"], "said"),
      node("MatMul", ["said", "after"], "penalty"),
      node("ReduceMax", ["n_layer_cross_k"], "heard", { axes: [1, 2], keepdims: 0 }),
      node("Clip", ["heard", "least", "most"], "clear"),
      node("Add", ["clear", "bias"], "likely"),
      node("Add", ["likely", "penalty"], "logits"),
      node("Unsqueeze", ["said", "second_axis"], "said_row"),
      node("Max", ["in_n_layer_self_k_cache", "said_row"], "out_n_layer_self_k_cache"),
      node("Identity", ["in_n_layer_self_v_cache"], "out_n_layer_self_v_cache"),
      ...(words
        ? [
            node("ArgMax", ["logits"], "next", { axis: 2, keepdims: 0 }),
            node("Gather", ["identity", "next"], "next_one_hot"),
            node("Transpose", ["n_layer_cross_v"], "by_token", { perm: [0, 1, 3, 2] }),
            node("MatMul", ["next_one_hot", "by_token"], "looks"),
            // At the end it attends to the end, and a little to all before it, so that the last token ends with its tone.
            node("Shape", ["n_layer_cross_v"], "cross_shape"),
            node("Gather", ["cross_shape", "two"], "frame_count"),
            node("Range", ["zero", "frame_count", "one_step"], "frame_numbers"),
            node("Cast", ["frame_numbers"], "late", { to: "float" }),
            node("Cast", ["frame_count"], "latest", { to: "float" }),
            node("Div", ["late", "latest"], "lateness"),
            node("MatMul", ["next_one_hot", "is_end"], "at_end"),
            node("Mul", ["at_end", "lateness"], "looks_at_end"),
            node("Add", ["looks", "looks_at_end"], "all_looks"),
            node("Mul", ["all_looks", "sharp"], "sharp_looks"),
            node("Shape", ["tokens"], "token_shape"),
            node("Gather", ["token_shape", "one_index"], "count"),
            node("Concat", ["one", "one", "count", "one"], "look_shape", { axis: 0 }),
            node("Expand", ["sharp_looks", "look_shape"], "cross_attention_weights"),
          ]
        : []),
    ],
    weights: {
      identity: floats([size, size], identity(size)),
      after: floats([size, size], after),
      bias: floats([size], bias),
      least: floats([], [0]),
      most: floats([], [1]),
      sharp: floats([], [60]),
      is_end: floats(
        [size, 1],
        names.map((name) => (name === "<eot>" ? 0.3 : 0)),
      ),
      zero: integers([], [0]),
      one_step: integers([], [1]),
      two: integers([], [2]),
      second_axis: integers([1], [1]),
      one_index: integers([1], [1]),
      one: integers([1], [1]),
    },
  };
}
