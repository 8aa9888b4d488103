/** Lists what is in the folder `models` of the data directory: models, and files that cannot be used, with the reason. */
import { readdir, stat } from "node:fs/promises";
import { basename, dirname, join, relative, sep } from "node:path";
import type { SherpaOnnxKind } from "../config/engines/sherpa-onnx.ts";
import { detectKind } from "./detect-kind.ts";
import { describeGguf, type GgufDescription } from "./gguf-file.ts";
import { embeddingProblem, purposeOf, type GgufPurpose } from "./gguf-purpose.ts";
import { modelKinds } from "./model-kinds.ts";
import { findParts } from "./model-parts.ts";
import { piperConfigName, piperNetworks, piperProblem, piperTokensName } from "./piper-voice.ts";
import { modelsDirectoryOf } from "./pull-options.ts";
import { pullingProcess } from "./pull-lock.ts";
import { findSpeakerModels, type SpeakerModels } from "./speaker-models.ts";
import { ctranslate2Vocabulary } from "./whisper/convert-whisper.ts";

/** A file or folder as it is on the disk. */
export interface StoredModel {
  /** Relative to the models' directory, with slashes: its name in the configuration. A split model has that of its first part. */
  readonly name: string;
  readonly path: string;
  readonly sizeBytes: number;
  readonly modifiedUnixMs: number;
  /** `gguf` runs with llama.cpp, `onnx` (a folder) and `piper` (a network with its description) with sherpa-onnx. */
  readonly format: "gguf" | "onnx" | "piper" | "other";
  /** The architecture that a GGUF file names. */
  readonly architecture: string | undefined;
  /** What a GGUF file is for. */
  readonly purpose: GgufPurpose | undefined;
  /** The kind of a sherpa-onnx model. */
  readonly kind: SherpaOnnxKind | undefined;
  /** What it has to identify speakers in the transcriptions of other models. */
  readonly speakers: SpeakerModels | undefined;
  /** Tokens that the model was trained on. */
  readonly contextLength: number | undefined;
  /** Why it cannot be served as it is. */
  readonly problem: string | undefined;
}

export interface StoredModels {
  /** By name. */
  readonly models: readonly StoredModel[];
  /** The folders that were read; a change in any of them may change the list. */
  readonly folders: readonly string[];
}

/** In a folder whose files are still being pulled. */
export const incompleteMark = ".sounding-incomplete";

/** A repository's name has two segments, and its folders rarely have more than two. */
const deepestFolder = 6;
/** Hidden ones are still being written. */
const network = /^(?!\.).*\.(?:onnx|ort)$/i;
const splitPart = /-(\d{5})-of-(\d{5})\.gguf$/i;
/** Weights in formats that no engine reads. */
const unsupported = /\.(?:safetensors|bin|pt|pth|ckpt|ggml|tflite)$/i;
/** `.NAME.12345678.part`, or `..NAME.archive.12345678.part` for an archive. */
const unfinished = /^\.(?:\.(?<archive>.+)\.archive|(?<file>.+))\.[0-9a-f]{8}\.part$/;
const incomplete = "its download is incomplete; pull it again to resume";

/** Everything in the models' directory of a data directory. */
export async function listStoredModels(dataDirectory: string): Promise<StoredModels> {
  const directory = modelsDirectoryOf(dataDirectory);
  const models: StoredModel[] = [];
  const folders: string[] = [];
  await readFolder(directory, { directory, models, folders, depth: 0 });
  models.sort((a, b) => (a.name < b.name ? -1 : 1));
  return { models, folders };
}

/** Whether the folder itself contains networks. */
export async function isModelFolder(folder: string): Promise<boolean> {
  const names = await readdir(folder).catch(() => []);
  return names.some((name) => network.test(name));
}

interface Reading {
  readonly directory: string;
  readonly models: StoredModel[];
  readonly folders: string[];
  readonly depth: number;
}

interface Entry {
  readonly name: string;
  readonly path: string;
  readonly isFolder: boolean;
  readonly sizeBytes: number;
  readonly modifiedUnixMs: number;
}

