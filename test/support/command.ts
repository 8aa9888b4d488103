/** The command `sounding` as a script for Node. */
import { fileURLToPath } from "node:url";

export const sourceCommand = fileURLToPath(new URL("../../packages/cli/bin/sounding.js", import.meta.url));

/** What `npm test` has bundled from these sources, which starts much faster; with `node --test`, the sources. */
export const command = process.env["SOUNDING_TEST_COMMAND"] ?? sourceCommand;
