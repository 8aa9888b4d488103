/** Sentences with which voices introduce themselves, by language. */

const texts: Readonly<Record<string, string>> = {
  de: "Guten Tag! So klingt diese Stimme.",
  en: "Hello! This is what this voice sounds like.",
  es: "¡Hola! Así suena esta voz.",
  fr: "Bonjour ! Voici le son de cette voix.",
  it: "Ciao! Questa voce suona così.",
  ja: "こんにちは。これがこの声です。",
  nl: "Hallo! Zo klinkt deze stem.",
  pl: "Dzień dobry! Tak brzmi ten głos.",
  pt: "Olá! Esta voz soa assim.",
  ru: "Здравствуйте! Так звучит этот голос.",
  zh: "你好！这个声音听起来是这样的。",
};

/** @param language BCP 47; a language without a sentence gets the English one */
export function sampleText(language: string | undefined): string {
  return texts[language?.split("-", 1)[0]?.toLowerCase() ?? "en"] ?? texts["en"]!;
}
