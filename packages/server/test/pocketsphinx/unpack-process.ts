/** Unpacks PocketSphinx into the folder that is named by the first argument, for a test that kills this process. */
import { silentLogger } from "../../src/logger.ts";
import { unpackPocketSphinx } from "../../src/engines/pocketsphinx/unpack-packages.ts";

await unpackPocketSphinx({
  dataDirectory: process.argv[2]!,
  logger: silentLogger,
  notify: () => {},
  signal: new AbortController().signal,
  isInstalled: () => false,
});
