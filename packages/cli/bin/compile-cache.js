/**
 * Keeps compiled modules in the user's cache folder, so that the next start takes half the time. Plain JavaScript, because it
 * runs before anything else is loaded. https://nodejs.org/api/module.html#module-compile-cache
 */
import { statSync } from "node:fs";
import { enableCompileCache } from "node:module";
import { isAbsolute, join } from "node:path";

/** Without a folder that belongs to this user, nothing is kept: the files in it are run as code. */
export function useCompileCache() {
  const { HOME = "", USERPROFILE = "", XDG_CACHE_HOME = "", NODE_COMPILE_CACHE } = process.env;
  // Node has done it already.
  if (NODE_COMPILE_CACHE !== undefined) return;
  const home = HOME || USERPROFILE;
  const folder = isAbsolute(XDG_CACHE_HOME) ? XDG_CACHE_HOME : home && join(home, ".cache");
  if (!isAbsolute(folder) || !isOwn(isAbsolute(XDG_CACHE_HOME) ? XDG_CACHE_HOME : home)) return;
  const directory = join(folder, "sounding", "compiled");
  // A folder that cannot be written, or NODE_DISABLE_COMPILE_CACHE, only costs time.
  enableCompileCache(directory);
  // The server's workers are started with this environment.
  process.env["NODE_COMPILE_CACHE"] = directory;
}

/** @param {string} folder */
function isOwn(folder) {
  const owner = statSync(folder, { throwIfNoEntry: false })?.uid;
  return owner !== undefined && (process.getuid === undefined || owner === process.getuid());
}