async function readFolder(folder: string, reading: Reading): Promise<void> {
  const { directory, models, folders, depth } = reading;
  const entries = await entriesOf(folder);
  if (entries === undefined) return;
  folders.push(folder);
  const facts = (entry: Entry) => ({
    name: relative(directory, entry.path).split(sep).join("/"),
    path: entry.path,
    sizeBytes: entry.sizeBytes,
    modifiedUnixMs: entry.modifiedUnixMs,
  });
  const unusable = (entry: Entry, problem: string): StoredModel => ({ ...facts(entry), ...nothingKnown, problem });
  const files = entries.filter(({ isFolder }) => !isFolder);
  const names = files.map(({ name }) => name);
  const voices = names.includes(incompleteMark) ? [] : piperNetworks(names);
  const isModel = depth > 0 && voices.length === 0 && names.some((name) => network.test(name));
  for (const file of files) {
    if (/\.gguf$/i.test(file.name)) {
      const described = await describeGgufFile(file, files);
      if (described !== undefined) models.push({ ...facts(file), ...described });
    } else if (voices.includes(file.name)) {
      models.push(await describePiperVoice(file.path, directory));
    } else if (isModel) {
      // Its other files belong to it.
    } else if (unfinished.test(file.name)) {
      const { archive, file: single } = unfinished.exec(file.name)!.groups!;
      const name = (archive ?? single)!;
      models.push(unusable({ ...file, path: join(folder, name) }, await pullProblem(folder, name)));
    } else if (!file.name.startsWith(".") && unsupported.test(file.name)) {
      models.push(unusable(file, otherFormat(names, folder)));
    } else if (network.test(file.name)) {
      const speakers = await findSpeakerModels(folder, [file.name]).catch(() => undefined);
      const problem = speakers === undefined ? singleNetwork(file.name) : speakersOnly;
      models.push({ ...unusable(file, problem), speakers });
    }
  }
  if (isModel) {
    models.push(await describeModelFolder(folder, directory));
    return;
  }
  if (depth >= deepestFolder) return;
  for (const { name, path, isFolder } of entries)
    if (isFolder && !name.startsWith(".")) await readFolder(path, { ...reading, depth: depth + 1 });
}

const nothingKnown = {
  format: "other",
  architecture: undefined,
  purpose: undefined,
  kind: undefined,
  speakers: undefined,
  contextLength: undefined,
} as const;

const speakersOnly =
  "it is no model of its own: with a segmentation model and an embedding model, recognizers in this directory identify speakers";

/** Links are followed. Undefined for a folder that is not there or cannot be read. */
async function entriesOf(folder: string): Promise<Entry[] | undefined> {
  const names = await readdir(folder).catch(() => undefined);
  if (names === undefined) return undefined;
  const entries: Entry[] = [];
  for (const name of names.sort()) {
    const path = join(folder, name);
    const found = await stat(path).catch(() => undefined);
    // It has been removed in the meantime, or is a link to nothing.
    if (found === undefined) continue;
    const { size: sizeBytes, mtimeMs: modifiedUnixMs } = found;
    entries.push({ name, path, isFolder: found.isDirectory(), sizeBytes, modifiedUnixMs });
  }
  return entries;
}

function otherFormat(names: readonly string[], folder: string): string {
  if (ctranslate2Vocabulary(names) !== undefined)
    return `its format (CTranslate2) is not served as it is; if it is Whisper, convert it with: sounding models add ${JSON.stringify(folder)}`;
  return "its format is not supported; use a GGUF file or a folder with a sherpa-onnx model";
}

function singleNetwork(name: string): string {
  return `a single ONNX file is no model: a Piper voice also needs ${piperConfigName(name)}`;
}

/** Describes a Piper voice by its network. */
export async function describePiperVoice(path: string, directory: string): Promise<StoredModel> {
  const folder = dirname(path);
  const name = basename(path);
  const files = await Promise.all(
    [name, piperConfigName(name), piperTokensName(name)].map((file) => stat(join(folder, file)).catch(() => undefined)),
  );
  return {
    name: relative(directory, path).split(sep).join("/"),
    path,
    sizeBytes: files.reduce((sum, file) => sum + (file?.size ?? 0), 0),
    modifiedUnixMs: Math.max(...files.map((file) => file?.mtimeMs ?? 0)),
    ...nothingKnown,
    format: "piper",
    kind: "vits",
    problem: await piperProblem(path),
  };
}

