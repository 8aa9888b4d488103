/** Lists models that are folders of ONNX files, in the folder `models` of the data directory. */
import { readdir, stat } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import type { SherpaOnnxKind } from "../config/engines/sherpa-onnx.ts";
import { detectKind } from "./detect-kind.ts";
import { modelsDirectoryOf } from "./pull-options.ts";

export interface ModelFolder {
  /** Relative to the models' directory, with slashes: its name in the configuration. */
  readonly name: string;
  readonly path: string;
  readonly sizeBytes: number;
  /** What an engine of type `sherpa_onnx` calls it; undefined if it does not know it. */
  readonly kind: SherpaOnnxKind | undefined;
}

async function entriesOf(folder: string) {
  return readdir(folder, { recursive: true, withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return [];
    throw error;
  });
}

async function sizeOf(folder: string): Promise<number> {
  let bytes = 0;
  for (const entry of await entriesOf(folder)) {
    if (entry.isFile()) bytes += (await stat(join(entry.parentPath, entry.name))).size;
  }
  return bytes;
}

/** Describes a folder. @throws Error as reading it does */
export async function describeFolder(dataDirectory: string, path: string): Promise<ModelFolder> {
  const name = relative(modelsDirectoryOf(dataDirectory), path).split(sep).join("/");
  return { name, path, sizeBytes: await sizeOf(path), kind: await detectKind(path) };
}

/** Whether the folder itself contains networks. */
export async function isModelFolder(folder: string): Promise<boolean> {
  const names = await readdir(folder).catch(() => []);
  return names.some((name) => /\.(?:onnx|ort)$/i.test(name));
}

/** The folders of a data directory that hold networks, by name. */
export async function listModelFolders(dataDirectory: string): Promise<ModelFolder[]> {
  const directory = modelsDirectoryOf(dataDirectory);
  const networks = (await entriesOf(directory)).filter(
    (entry) => entry.isFile() && /\.(?:onnx|ort)$/i.test(entry.name) && entry.parentPath !== directory,
  );
  const visible = (path: string): boolean =>
    !relative(directory, path)
      .split(sep)
      .some((part) => part.startsWith("."));
  const folders = [...new Set(networks.map(({ parentPath }) => parentPath))].filter(visible).sort();
  const outermost = folders.filter((folder) => !folders.includes(dirname(folder)));
  const described: ModelFolder[] = [];
  for (const folder of outermost) described.push(await describeFolder(dataDirectory, folder));
  return described;
}
