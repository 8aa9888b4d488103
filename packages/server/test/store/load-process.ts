/** A server process under load, to be killed: `node load-process.ts FOLDER ORGANIZATION PREFIX`. Prints what is acknowledged. */
import { writeSync } from "node:fs";
import { sendLoad } from "./load.ts";
import { openTestStore } from "./test-store.ts";

const [directory, organizationId, prefix] = process.argv.slice(2) as [string, string, string];
const { store } = await openTestStore({ directory });
await sendLoad({
  store,
  organizationId,
  prefix,
  senders: 6,
  signal: new AbortController().signal,
  // Written before anything else: whatever was printed was acknowledged, even if the process ends right now.
  onAcknowledged: (batch) => writeSync(1, `${batch}\n`),
});
