/** Lists the voices of espeak-ng: for each language its own, male voice and a female variant of it. */
import type { Voice } from "../engine.ts";

const femaleVariant = "+f3";

/** A voice as the package lists it. */
export interface PackageVoice {
  /** Such as `roa/fr`. */
  readonly identifier: string;
  readonly name: string;
  readonly language: string;
}

/** From what `espeak-ng --voices` prints, American English first. */
export function parseVoices(listing: string): Voice[] {
  const rows = listing.split("\n").slice(1);
  return toVoices(
    rows.flatMap((row) => {
      const [, language, , description] = row.trim().split(/\s+/);
      if (language === undefined || description === undefined) return [];
      return [{ language, description: description.replaceAll("_", " ") }];
    }),
  );
}

/** From what the package lists, American English first. */
export function packageVoices(listed: readonly PackageVoice[]): Voice[] {
  return toVoices(listed.map(({ language, name }) => ({ language, description: name })));
}

/** The package's own name of a voice; undefined where it has none. */
export function toPackageVoice(listed: readonly PackageVoice[], voice: string): string | undefined {
  const [language = "", ...variant] = voice.split("+");
  const found = listed.find((each) => each.language === language);
  return found === undefined ? undefined : [found.identifier, ...variant].join("+");
}

function toVoices(rows: readonly { readonly language: string; readonly description: string }[]): Voice[] {
  const first = rows.filter(({ language }, index) => rows.findIndex((row) => row.language === language) === index);
  const voices = first.flatMap(({ language, description }): Voice[] => {
    const languages = [toLanguageTag(language)];
    return [
      { name: language, languages, gender: "male", description },
      { name: `${language}${femaleVariant}`, languages, gender: "female", description },
    ];
  });
  const rank = ({ name }: Voice): number => (name.startsWith("en-us") ? 0 : 1);
  return voices.sort((one, other) => rank(one) - rank(other));
}

/** `fr-fr` as `fr-FR`; private parts such as `en-gb-x-rp` stay as they are. */
function toLanguageTag(language: string): string {
  return language.replace(
    /^([a-z]+)-([a-z]{2})(?=-|$)/,
    (_, base: string, region: string) => `${base}-${region.toUpperCase()}`,
  );
}
