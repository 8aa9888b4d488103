/** Converts a Whisper model from CTranslate2's format to sherpa-onnx's, a tensor at a time. */
import { open, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { inputLimit } from "../../../input-limits.ts";
import { readArchitecture } from "../architecture.ts";
import { decoderNetwork } from "../decoder-network.ts";
import { encoderNetwork } from "../encoder-network.ts";
import { metadataOf } from "../model-metadata.ts";
import { writeNetwork, type Network } from "../onnx-file.ts";
import type { ToConverter } from "../protocol.ts";
import { readVocabulary } from "../vocabulary.ts";
import { UnusableWeights, WeightsFile } from "../weights-file.ts";

/** Whisper's have half a megabyte. */
const longestText = inputLimit({
  area: "Configuration and model files",
  bounds: "Vocabulary or description of a model that is converted",
  value: 8 * 2 ** 20,
  unit: "bytes",
  error: { instead: "`sounding models pull` and `add` fail" },
});

/**
 * @param onProgress called with the bytes of the new files
 * @throws UnusableWeights; then none of the new files is there
 */
export async function convert(
  { folder, vocabulary: vocabularyName, ...names }: ToConverter,
  onProgress: (doneBytes: number, totalBytes: number) => void,
): Promise<void> {
  const vocabulary = readVocabulary(vocabularyName, await readText(folder, vocabularyName));
  const config = parse(await readText(folder, "config.json"));
  await using weights = await WeightsFile.open(join(folder, "model.bin"));
  const architecture = await readArchitecture(weights, config, vocabulary);
  const encoder = encoderNetwork(weights, architecture, metadataOf(architecture, vocabulary));
  const decoder = decoderNetwork(weights, architecture, vocabulary.size);
  const totalBytes = bytesOf(encoder) + bytesOf(decoder);
  let doneBytes = 0;
  const onBytes = (count: number): void => onProgress((doneBytes += count), totalBytes);
  const [encoderPath, decoderPath, tokensPath] = [names.encoder, names.decoder, names.tokens].map((name) =>
    join(folder, name),
  ) as [string, string, string];
  try {
    await writeNetwork(encoderPath, encoder, onBytes);
    await writeNetwork(decoderPath, decoder, onBytes);
    await writeFile(tokensPath, `${vocabulary.lines.join("\n")}\n`);
  } catch (error) {
    for (const path of [encoderPath, decoderPath, tokensPath]) await rm(path, { force: true });
    throw error;
  }
}

function bytesOf({ initializers }: Network): number {
  return initializers.reduce((sum, { byteLength }) => sum + byteLength, 0);
}

async function readText(folder: string, name: string): Promise<string> {
  const file = await open(join(folder, name));
  try {
    const { size } = await file.stat();
    if (size > longestText) throw new UnusableWeights(`its ${name} has more than ${longestText} bytes`);
    return await file.readFile("utf8");
  } finally {
    await file.close();
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new UnusableWeights("its config.json is not JSON");
  }
}