async function pullProblem(folder: string, name: string): Promise<string> {
  const process = await pullingProcess(join(folder, name));
  return process === undefined ? incomplete : `process ${process} is downloading it`;
}

type Described = Partial<Pick<StoredModel, "sizeBytes">> &
  Omit<StoredModel, "name" | "path" | "sizeBytes" | "modifiedUnixMs">;

/** Undefined for a part of a split model that is not the first. */
async function describeGgufFile(file: Entry, siblings: readonly Entry[]): Promise<Described | undefined> {
  if (file.name.startsWith(".")) return undefined;
  const [suffix, number, count] = splitPart.exec(file.name) ?? [];
  const parts = suffix === undefined ? [file] : siblings.filter(({ name }) => isPartOf(name, file.name, suffix));
  if (parts[0] !== file) return undefined;
  const sizeBytes = parts.reduce((sum, part) => sum + part.sizeBytes, 0);
  const missing = Number(count ?? 1) - parts.length;
  try {
    if (missing > 0 || Number(number ?? 1) !== 1)
      throw new Error(`${missing} of its ${Number(count)} parts are missing`);
    const description = await describeGguf(file.path);
    const { architecture, contextLength } = description;
    const purpose = purposeOf(description);
    const problem = ggufUseProblem(description, purpose);
    return { sizeBytes, ...nothingKnown, format: "gguf", architecture, purpose, contextLength, problem };
  } catch (error) {
    return { sizeBytes, ...nothingKnown, format: "gguf", problem: messageOf(error) };
  }
}

function isPartOf(name: string, one: string, suffix: string): boolean {
  const match = splitPart.exec(name);
  return (
    match !== null && name.slice(0, match.index) === one.slice(0, -suffix.length) && match[2] === suffix.slice(-10, -5)
  );
}

function ggufUseProblem(description: GgufDescription, purpose: GgufPurpose): string | undefined {
  if (description.architecture === "clip") return "it is the projector of a multimodal model, not a model";
  if (purpose !== "chat") return embeddingProblem(description);
  if (description.hasChatTemplate) return undefined;
  return "it has no chat template; to use it, configure it with `chat_template` in an engine of type llama_cpp";
}

/** Describes a folder with networks; failures to read it become its problem. */
export async function describeModelFolder(folder: string, directory: string): Promise<StoredModel> {
  const facts = {
    name: relative(directory, folder).split(sep).join("/"),
    path: folder,
    ...(await measure(folder)),
    ...nothingKnown,
    format: "onnx",
  } as const;
  try {
    const kind = await detectKind(folder);
    const problem = await folderProblem(folder, kind);
    const names = await readdir(folder);
    if (kind !== undefined || names.includes(incompleteMark)) return { ...facts, kind, problem };
    const networks = names.filter((name) => network.test(name));
    const speakers = await findSpeakerModels(folder, networks);
    return { ...facts, speakers, problem: speakers === undefined ? problem : speakersOnly };
  } catch (error) {
    return { ...facts, problem: messageOf(error) };
  }
}

async function folderProblem(folder: string, kind: SherpaOnnxKind | undefined): Promise<string | undefined> {
  const names = await readdir(folder);
  if (names.includes(incompleteMark)) return pullProblem(join(folder, ".."), basename(folder));
  if (kind === undefined)
    return "its kind is unknown or it lacks a tokens file; an engine of type sherpa_onnx may accept it if you configure it";
  const { missing } = await findParts(folder, modelKinds[kind]);
  return missing.length === 0 ? undefined : `it lacks the files ${missing.join(", ")} of a ${kind} model`;
}

async function measure(folder: string): Promise<Pick<StoredModel, "sizeBytes" | "modifiedUnixMs">> {
  let sizeBytes = 0;
  let modifiedUnixMs = 0;
  for (const name of await readdir(folder, { recursive: true }).catch(() => [])) {
    const found = await stat(join(folder, name)).catch(() => undefined);
    if (found?.isFile() !== true) continue;
    sizeBytes += found.size;
    modifiedUnixMs = Math.max(modifiedUnixMs, found.mtimeMs);
  }
  return { sizeBytes, modifiedUnixMs };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
