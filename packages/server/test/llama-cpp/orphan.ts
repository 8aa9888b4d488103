/** A process with a running model, for a test that kills it; prints its temporary directory once the model answers. */
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLogger } from "../../src/logger.ts";
import { createLlamaCppEngine, trialEngineSettings } from "../../src/engines/llama-cpp/engine.ts";
import { callOf } from "./trial-engine.ts";

const directory = await mkdtemp(join(tmpdir(), "sounding-llama-"));
const engine = await createLlamaCppEngine("trial", trialEngineSettings, {
  logger: silentLogger,
  dataDirectory: directory,
});
await engine.chat!("sounding-trial")!.complete(callOf({ max_tokens: 1 }));
process.stdout.write(`${directory}\n`);
