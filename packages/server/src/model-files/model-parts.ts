/** Finds the files of a model in its folder, by the names under which models of its kind are released. */
import { readdir, stat } from "node:fs/promises";
import { basename, resolve } from "node:path";
import type { ModelKind, ModelPart } from "./model-kinds.ts";

export interface FoundParts {
  /** Paths by part; several joined by commas, as the library wants them. */
  readonly parts: Readonly<Record<string, string>>;
  readonly missing: readonly string[];
}

/** @param given names or paths by part, instead of the usual names */
export async function findParts(
  folder: string,
  kind: ModelKind,
  given: Readonly<Record<string, string | readonly string[]>> = {},
): Promise<FoundParts> {
  const names = await readdir(folder);
  const parts: Record<string, string> = {};
  const missing: string[] = [];
  for (const [part, description] of Object.entries(kind.parts)) {
    const found = await findPart(folder, names, { description, given: given[part] });
    if (found.paths.length > 0) parts[part] = found.paths.join(",");
    missing.push(...found.missing.map((path) => `${part} (${basename(path)})`));
    if (found.paths.length + found.missing.length === 0 && description.optional !== true) missing.push(part);
  }
  return { parts, missing };
}

export async function pathExists(path: string, asFolder: boolean): Promise<boolean> {
  return stat(path).then(
    (found) => (asFolder ? found.isDirectory() : found.isFile()),
    () => false,
  );
}

async function findPart(
  folder: string,
  names: readonly string[],
  { description, given }: { description: ModelPart; given: string | readonly string[] | undefined },
): Promise<{ paths: string[]; missing: string[] }> {
  const wanted = given === undefined ? usualNames(names, description) : [given].flat();
  const paths: string[] = [];
  const missing: string[] = [];
  for (const name of wanted) {
    const path = resolve(folder, name);
    ((await pathExists(path, description.folder === true)) ? paths : missing).push(path);
  }
  return { paths, missing };
}

/** The files that the part is usually called, in the order of their names. */
function usualNames(names: readonly string[], { names: patterns, several }: ModelPart): string[] {
  for (const pattern of patterns) {
    const found = names.filter((name) => pattern.test(name)).sort();
    if (found.length > 0) return several === true ? found : found.slice(0, 1);
  }
  return [];
}
