/** Finds a model's files in its folder, so that missing files are reported at startup. */
import { readdir, stat } from "node:fs/promises";
import { isAbsolute, join, resolve } from "node:path";
import type { SherpaOnnxModelSettings } from "../../config/engines/sherpa-onnx.ts";
import { AppError } from "../../errors.ts";
import { modelKinds, type ModelKind, type ModelPart } from "../../model-files/model-kinds.ts";
import { readOnnxMetadata, type OnnxMetadata } from "../../model-files/onnx-metadata.ts";

export interface ResolvedModel {
  /** Paths by part; several joined by commas, as the library wants them. */
  readonly parts: Readonly<Record<string, string>>;
  readonly metadata: OnnxMetadata;
  readonly createdUnixMs: number;
  /** Paths of the diarization models. */
  readonly speakerModels: { readonly segmentation: string; readonly embedding: string } | undefined;
}

/**
 * @param name how the configuration calls the model, for the error's text
 * @throws AppError upstream_failed that names every missing file
 */
export async function resolveModel(
  name: string,
  settings: SherpaOnnxModelSettings,
  modelsDirectory: string,
): Promise<ResolvedModel> {
  const kind = modelKinds[settings.kind];
  const fail: (problem: string) => never = (problem) => {
    throw new AppError("upstream_failed", `The model ${JSON.stringify(name)} cannot be used: ${problem}.`);
  };
  const folder =
    (await findFolder(settings.folder, modelsDirectory)) ?? fail(noFolder(settings.folder, modelsDirectory));
  const unknown = Object.keys(settings.files).filter((part) => !Object.hasOwn(kind.parts, part));
  if (unknown.length > 0)
    fail(`a ${settings.kind} model has no files ${unknown.join(", ")}; its files are ${partNames(kind)}`);
  const names = await readdir(folder);
  const parts: Record<string, string> = {};
  const missing: string[] = [];
  for (const [part, description] of Object.entries(kind.parts)) {
    const found = await findPart(folder, names, { description, given: settings.files[part] });
    if (found.paths.length > 0) parts[part] = found.paths.join(",");
    missing.push(...found.missing.map((path) => `${part} (${path})`));
    if (found.paths.length + found.missing.length === 0 && description.optional !== true) missing.push(part);
  }
  if (missing.length > 0) fail(`${folder} lacks ${missing.join(", ")}`);
  const main = parts[kind.main]!;
  const metadata = await readOnnxMetadata(main);
  // Files in ONNX Runtime's own format have no metadata that could be read here.
  if (metadata === undefined && !main.endsWith(".ort")) fail(`${main} is not an ONNX file`);
  const speakerModels = await findSpeakerModels(settings, modelsDirectory, fail);
  return { parts, metadata: metadata ?? new Map(), createdUnixMs: (await stat(main)).mtimeMs, speakerModels };
}

async function findSpeakerModels(
  { speakers }: SherpaOnnxModelSettings,
  modelsDirectory: string,
  fail: (problem: string) => never,
): Promise<ResolvedModel["speakerModels"]> {
  if (speakers === undefined) return undefined;
  const find = async (part: "segmentation" | "embedding"): Promise<string> => {
    const places = candidates(speakers[part], modelsDirectory);
    for (const place of places) {
      if (!(await pathExists(place, false))) continue;
      return (await readOnnxMetadata(place)) === undefined ? fail(`${place} is not an ONNX file`) : place;
    }
    return fail(`neither ${places.join(" nor ")} exists (speakers.${part})`);
  };
  return { segmentation: await find("segmentation"), embedding: await find("embedding") };
}

/** Undefined if it does not exist. */
async function findFolder(folder: string, modelsDirectory: string): Promise<string | undefined> {
  for (const candidate of candidates(folder, modelsDirectory)) if (await pathExists(candidate, true)) return candidate;
  return undefined;
}

function candidates(folder: string, modelsDirectory: string): string[] {
  return isAbsolute(folder) ? [folder] : [join(modelsDirectory, folder), resolve(folder)];
}

function noFolder(folder: string, modelsDirectory: string): string {
  return `neither ${candidates(folder, modelsDirectory).join(" nor ")} exists as a folder; download the model with: sounding models pull`;
}

function partNames(kind: ModelKind): string {
  return Object.keys(kind.parts).join(", ");
}

async function pathExists(path: string, asFolder: boolean): Promise<boolean> {
  return stat(path).then(
    (found) => (asFolder ? found.isDirectory() : found.isFile()),
    () => false,
  );
}

async function findPart(
  folder: string,
  names: readonly string[],
  { description, given }: { description: ModelPart; given: string | readonly string[] | undefined },
): Promise<{ paths: string[]; missing: string[] }> {
  const wanted = given === undefined ? usualNames(names, description) : [given].flat();
  const paths: string[] = [];
  const missing: string[] = [];
  for (const name of wanted) {
    const path = resolve(folder, name);
    ((await pathExists(path, description.folder === true)) ? paths : missing).push(path);
  }
  return { paths, missing };
}

/** The files that the part is usually called, in the order of their names. */
function usualNames(names: readonly string[], { names: patterns, several }: ModelPart): string[] {
  for (const pattern of patterns) {
    const found = names.filter((name) => pattern.test(name)).sort();
    if (found.length > 0) return several === true ? found : found.slice(0, 1);
  }
  return [];
}
