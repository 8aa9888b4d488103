/** Extracts and replaces the strings of JSON text, decoded: tool arguments may contain any escapes. */
import type { TextMapping } from "./check-texts.ts";
import { JsonStrings } from "./json-strings.ts";

/**
 * The JSON with every string replaced, names of members included, in the order in which they stand, those too that a later
 * member of the same name hides; all else stays as it is written. What is no JSON is one text.
 */
export async function mapJsonTexts(json: string, { map, yielder }: TextMapping): Promise<string> {
  const strings = new JsonStrings(json);
  while (strings.step()) if (yielder.isDue()) await yielder.yield();
  if (!strings.isValid) return map(json);
  const parts: string[] = [];
  let at = 0;
  for (const { start, end, text } of strings.found) {
    const replaced = map(text);
    if (replaced !== text) {
      parts.push(json.slice(at, start), JSON.stringify(replaced));
      at = end;
    }
    if (yielder.isDue()) await yielder.yield();
  }
  return at === 0 ? json : parts.join("") + json.slice(at);
}
