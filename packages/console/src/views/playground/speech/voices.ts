/** The voices of a model, by language. */
import type { VoiceList } from "@sounding/client";

export type Voice = VoiceList["data"][number];

const names = new Intl.DisplayNames(["en"], { type: "language", fallback: "code" });

/** `German`, `American English`; the code where it has no name. */
export function languageName(code: string): string {
  if (code === "*") return "Every language";
  try {
    return names.of(code) ?? code;
  } catch {
    // Engines have codes that BCP 47 does not allow.
    return code;
  }
}

/** Languages that at least one voice speaks, sorted by name. */
export function languagesOf(voices: readonly Voice[]): string[] {
  const codes = new Set(voices.flatMap(({ languages }) => languages));
  codes.delete("*");
  return [...codes].toSorted((one, other) => languageName(one).localeCompare(languageName(other)));
}

/** @param language undefined: any */
export function speaks({ languages }: Voice, language: string | undefined): boolean {
  return language === undefined || languages.includes(language) || languages.includes("*");
}

/** Voices under the name of their main language, in the order of the list. */
export function byLanguage(voices: readonly Voice[]): Map<string, Voice[]> {
  return Map.groupBy(voices, ({ languages }) => languageName(languages[0] ?? "*"));
}

/** `slt (female)`. */
export function voiceLabel({ name, gender }: Voice): string {
  return gender === null ? name : `${name} (${gender})`;
}
