/** Finds the models that identify speakers for recognizers: one that detects changes of the speaker, one that tells voices apart. */
import { join } from "node:path";
import { readOnnxMetadata, type OnnxMetadata } from "./onnx-metadata.ts";

/** Paths of networks. */
export interface SpeakerModels {
  readonly segmentation?: string | undefined;
  readonly embedding?: string | undefined;
}

/**
 * As sherpa-onnx's exports describe themselves.
 * https://k2-fsa.github.io/sherpa/onnx/speaker-diarization/models.html
 */
function roleOf(metadata: OnnxMetadata): keyof SpeakerModels | undefined {
  if (/^pyannote-segmentation/i.test(metadata.get("model_type") ?? "")) return "segmentation";
  return metadata.has("framework") && metadata.has("output_dim") ? "embedding" : undefined;
}

/** Those among the networks of a folder, the first by name of each role; undefined if there is none. */
export async function findSpeakerModels(
  folder: string,
  networks: readonly string[],
): Promise<SpeakerModels | undefined> {
  const found: { -readonly [Role in keyof SpeakerModels]: string } = {};
  for (const name of [...networks].sort()) {
    const path = join(folder, name);
    const role = roleOf((await readOnnxMetadata(path)) ?? new Map<string, string>());
    if (role !== undefined) found[role] ??= path;
  }
  return Object.keys(found).length === 0 ? undefined : found;
}
