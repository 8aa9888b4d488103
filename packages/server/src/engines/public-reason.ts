/** Makes reasons of native libraries fit for callers. */
import { basename } from "node:path";

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
