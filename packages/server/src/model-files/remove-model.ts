/** Removes model files, which are in the folder `models` of the data directory. */
import { readdir, rm, rmdir, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { AppError } from "../errors.ts";
import { removeParts } from "./download.ts";
import { isWeightsFile } from "./kept-files.ts";
import { isSafePath } from "./member-names.ts";
import { partsOf } from "./model-source.ts";
import { piperConfigName, piperTokensName } from "./piper-voice.ts";
import { modelsDirectoryOf, pathOf } from "./pull-options.ts";
import { incompleteMark, isModelFolder } from "./stored-models.ts";
import { originFile } from "./unpack-archive.ts";

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
  for (const part of filesOf(name)) {
    const path = pathOf(dataDirectory, part);
    // An archive is downloaded next to its future folder.
    const archive = join(dirname(path), `.${basename(path)}.archive`);
    const remains = (await removeParts(path)) + (await removeParts(archive));
    if (await removeWhole(path)) removed.push(part);
    else if (remains > 0) removed.push(part);
    else continue;
    await removeEmptyFolders(dirname(path), directory);
  }
  if (removed.length === 0)
    throw new AppError("not_found", `The model ${JSON.stringify(name)} does not exist in ${directory}.`);
  return removed;
}

/** Removes what an unfinished pull left behind: parts of files, a folder without all of its files, and empty folders. */
export async function removeUnfinished(dataDirectory: string, name: string): Promise<void> {
  const path = pathOf(dataDirectory, name);
  await removeParts(path);
  if (await isIncomplete(path)) await rm(path, { recursive: true });
  await removeEmptyFolders(dirname(path), modelsDirectoryOf(dataDirectory));
}

/** All parts of a split model, and of a Piper voice what is next to its network. */
function filesOf(name: string): string[] {
  const parts = partsOf({ kind: "file", name, url: "", onHub: false }).map((part) => part.name);
  return /\.onnx$/i.test(name) ? [name, piperConfigName(name), piperTokensName(name)] : parts;
}

/** @returns whether there was a model */
async function removeWhole(path: string): Promise<boolean> {
  if ((await isModelFolder(path)) || (await wasUnpacked(path)) || (await isIncomplete(path))) {
    await rm(path, { recursive: true });
    return true;
  }
  const isFile = await stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
  if (isFile) await rm(path);
  return isFile;
}

/** Whether the folder was made of an archive, a package or another folder. */
async function wasUnpacked(folder: string): Promise<boolean> {
  const names: readonly string[] = await readdir(folder).catch(() => []);
  return names.includes(originFile);
}

/** Whether the folder is of a repository whose pull has not ended. */
async function isIncomplete(folder: string): Promise<boolean> {
  const names: readonly string[] = await readdir(folder).catch(() => []);
  return names.includes(incompleteMark);
}

/** Folders without files, and what was unpacked without weights. */
async function removeEmptyFolders(folder: string, upTo: string): Promise<void> {
  if (folder === upTo) return;
  const names = await readdir(folder, { recursive: true }).catch(() => undefined);
  if (names === undefined) {
    // It was not created.
  } else if (names.length === 0) await rmdir(folder);
  else if ((await wasUnpacked(folder)) && !names.some((name) => isWeightsFile(name)))
    await rm(folder, { recursive: true });
  await removeEmptyFolders(dirname(folder), upTo);
}
