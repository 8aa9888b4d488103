/** What of our environment a process of its own that loads native code gets: no keys, no settings. */

const names = ["LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH"];

/** The variables that tell where shared libraries lie; Windows' own go to every process anyway. */
export function libraryPaths(): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
