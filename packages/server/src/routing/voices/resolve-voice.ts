/**
 * Resolves the voice in a request to a voice of the engine: its own name, a configured name, or a well-known name of OpenAI
 * or Azure, which maps to a voice of the same gender and language.
 * docs/adr/0013-speech.md
 */
import { AppError } from "../../errors.ts";
import type { Voice } from "../../engines/engine.ts";
import { wellKnownVoice, type WellKnownVoice } from "./well-known-voices.ts";

/** The engine's voices for each name that callers use, tried in order. */
export type VoiceNames = Readonly<Record<string, readonly string[]>>;

/** A voice and a language, as requested or as resolved. */
interface VoiceChoice {
  readonly voice: string;
  readonly language: string | undefined;
}

/**
 * Resolves the engine's voice and the language to speak.
 * @param voices undefined if the engine's voices are unknown: the name then passes through unchanged
 * @throws AppError invalid_request for an unknown voice, or one that does not speak the language
 */
export function resolveVoice(
  requested: VoiceChoice,
  voices: readonly Voice[] | undefined,
  names: VoiceNames,
): VoiceChoice {
  const { voice: name, language } = requested;
  const configured = Object.hasOwn(names, name) ? names[name]! : [];
  if (voices === undefined) return { voice: configured[0] ?? name, language };
  const own = [name, ...configured].flatMap((alias) => voices.filter((voice) => sameName(voice.name, alias)));
  const exact = own.find((voice) => language === undefined || speaks(voice, language)) ?? own[0];
  if (exact !== undefined) {
    if (language === undefined || speaks(exact, language)) return { voice: exact.name, language };
    throw new AppError(
      "invalid_request",
      `speech_synthesis_language is ${JSON.stringify(language)}, but the voice ${JSON.stringify(name)} speaks ${exact.languages.join(", ")}.${alternatives(voices, language)}`,
      { param: "speech_synthesis_language" },
    );
  }
  const known = wellKnownVoice(name);
  const spokenLanguage = language ?? known?.language;
  const standIn = known === undefined ? undefined : standInFor(voices, { ...known, name, language: spokenLanguage });
  if (standIn !== undefined) return { voice: standIn.name, language: spokenLanguage };
  throw new AppError(
    "invalid_request",
    known === undefined
      ? `voice is ${JSON.stringify(name)}; it must be one of ${listed(voices)}.`
      : `voice is ${JSON.stringify(name)}, but the model has no voice for ${spokenLanguage}; its voices are ${listed(voices)}.`,
    { param: "voice" },
  );
}

/**
 * The voice that stands in for a well-known one: of the language and preferably of its region and of the gender. Without a
 * language it is English, or the default voice's if the model does not speak English. A voice with the same name after a
 * prefix, such as Kokoro's `af_alloy`, comes first; otherwise the names of a gender take the voices in turn.
 */
function standInFor(
  voices: readonly Voice[],
  { name, gender, number, language }: WellKnownVoice & { readonly name: string },
): Voice | undefined {
  const spoken = language ?? (voices.some((voice) => speaks(voice, "en")) ? "en" : voices[0]?.languages[0]);
  const speaking = voices.filter((voice) => spoken === undefined || speaks(voice, spoken));
  const region = language ?? speaking[0]?.languages[0] ?? "";
  const regional = speaking.filter(({ languages }) => languages.some((supported) => sameName(supported, region)));
  const near = regional.length > 0 ? regional : speaking;
  const namesake = near.find((voice) => voice.name.toLowerCase().endsWith(`_${name.toLowerCase()}`));
  const fitting = [near, speaking]
    .map((candidates) => candidates.filter((voice) => voice.gender === gender))
    .find((candidates) => candidates.length > 0);
  const choice = fitting ?? near;
  return namesake ?? choice[number % Math.max(1, choice.length)];
}

function sameName(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

/** Whether a voice speaks a language: its own, or another region's. */
function speaks(voice: Voice, language: string): boolean {
  const primary = primaryOf(language);
  return voice.languages.some((supported) => supported === "*" || primaryOf(supported) === primary);
}

function primaryOf(language: string): string {
  return language.split("-", 1)[0]!.toLowerCase();
}

function alternatives(voices: readonly Voice[], language: string): string {
  const others = voices.filter((voice) => speaks(voice, language));
  return others.length === 0 ? " None of the model's voices speaks it." : ` These do: ${listed(others)}.`;
}

const mostListed = 40;

function listed(voices: readonly Voice[]): string {
  const names = voices.slice(0, mostListed).map(({ name }) => JSON.stringify(name));
  return names.join(", ") + (voices.length > mostListed ? " and others (GET /v1/audio/voices lists all)" : "");
}
