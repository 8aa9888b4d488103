/** Reads the language that an upstream detected: a tag such as `en-US`, or OpenAI's English name such as `english`. */

let tags: ReadonlyMap<string, string> | undefined;

/** As BCP 47; undefined if it is no language. */
export function languageTag(language: unknown): string | undefined {
  if (typeof language !== "string" || language.length > 35) return undefined;
  tags ??= tagsByName();
  return tags.get(language.toLowerCase()) ?? validTag(language.replaceAll("_", "-"));
}

function validTag(tag: string): string | undefined {
  if (!/^[a-z]{2,3}(?:-|$)/i.test(tag)) return undefined;
  try {
    return Intl.getCanonicalLocales(tag)[0];
  } catch {
    return undefined;
  }
}

/** Whisper's names are the English ones. */
function tagsByName(): Map<string, string> {
  const names = new Intl.DisplayNames(["en"], { type: "language", fallback: "none" });
  const letters = "abcdefghijklmnopqrstuvwxyz".split("");
  const codes = letters.flatMap((first) => letters.map((second) => first + second));
  const found = new Map<string, string>();
  for (const code of [...codes, "haw", "yue"]) {
    const name = names.of(code)?.toLowerCase();
    // Old codes have the name of the new one, which comes from its own code.
    if (name !== undefined && Intl.getCanonicalLocales(code)[0] === code) found.set(name, code);
  }
  return found;
}
