/** Creates engines by type. A type's module is loaded with its first engine, so unused vendors do not slow the start. */
import type { EngineSettings } from "../config/engine-settings.ts";
import type { Logger } from "../logger.ts";
import type { CreateEngine } from "./engine-pool.ts";
import type { Engine } from "../engines/engine.ts";
import { requireEnginePackage } from "./engine-packages.ts";

type EngineType = EngineSettings["type"];
type SettingsOf<Type extends EngineType> = Extract<EngineSettings, { type: Type }>;

/** Dependencies of engines in addition to their settings. */
export interface EngineParts {
  readonly logger: Logger;
  /** Where engines keep files of their own. */
  readonly dataDirectory: string;
}

type MakeEngine<Settings> = (name: string, settings: Settings, parts: EngineParts) => Engine | Promise<Engine>;

type EngineMakers = { readonly [Type in EngineType]: () => Promise<MakeEngine<SettingsOf<Type>>> };

const openAi = () => import("../engines/openai-compatible/openai-compatible-engine.ts");
const vendor = async () => (await import("../engines/vendors/vendor-engine.ts")).createVendorEngine;

const engineMakers: EngineMakers = {
  openai_compatible: async () => (await openAi()).createOpenAiCompatibleEngine,
  azure_openai: async () => (await openAi()).createAzureOpenAiEngine,
  azure_speech: async () => (await import("../engines/azure-speech/engine.ts")).createAzureSpeechEngine,
  anthropic: vendor,
  google: vendor,
  amazon_bedrock: vendor,
  mistral: vendor,
  cohere: vendor,
  espeak: async () => (await import("../engines/espeak/engine.ts")).createEspeakEngine,
  flite: async () => (await import("../engines/flite/engine.ts")).createFliteEngine,
  sherpa_onnx: async () => (await import("../engines/sherpa-onnx/engine.ts")).createSherpaOnnxEngine,
  pocketsphinx: async () => (await import("../engines/pocketsphinx/engine.ts")).createPocketSphinxEngine,
  llama_cpp: async () => (await import("../engines/llama-cpp/engine.ts")).createLlamaCppEngine,
};

/** Creates engines of every configurable type. */
export function createEngineFactory(parts: EngineParts): CreateEngine {
  return async (name, settings) => {
    requireEnginePackage(name, settings.type);
    const make = (await engineMakers[settings.type]()) as MakeEngine<EngineSettings>;
    return make(name, settings, parts);
  };
}
