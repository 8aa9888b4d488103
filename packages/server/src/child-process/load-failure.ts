/** Remembers why files cannot be loaded, so that calls fail at once with the reason until the files change. */
import { stat } from "node:fs/promises";
import type { AppError } from "../errors.ts";

export class LoadFailure {
  #known: { readonly error: AppError; readonly paths: readonly string[]; readonly revision: string } | undefined;

  get isKnown(): boolean {
    return this.#known !== undefined;
  }

  get error(): AppError | undefined {
    return this.#known?.error;
  }

  /** @param paths of the model's files and folders. Without any, nothing is remembered: each call looks again. */
  async remember(error: AppError, paths: readonly string[]): Promise<void> {
    if (paths.length === 0) return;
    this.#known = { error, paths, revision: await revisionOf(paths) };
  }

  /** @throws the remembered error, if the files are the same */
  async check(): Promise<void> {
    const known = this.#known;
    if (known === undefined) return;
    if ((await revisionOf(known.paths)) === known.revision) throw known.error;
    this.#known = undefined;
  }
}

async function revisionOf(paths: readonly string[]): Promise<string> {
  const facts = paths.map((path) =>
    stat(path).then(
      ({ size, mtimeMs }) => `${size}:${mtimeMs}`,
      () => "absent",
    ),
  );
  return (await Promise.all(facts)).join();
}
