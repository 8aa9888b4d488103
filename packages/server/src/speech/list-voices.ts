/** Lists the voices of all models that the caller may use, as far as their engines list them. */
import type { VoiceList } from "../api/speech.ts";
import type { SpeechModelEntry } from "../routing/registry.ts";
import type { Voice } from "../engines/engine.ts";
import type { Scope } from "../tenant.ts";

export interface VoiceFilter {
  readonly model: string | undefined;
  readonly language: string | undefined;
}

export type ListVoices = (scope: Scope, filter: VoiceFilter, signal: AbortSignal) => Promise<VoiceList>;

interface VoiceParts {
  /** The models that speak, by ID. */
  speakers(scope: Scope): readonly SpeechModelEntry[];
  /** @throws AppError model_not_found, model_not_allowed, invalid_request */
  speaker(scope: Scope, modelId: string): SpeechModelEntry;
}

export function createListVoices({ speakers, speaker }: VoiceParts): ListVoices {
  return async (scope, { model, language }, signal) => {
    const models = model === undefined ? speakers(scope) : [speaker(scope, model)];
    const lists = await Promise.all(
      models.map(async ({ id, ownedBy, speech }) => {
        const voices = (await speech.voices(signal).catch(whenUnasked(model))) ?? [];
        return voices
          .filter((voice) => language === undefined || speaks(voice, language))
          .map(({ name, languages, gender, description }) => ({
            name,
            model: id,
            engine: ownedBy,
            languages: [...languages],
            gender: gender ?? null,
            description: description ?? null,
          }));
      }),
    );
    return { object: "list", data: lists.flat() };
  };
}

/** Ignores an engine that cannot be reached, unless its model was requested. */
function whenUnasked(model: string | undefined): (error: unknown) => undefined {
  return (error) => {
    if (model !== undefined) throw error;
  };
}

/** Basic filtering of RFC 4647: `en` matches `en-US`. */
function speaks({ languages }: Voice, range: string): boolean {
  const wanted = range.toLowerCase();
  return languages.some(
    (each) => each === "*" || each.toLowerCase() === wanted || each.toLowerCase().startsWith(`${wanted}-`),
  );
}
