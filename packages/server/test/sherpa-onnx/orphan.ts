/** A process with a running model, for a test that kills it; prints its data folder once the model has spoken. */
import { join } from "node:path";
import { speechCall, startTestEngine } from "./test-engine.ts";
import { writeTinyVoice } from "./tiny-voice.ts";

const { engine, folder } = await startTestEngine({ kind: "vits" }, (place) => writeTinyVoice(place));
await Array.fromAsync(engine.speech!("tiny")!.speak(speechCall("Hi.")));
process.stdout.write(`${join(folder, "..", "..")}\n`);
