/**
 * Lets OpenAI's names of audio models refer to an engine of this machine, so that programs which name them work unchanged.
 * docs/adr/0008-routing-and-guardrails.md
 */
import type { EngineSettings } from "../config/engine-settings.ts";
import type { ModelDescription } from "../engines/engine.ts";
import type { TableEngine } from "./route-table.ts";

type AudioCapability = "speech" | "transcription";

/** https://platform.openai.com/docs/models */
const defaultNames: ReadonlyMap<string, AudioCapability> = new Map([
  ["tts-1", "speech"],
  ["tts-1-hd", "speech"],
  ["gpt-4o-mini-tts", "speech"],
  ["whisper-1", "transcription"],
  ["gpt-4o-transcribe", "transcription"],
  ["gpt-4o-mini-transcribe", "transcription"],
]);

/** Engines of this machine, those with the better results first. */
const localTypes: readonly EngineSettings["type"][] = ["sherpa_onnx", "flite", "pocketsphinx", "espeak"];

/** Vendors that may list these names once they respond. */
const vendorTypes: ReadonlySet<EngineSettings["type"]> = new Set(["openai_compatible", "azure_openai"]);

export interface FoundModel {
  readonly engine: TableEngine;
  readonly description: ModelDescription;
}

/** What the model with this name does; undefined if it is none of OpenAI's audio models. */
export function audioCapabilityOf(name: string): AudioCapability | undefined {
  return defaultNames.get(name);
}

/** Whether a vendor of these names has neither listed its models nor failed to. */
export function awaitsVendor(engines: Iterable<TableEngine>, hasResponded: (engine: TableEngine) => boolean): boolean {
  return [...engines].some(
    (engine) => !engine.optional && vendorTypes.has(engine.pooled.settings.type) && !hasResponded(engine),
  );
}

/**
 * The model that answers by default: English first, since it is the default language of requests; then by engine, the
 * configuration's before discovered ones; then voices that are fast before slow ones, recognizers of many languages before those
 * of one, and by name.
 */
export function defaultAudioModel(found: readonly FoundModel[], capability: AudioCapability): FoundModel | undefined {
  const ranked = found.flatMap((model) => {
    const { pooled, implicit } = model.engine;
    const type = localTypes.indexOf(pooled.settings.type);
    const audio = type < 0 ? undefined : pooled.engine[capability]?.(model.description.id);
    if (audio === undefined || pooled.engine.problemOf?.(model.description.id) !== undefined) return [];
    const last = capability === "speech" ? speedRank(pooled.settings, model.description.id) : isSingle(audio.languages);
    const rank = [knowsEnglish(audio.languages) ? 0 : 1, type, implicit ? 1 : 0, last];
    return [{ model, rank, id: model.description.id }];
  });
  ranked.sort((one, other) => {
    const at = one.rank.findIndex((value, index) => value !== other.rank[index]);
    return at < 0 ? (one.id < other.id ? -1 : 1) : one.rank[at]! - other.rank[at]!;
  });
  return ranked[0]?.model;
}

/** A second of Kokoro's speech takes seconds on one core, of Piper's 0.2. */
function speedRank(settings: EngineSettings, id: string): number {
  return settings.type === "sherpa_onnx" && settings.models[id]?.kind === "kokoro" ? 1 : 0;
}

/** OpenAI's recognizers know all languages. */
function isSingle(languages: readonly string[] | undefined): number {
  return languages !== undefined && languages.length === 1 && languages[0] !== "*" ? 1 : 0;
}

function knowsEnglish(languages: readonly string[] | undefined): boolean {
  return languages === undefined || languages.some((language) => language === "*" || /^en(?:-|$)/i.test(language));
}
