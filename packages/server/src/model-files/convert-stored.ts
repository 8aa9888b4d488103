/** Converts a model in place that somebody copied into the models' directory as it is published. */
import { stat } from "node:fs/promises";
import { basename, dirname, relative, sep } from "node:path";
import { AppError } from "../errors.ts";
import { withPullLock } from "./pull-lock.ts";
import { modelsDirectoryOf, type PullResult } from "./pull-options.ts";
import type { InstallOptions } from "./pull-package.ts";
import { describeModelFolder } from "./stored-models.ts";
import { convertWhisper } from "./whisper/convert-whisper.ts";

export function isStored(path: string, dataDirectory: string): boolean {
  return `${path}${sep}`.startsWith(modelsDirectoryOf(dataDirectory) + sep);
}

/**
 * @param path in the models' directory: a folder, or a file in it
 * @throws AppError invalid_request if there is nothing to convert
 */
export async function convertStored(
  path: string,
  { dataDirectory, signal, onProgress }: InstallOptions,
): Promise<PullResult> {
  const models = modelsDirectoryOf(dataDirectory);
  const folder = basename(path) === "model.bin" ? dirname(path) : path;
  const name = relative(models, folder).split(sep).join("/");
  const isFolder = (await stat(folder)).isDirectory();
  return withPullLock(folder, async () => {
    const onConverted = (doneBytes: number, totalBytes: number): void =>
      onProgress?.(name, { phase: "converting", doneBytes, totalBytes });
    const isConverted = name !== "" && isFolder && (await convertWhisper(folder, { signal, onProgress: onConverted }));
    if (!isConverted)
      throw new AppError(
        "invalid_request",
        `${path} is in the models' directory already; a running server serves it from there if it can. Only a folder with Whisper for CTranslate2 is converted.`,
      );
    const { sizeBytes } = await describeModelFolder(folder, models);
    return {
      files: [{ name, path: folder, sha256: undefined, sizeBytes, alreadyThere: false }],
      folder: { name, path: folder },
    };
  });
}
