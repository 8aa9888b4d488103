/**
 * Prepares Piper voices as they are published, `NAME.onnx` with `NAME.onnx.json`, for sherpa-onnx: the description becomes
 * metadata at the end of the network, and a list of phonemes next to it. Piper itself still reads the files.
 */
import { constants } from "node:fs";
import { access, open, readFile, rename, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { encodeMetadata, readOnnxMetadata, type OnnxMetadata } from "./onnx-metadata.ts";
import { metadataOf, readPiperConfig, tokensOf } from "./piper-config.ts";
import { withPullLock } from "./pull-lock.ts";

/** Its value is the size of the file as it was published, for comparing it with its source. */
const publishedBytesKey = "sounding_published_bytes";

/** The name of the description of a network. */
export function piperConfigName(network: string): string {
  return `${network}.json`;
}

/** The name of the list of phonemes; sherpa-onnx's own models call theirs so, too. */
export function piperTokensName(network: string): string {
  return `${network.replace(/\.onnx$/i, "")}-tokens.txt`;
}

/**
 * The networks in a folder that are Piper voices. A folder with a list of tokens of another origin is a sherpa-onnx model.
 * @param names of the files in the folder
 */
export function piperNetworks(names: readonly string[]): string[] {
  const networks = names.filter((name) => /\.onnx$/i.test(name) && names.includes(piperConfigName(name)));
  const ours = new Set(networks.map(piperTokensName));
  return names.some((name) => name.endsWith("tokens.txt") && !ours.has(name)) ? [] : networks;
}

interface Preparation {
  /** What is missing at the end of the network; empty if nothing. */
  readonly metadata: OnnxMetadata;
  /** The list of phonemes; undefined if the file has it. */
  readonly tokens: string | undefined;
}

/** @throws Error that says why the voice cannot be used, as the end of a sentence about it */
async function preparationOf(network: string): Promise<Preparation> {
  const folder = dirname(network);
  const name = basename(network);
  const config = await readPiperConfig(join(folder, piperConfigName(name)), piperConfigName(name));
  const present = await readOnnxMetadata(network);
  if (present === undefined) throw new Error("it is not an ONNX file, or incomplete");
  const wanted = metadataOf(config);
  const isThere = [...wanted].every(([key, value]) => present.get(key) === value);
  const { size } = await stat(network);
  const published = present.get(publishedBytesKey) ?? String(size);
  const tokens = tokensOf(config);
  const written = await readFile(join(folder, piperTokensName(name)), "utf8").catch(() => undefined);
  return {
    metadata: isThere ? new Map() : new Map([...wanted, [publishedBytesKey, published]]),
    tokens: written === tokens ? undefined : tokens,
  };
}

/** Why the voice cannot be served, as the end of a sentence about it; undefined if it can, once it is prepared. */
export async function piperProblem(network: string): Promise<string | undefined> {
  try {
    const { metadata, tokens } = await preparationOf(network);
    if (metadata.size > 0) await access(network, constants.W_OK);
    if (tokens !== undefined) await access(dirname(network), constants.W_OK);
    return undefined;
  } catch (error) {
    return problemOf(error);
  }
}

/** Prepares the voice if necessary. @returns why that is impossible, as the end of a sentence about it */
export async function preparePiperVoice(network: string): Promise<string | undefined> {
  try {
    const before = await preparationOf(network);
    if (before.metadata.size === 0 && before.tokens === undefined) return undefined;
    await withPullLock(network, async () => {
      // Another process may have prepared it in the meantime.
      const { metadata, tokens } = await preparationOf(network);
      if (tokens !== undefined) await writeTokens(network, tokens);
      if (metadata.size > 0) await appendMetadata(network, metadata);
    });
    return undefined;
  } catch (error) {
    return problemOf(error);
  }
}

async function writeTokens(network: string, tokens: string): Promise<void> {
  const path = join(dirname(network), piperTokensName(basename(network)));
  const part = join(dirname(path), `.${basename(path)}.new`);
  await writeFile(part, tokens);
  await rename(part, path);
}

async function appendMetadata(network: string, metadata: OnnxMetadata): Promise<void> {
  const file = await open(network, "r+");
  try {
    const bytes = encodeMetadata(metadata);
    await file.write(bytes, 0, bytes.length, (await file.stat()).size);
    await file.sync();
  } finally {
    await file.close();
  }
}

function problemOf(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code === "EACCES" || code === "EROFS" || code === "EPERM")
    return "it is a Piper voice that has to be prepared once, but its folder is not writable; `sounding models add` makes a copy that is";
  return error instanceof Error ? error.message : String(error);
}

/** The size of a file as it was published, which preparing a Piper voice exceeds. */
export async function publishedBytes(path: string): Promise<number> {
  const { size } = await stat(path);
  if (!/\.onnx$/i.test(path)) return size;
  const noted = Number((await readOnnxMetadata(path))?.get(publishedBytesKey) ?? size);
  return Number.isInteger(noted) && noted > 0 && noted < size ? noted : size;
}
