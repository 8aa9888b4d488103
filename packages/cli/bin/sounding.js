#!/usr/bin/env node
/**
 * Starts the `sounding` command, or says which version of Node it needs. Plain JavaScript, because an older Node cannot
 * read the TypeScript sources that follow.
 */
const [major, minor] = process.versions.node.split(".").map(Number);
if (major > 24 || (major === 24 && minor >= 12)) {
  const { useCompileCache } = await import("./compile-cache.js");
  useCompileCache();
  await import("../src/main.ts");
} else {
  console.error(
    `sounding needs Node 24.12 or later, but this is Node ${process.versions.node}. ` +
      "Install Node 24 from https://nodejs.org or, in a clone, run `npm ci`, then `npm start` or `npx sounding`.",
  );
  process.exitCode = 1;
}
