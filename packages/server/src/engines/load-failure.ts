/**
 * Remembers why the files of a model cannot be loaded, so that calls fail at once with the reason until the files change, and
 * makes reasons of native libraries fit for callers.
 */
import { stat } from "node:fs/promises";
import { basename } from "node:path";
import type { AppError } from "../errors.ts";

/** Most characters of a reason. */
const longestReason = 200;
/** Where a message comes from in the library's source: `/shared/csrc/model.cc:Init:169 `. */
const sourceLocation = /^\S*\/[^\s:]+\.(?:cc|cpp|h|hpp):\w*:\d+\s*/;
const absolutePath = /(?:\b[A-Za-z]:)?(?:[\\/][^\s\\/:'"`,;()]+)+[\\/]([^\s\\/:'"`,;()]+)/g;

/**
 * The last line of what a library said, without paths of this machine and without content of files; undefined if nothing is
 * left.
 * @param paths that the text may name, spaces included
 */
export function publicReason(text: string, paths: readonly string[] = []): string | undefined {
  const lines = text
    .split("\n")
    .map((line) => line.trim().replace(/^what\(\):\s*/, ""))
    .filter((line) => line !== "" && !line.startsWith("terminate called"));
  let reason = (lines.at(-1) ?? "").replace(sourceLocation, "");
  for (const path of paths) reason = reason.replaceAll(path, basename(path));
  return (
    reason
      .replace(absolutePath, "$1")
      .replace(/^(Error when reading \w+):.*$/, "$1")
      .slice(0, longestReason)
      .replace(/[\s.]+$/, "") || undefined
  );
}

export class LoadFailure {
  #known: { readonly error: AppError; readonly paths: readonly string[]; readonly revision: string } | undefined;

  get isKnown(): boolean {
    return this.#known !== undefined;
  }

  get error(): AppError | undefined {
    return this.#known?.error;
  }

  /** @param paths of the model's files and folders */
  async remember(error: AppError, paths: readonly string[]): Promise<void> {
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
