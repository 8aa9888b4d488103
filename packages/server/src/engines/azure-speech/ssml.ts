/**
 * Writes a phrase as SSML. https://learn.microsoft.com/azure/ai-services/speech-service/speech-synthesis-markup-structure
 */

export interface SsmlOptions {
  readonly voice: string;
  /** BCP 47; undefined: the voice's own. */
  readonly language: string | undefined;
  /** 0.5 to 2, which is all that the service has. */
  readonly rate: number;
}

/** Names of voices begin with their language, such as `en-US-JennyNeural`. */
const languageOfName = /^[a-z]{2,3}(?:-[A-Za-z]{4})?-[A-Z]{2}(?=-)/;

export function toSsml(text: string, { voice, language, rate }: SsmlOptions): string {
  const own = languageOfName.exec(voice)?.[0];
  const spoken =
    language === undefined || language === own
      ? escaped(text)
      : element("lang", { "xml:lang": language }, escaped(text));
  const paced = rate === 1 ? spoken : element("prosody", { rate: String(rate) }, spoken);
  return element(
    "speak",
    { version: "1.0", xmlns: "http://www.w3.org/2001/10/synthesis", "xml:lang": language ?? own ?? "en-US" },
    element("voice", { name: voice }, paced),
  );
}

function element(name: string, attributes: Readonly<Record<string, string>>, content: string): string {
  const written = Object.entries(attributes).map(([key, value]) => ` ${key}="${escaped(value)}"`);
  return `<${name}${written.join("")}>${content}</${name}>`;
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&apos;",
};

/** Position by position but for the entities; what XML cannot have becomes a space. https://www.w3.org/TR/xml/#charsets */
function escaped(text: string): string {
  return (
    text
      .toWellFormed()
      // eslint-disable-next-line no-control-regex -- control characters are what is looked for
      .replaceAll(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/g, " ")
      .replaceAll(/[&<>"']/g, (sign) => entities[sign]!)
  );
}

/** Text of the service that it may have taken from the markup as it stood. */
export function unescaped(text: string): string {
  return text.replaceAll(/&(?:amp|lt|gt|quot|apos);/g, (entity) => {
    return Object.keys(entities).find((sign) => entities[sign] === entity)!;
  });
}
