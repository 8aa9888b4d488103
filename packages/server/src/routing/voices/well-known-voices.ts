/**
 * Lists voice names that existing clients send. https://platform.openai.com/docs/guides/text-to-speech and
 * https://learn.microsoft.com/azure/ai-services/speech-service/language-support?tabs=tts
 */
export interface WellKnownVoice {
  /** BCP 47; undefined: every language. */
  readonly language: string | undefined;
  readonly gender: "female" | "male";
  /** Among the well-known voices of its gender, so that different names may get different voices. */
  readonly number: number;
}

/** In the order in which they take the voices of an engine. */
const openAiVoices: Readonly<Record<WellKnownVoice["gender"], readonly string[]>> = {
  female: ["alloy", "nova", "shimmer", "coral", "sage", "marin"],
  male: ["onyx", "fable", "echo", "ash", "ballad", "verse", "cedar"],
};

/** Male names among Azure's most used voices; the others are taken for female. */
const azureMaleNames: ReadonlySet<string> = new Set(
  "Adam Alain Alessio Alvaro Andrew Antonio Benjamin Benoit Brandon Brian Christoph Christopher Claude Conrad Davis Derek Diego Dmitry Donato Duarte Eric Fabio Gerard Giuseppe Guy Henri Jacob Jason Jean Jerome Jorge Julio Kai Keita Killian Lorenzo Lucas Marc Maurice Nicolau Noah Prabhat Ralf Roger Ryan Saul Steffan Tony Valerio William Yunxi Yunyang".split(
    " ",
  ),
);

const azureName =
  /^(?<language>[a-z]{2,3}(?:-[A-Za-z]{4})?-[A-Z]{2})-(?<name>[A-Za-z]+?)(?:Multilingual|Turbo|HD)*Neural(?:HD)?$/;

/** What is known of the voice with this name, if it is one of OpenAI's or has the form of one of Azure's. */
export function wellKnownVoice(name: string): WellKnownVoice | undefined {
  for (const gender of ["female", "male"] as const) {
    const number = openAiVoices[gender].indexOf(name.toLowerCase());
    if (number >= 0) return { language: undefined, gender, number };
  }
  const groups = azureName.exec(name)?.groups;
  if (groups === undefined) return undefined;
  const gender = azureMaleNames.has(groups["name"]!) ? "male" : "female";
  return { language: groups["language"], gender, number: 0 };
}
