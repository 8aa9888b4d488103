/** The settings of all engine types; an engine's `type` selects the schema of its entry. */
import { Type, type Static } from "typebox";
import { azureSpeechEngine } from "./engines/azure-speech.ts";
import { espeakEngine } from "./engines/espeak.ts";
import { fliteEngine } from "./engines/flite.ts";
import { llamaCppEngineSettings } from "./engines/llama-cpp.ts";
import { azureOpenAiEngine, openAiCompatibleEngine } from "./engines/openai-compatible.ts";
import { sherpaOnnxEngineSettings } from "./engines/sherpa-onnx.ts";
import { pocketSphinxEngine } from "./engines/pocketsphinx.ts";
import { amazonBedrockEngine, anthropicEngine, cohereEngine, googleEngine, mistralEngine } from "./engines/vendors.ts";

export const engineSettings = Type.Union([
  openAiCompatibleEngine,
  azureOpenAiEngine,
  azureSpeechEngine,
  anthropicEngine,
  googleEngine,
  amazonBedrockEngine,
  mistralEngine,
  cohereEngine,
  llamaCppEngineSettings,
  fliteEngine,
  espeakEngine,
  sherpaOnnxEngineSettings,
  pocketSphinxEngine,
]);
export type EngineSettings = Static<typeof engineSettings>;
