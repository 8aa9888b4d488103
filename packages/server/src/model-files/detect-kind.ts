/** Detects the kind of model in a folder from its files' names and metadata. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { SherpaOnnxKind } from "../config/engines/sherpa-onnx.ts";
import { readOnnxMetadata, type OnnxMetadata } from "./onnx-metadata.ts";

/** Undefined for a folder that holds none, or one that is not known. */
export async function detectKind(folder: string): Promise<SherpaOnnxKind | undefined> {
  const names = await readdir(folder);
  const networks = names.filter((name) => /\.(?:onnx|ort)$/.test(name)).sort();
  if (networks.length === 0 || !names.some((name) => name.endsWith("tokens.txt"))) return undefined;
  const find = (pattern: RegExp): string | undefined => networks.find((name) => pattern.test(name));
  const metadataOf = async (name: string): Promise<OnnxMetadata> =>
    (await readOnnxMetadata(join(folder, name))) ?? new Map<string, string>();
  if (find(/uncached_decode/) !== undefined) return "moonshine";
  const encoder = find(/(?:^|-)encoder/);
  if (encoder !== undefined) return ofEncoder(await metadataOf(encoder), find(/joiner/) !== undefined);
  // A vocoder may be next to its model.
  for (const name of networks) {
    const kind = ofModel(await metadataOf(name), names.includes("voices.bin"));
    if (kind !== undefined) return kind;
  }
  return undefined;
}

function ofEncoder(metadata: OnnxMetadata, hasJoiner: boolean): SherpaOnnxKind | undefined {
  if (!hasJoiner) return metadata.has("n_mels") ? "whisper" : undefined;
  if (metadata.has("decode_chunk_len")) return "streaming_transducer";
  return metadata.has("pred_rnn_layers") ? "nemo_transducer" : "transducer";
}

function ofModel(metadata: OnnxMetadata, hasVoices: boolean): SherpaOnnxKind | undefined {
  const type = metadata.get("model_type") ?? "";
  if (hasVoices) return /kitten/i.test(type) ? "kitten" : "kokoro";
  if (/matcha/i.test(type)) return "matcha";
  if (metadata.has("n_speakers")) return "vits";
  if (metadata.has("lang_auto")) return "sense_voice";
  if (metadata.has("decode_chunk_len")) return "streaming_zipformer_ctc";
  if (type.startsWith("EncDec")) return "nemo_ctc";
  return /zipformer/i.test(type) ? "zipformer_ctc" : undefined;
}
