/** The voices of espeak-ng: each of its languages with its own, male voice and with a female variant of it. */
import type { Voice } from "../model.ts";

const femaleVariant = "+f3";

/** From what `espeak-ng --voices` prints, American English first. */
export function parseVoices(listing: string): Voice[] {
  const rows = listing.split("\n").slice(1);
  const voices = rows.flatMap((row): Voice[] => {
    const [, language, , description] = row.trim().split(/\s+/);
    if (language === undefined || description === undefined) return [];
    const languages = [toLanguageTag(language)];
    const words = description.replaceAll("_", " ");
    return [
      { name: language, languages, gender: "male", description: words },
      { name: `${language}${femaleVariant}`, languages, gender: "female", description: words },
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
