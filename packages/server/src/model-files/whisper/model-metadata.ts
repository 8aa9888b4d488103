/**
 * What sherpa-onnx reads from a Whisper model to know it.
 * https://github.com/k2-fsa/sherpa-onnx/blob/master/sherpa-onnx/csrc/offline-whisper-model.cc
 */
import type { Architecture } from "./architecture.ts";
import type { Vocabulary } from "./vocabulary.ts";

/** Whisper for English has fewer tokens. */
const smallestMultilingual = 51_865;

export function metadataOf(
  { width, mels, frames, context, encoder, decoder }: Architecture,
  { size, numberOf, languages }: Vocabulary,
): ReadonlyMap<string, string> {
  const isMultilingual = size >= smallestMultilingual;
  const start = numberOf("<|startoftranscript|>");
  const transcribe = numberOf("<|transcribe|>");
  const facts: Readonly<Record<string, string | number>> = {
    model_type: "whisper",
    version: 1,
    maintainer: "converted from CTranslate2 by Sounding",
    n_mels: mels,
    n_audio_ctx: frames,
    n_audio_state: width,
    n_audio_head: encoder.heads,
    n_audio_layer: encoder.layers.length,
    n_vocab: size,
    n_text_ctx: context,
    n_text_state: width,
    n_text_head: decoder.heads,
    n_text_layer: decoder.layers.length,
    sot_sequence: (isMultilingual ? [start, start + 1, transcribe] : [start]).join(","),
    all_language_tokens: languages.map(({ number }) => number).join(","),
    all_language_codes: languages.map(({ code }) => code).join(","),
    sot: start,
    sot_index: 0,
    eot: numberOf("<|endoftext|>"),
    blank_id: numberOf("Ġ"),
    is_multilingual: isMultilingual ? 1 : 0,
    no_speech: numberOf("<|nospeech|>", "<|nocaptions|>"),
    non_speech_tokens: "",
    transcribe,
    translate: numberOf("<|translate|>"),
    sot_prev: numberOf("<|startofprev|>"),
    sot_lm: numberOf("<|startoflm|>"),
    no_timestamps: numberOf("<|notimestamps|>"),
    n_alignment_heads: decoder.alignment.length,
    alignment_heads: decoder.alignment.map(([layer, head]) => `${layer}:${head}`).join(","),
  };
  return new Map(Object.entries(facts).map(([key, value]) => [key, String(value)]));
}
