/** Shortens tool names for chat completions, which allow 64 characters where other APIs allow 128. */
import { hash } from "node:crypto";

const longestName = 64;
const hashLength = 8;

/** The same name for the same name, in every turn: prompt caches depend on it. */
export function toFunctionName(name: string): string {
  if (name.length <= longestName) return name;
  const mark = hash("sha256", name, "hex").slice(0, hashLength);
  return `${name.slice(0, longestName - hashLength - 1).toWellFormed()}_${mark}`;
}

/** Finds the tool whose function a model called. */
export function toolNameReader(tools: readonly { readonly name?: string }[]): (name: string) => string {
  let names: Map<string, string> | undefined;
  return (name) => {
    names ??= new Map(
      tools.flatMap(({ name: full = "" }) => (full.length > longestName ? [[toFunctionName(full), full]] : [])),
    );
    return names.get(name) ?? name;
  };
}
