/** Finds the model file that the configuration names. */
import { access } from "node:fs/promises";
import { basename, isAbsolute, join, resolve } from "node:path";
import { AppError } from "../errors.ts";

/**
 * The path of a model file: absolute as it is, else within the models' directory, else from the working directory.
 * @throws AppError upstream_failed; the cause lists the searched places
 */
export async function findModelFile(file: string, modelsDirectory: string): Promise<string> {
  const candidates = isAbsolute(file) ? [file] : [join(modelsDirectory, file), resolve(file)];
  for (const candidate of candidates) {
    try {
      await access(candidate);
      return candidate;
    } catch {
      // The next place may have it.
    }
  }
  throw new AppError(
    "upstream_failed",
    `The model file ${JSON.stringify(basename(file))} does not exist on this server.`,
    {
      lasting: true,
      cause: new Error(`not at ${candidates.join(" nor at ")}; download it with: sounding models pull`),
    },
  );
}
