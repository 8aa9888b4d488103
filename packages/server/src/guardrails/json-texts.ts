/** The texts of JSON text, as a reader of the JSON sees them: arguments of tools may be written with any escapes. */

/**
 * The JSON with every string replaced, names of members included, in the order in which they stand; the very same text
 * where none changed. What is no JSON is one text.
 */
export function mapJsonTexts(json: string, map: (text: string) => string): string {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return map(json);
  }
  let isChanged = false;
  const mapAll = (each: unknown): unknown => {
    if (typeof each === "string") {
      const mapped = map(each);
      isChanged ||= mapped !== each;
      return mapped;
    }
    if (Array.isArray(each)) return each.map(mapAll);
    if (typeof each !== "object" || each === null) return each;
    return Object.fromEntries(Object.entries(each).map(([name, member]) => [mapAll(name), mapAll(member)]));
  };
  const mapped = mapAll(value);
  return isChanged ? JSON.stringify(mapped) : json;
}
