/** Finds a model's files in its folder, so that missing files are reported at startup. */
import { stat } from "node:fs/promises";
import { basename, isAbsolute, join, resolve } from "node:path";
import type { SherpaOnnxModelSettings } from "../../config/engines/sherpa-onnx.ts";
import { AppError } from "../../errors.ts";
import { findEspeakData } from "../../model-files/espeak-data.ts";
import { modelKinds, type ModelKind } from "../../model-files/model-kinds.ts";
import { findParts, pathExists } from "../../model-files/model-parts.ts";
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
  dataDirectory: string,
): Promise<ResolvedModel> {
  const modelsDirectory = join(dataDirectory, "models");
  const kind = modelKinds[settings.kind];
  const fail: Fail = (problem, place) => {
    throw new AppError("upstream_failed", `The model ${JSON.stringify(name)} cannot be used: ${problem}.`, {
      lasting: true,
      cause: place === undefined ? undefined : new Error(place),
    });
  };
  const folder =
    (await findFolder(settings.folder, modelsDirectory)) ?? fail(...noFolder(settings.folder, modelsDirectory));
  const unknown = Object.keys(settings.files).filter((part) => !Object.hasOwn(kind.parts, part));
  if (unknown.length > 0)
    fail(`a ${settings.kind} model has no files ${unknown.join(", ")}; its files are ${partNames(kind)}`);
  const { parts, missing } = await findParts(folder, kind, settings.files);
  if (missing.length > 0) fail(`its folder lacks ${missing.join(", ")}`, `in ${folder}`);
  const main = parts[kind.main]!;
  const metadata = await readOnnxMetadata(main);
  // Files in ONNX Runtime's own format have no metadata that could be read here.
  if (metadata === undefined && !main.endsWith(".ort")) fail(`${basename(main)} is not an ONNX file`, main);
  const speakerModels = await findSpeakerModels(settings, modelsDirectory, fail);
  return { parts, metadata: metadata ?? new Map(), createdUnixMs: (await stat(main)).mtimeMs, speakerModels };
}

/**
 * The model with the data of espeak-ng, if it needs that and has none of its own.
 * @throws AppError upstream_failed if this machine has none
 */
export async function withPhonemeData(
  model: ResolvedModel,
  { kind }: SherpaOnnxModelSettings,
  dataDirectory: string,
): Promise<ResolvedModel> {
  const { parts, metadata } = model;
  const isNeeded =
    "data_dir" in modelKinds[kind].parts && parts["data_dir"] === undefined && metadata.get("has_espeak") === "1";
  return isNeeded ? { ...model, parts: { ...parts, data_dir: await findEspeakData(dataDirectory) } } : model;
}

/** Paths of all files of the model. */
export function filesOf({ parts, speakerModels }: ResolvedModel): string[] {
  return [...Object.values(parts).flatMap((paths) => paths.split(",")), ...Object.values(speakerModels ?? {})];
}

/** @param place paths, for the log only */
type Fail = (problem: string, place?: string) => never;

async function findSpeakerModels(
  { speakers }: SherpaOnnxModelSettings,
  modelsDirectory: string,
  fail: Fail,
): Promise<ResolvedModel["speakerModels"]> {
  if (speakers === undefined) return undefined;
  const find = async (part: "segmentation" | "embedding"): Promise<string> => {
    const places = candidates(speakers[part], modelsDirectory);
    for (const place of places) {
      if (!(await pathExists(place, false))) continue;
      return (await readOnnxMetadata(place)) === undefined
        ? fail(`${basename(place)} is not an ONNX file`, place)
        : place;
    }
    return fail(
      `speakers.${part}, ${basename(speakers[part])}, does not exist`,
      `neither ${places.join(" nor ")} exists`,
    );
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

function noFolder(folder: string, modelsDirectory: string): [problem: string, place: string] {
  const places = candidates(folder, modelsDirectory).join(" nor ");
  return [
    `its folder ${JSON.stringify(basename(folder))} does not exist`,
    `neither ${places} exists as a folder; download the model with: sounding models pull`,
  ];
}

function partNames(kind: ModelKind): string {
  return Object.keys(kind.parts).join(", ");
}
