/**
 * Runs test files one after the other in one process, which loads the modules that they share once. Each file is a test of
 * its own, so that its hooks run before and after its tests only.
 */
import { test } from "node:test";
import { pathToFileURL } from "node:url";

/** The limit of a file is the runner's, of a test that of Node's option. */
const timeout = 3_600_000;

for (const file of process.argv.slice(2)) {
  test(file, { timeout }, async () => {
    await import(pathToFileURL(file).href);
  });
}
