/** Reads Roman numerals where they are numbers: `Chapter IV`, `Henry VIII`, `XIV`, `XIX century`. */
import { cardinal, ordinal } from "./numbers.ts";
import { one, type Reading, type Sentence } from "./tokens.ts";

const afterRoman = /^(?:century|centuries|dynasty)$/i;
const numberedByRoman =
  /^(?:Chapter|Part|Act|Scene|Book|Volume|Vol|Section|Article|Title|Appendix|Phase|Stage|Type|Class|Level|Grade|War|Bowl|Rocky|Tome|Episode|Figure|Table|Schedule|Group|No)$/i;
const regnal =
  /^(?:Henry|Louis|Elizabeth|George|Charles|William|Edward|James|Richard|Pius|Paul|Pope|King|Queen|Francis|Napoleon|Ivan|Peter|Philip|Leo|Benedict|Gregory|Alexander|Nicholas|Frederick|Ferdinand|Innocent|Clement|Urban|Catherine|Mary|Otto|Gustav|Christian|Harald|Olav|Carl|Juan|Felipe|Ramses|Ptolemy|Cleopatra|Elisabeth|Friedrich|Wilhelm|Mehmed|Murad|Selim)$/;
const roman = /^(?=[IVXL])(?:XL|L?X{0,3})(?:IX|IV|V?I{0,3})$/;

/** Roman numerals after a word that is numbered with them, after a ruler, or if nothing else is written like that. */
export function readRoman({ tokens }: Sentence, index: number): Reading | undefined {
  const token = tokens[index]!;
  // Unicode has them as characters of their own, which are never words.
  const isOwn = /^[\u2160-\u217F]+$/.test(token.text);
  const text = isOwn ? token.text.normalize("NFKC").toUpperCase() : token.text;
  if (!roman.test(text)) return undefined;
  const value = String(romanValue(text));
  const previous = tokens[index - 1];
  const follows = previous !== undefined && /^\.?$/.test(previous.after);
  if (follows && numberedByRoman.test(previous.text)) return one(token, cardinal(value));
  if (follows && regnal.test(previous.text) && text !== "I") return one(token, `the ${ordinal(value)}`);
  const next = tokens[index + 1];
  if (text !== "I" && next !== undefined && afterRoman.test(next.text)) return one(token, ordinal(value));
  const isPlain = isOwn || text === "II" || (text.length >= 3 && /^X{0,2}(?:IX|IV|V?I{0,3})$/.test(text));
  return isPlain ? one(token, cardinal(value)) : undefined;
}

function romanValue(text: string): number {
  const values: Readonly<Record<string, number>> = { I: 1, V: 5, X: 10, L: 50 };
  return text.split("").reduce((sum, letter, index) => {
    const value = values[letter]!;
    return sum + (value < (values[text[index + 1] ?? ""] ?? 0) ? -value : value);
  }, 0);
}
