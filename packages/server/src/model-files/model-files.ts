/** Lists and removes model files, which are in the folder `models` of the data directory. */
import { readdir, rm, rmdir, stat } from "node:fs/promises";
import { basename, dirname, join, relative, sep } from "node:path";
import { AppError } from "../errors.ts";
import { removeParts } from "./download.ts";
import { describeGguf, type GgufDescription } from "./gguf-file.ts";
import { isModelFolder } from "./model-folders.ts";
import { isSafePath } from "./member-names.ts";
import { partsOf } from "./model-source.ts";
import { modelsDirectoryOf, pathOf } from "./pull-options.ts";

export interface ModelFile {
  /** Relative to the models' directory, with slashes: its name in the configuration. */
  readonly name: string;
  readonly path: string;
  readonly sizeBytes: number;
  readonly modifiedUnixMs: number;
  /** The file's metadata; undefined if it cannot be read. */
  readonly description: GgufDescription | undefined;
  readonly problem: string | undefined;
}

async function describe(directory: string, path: string): Promise<ModelFile> {
  const { size, mtimeMs } = await stat(path);
  const facts = {
    name: relative(directory, path).split(sep).join("/"),
    path,
    sizeBytes: size,
    modifiedUnixMs: mtimeMs,
  };
  try {
    return { ...facts, description: await describeGguf(path), problem: undefined };
  } catch (error) {
    return { ...facts, description: undefined, problem: error instanceof Error ? error.message : String(error) };
  }
}

/** The model files of a data directory, by name. */
export async function listModelFiles(dataDirectory: string): Promise<ModelFile[]> {
  const directory = modelsDirectoryOf(dataDirectory);
  const names = await readdir(directory, { recursive: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  const files = names.filter((name) => name.toLowerCase().endsWith(".gguf")).sort();
  const described: ModelFile[] = [];
  for (const name of files) described.push(await describe(directory, join(directory, name)));
  return described;
}

/**
 * Removes a model's folder or file, all its parts if it is split, and remains of unfinished pulls.
 * @returns the names of what was removed
 * @throws AppError not_found
 */
export async function removeModel(dataDirectory: string, name: string): Promise<string[]> {
  const directory = modelsDirectoryOf(dataDirectory);
  const removed: string[] = [];
  if (!isSafePath(name.split("/")))
    throw new AppError("not_found", `${JSON.stringify(name)} is not a model in ${directory}.`);
  for (const part of partsOf({ kind: "file", name, url: "", onHub: false })) {
    const path = pathOf(dataDirectory, part.name);
    await removeParts(path);
    // An archive is downloaded next to its future folder.
    await removeParts(join(dirname(path), `.${basename(path)}.archive`));
    if (await isModelFolder(path)) {
      await rm(path, { recursive: true });
      removed.push(part.name);
      await removeEmptyFolders(dirname(path), directory);
      continue;
    }
    const there = await stat(path).then(
      (found) => found.isFile(),
      () => false,
    );
    if (!there) continue;
    await rm(path);
    removed.push(part.name);
    await removeEmptyFolders(dirname(path), directory);
  }
  if (removed.length === 0)
    throw new AppError("not_found", `The model ${JSON.stringify(name)} does not exist in ${directory}.`);
  return removed;
}

async function removeEmptyFolders(folder: string, upTo: string): Promise<void> {
  if (folder === upTo) return;
  const empty = (await readdir(folder)).length === 0;
  if (!empty) return;
  await rmdir(folder);
  await removeEmptyFolders(dirname(folder), upTo);
}
