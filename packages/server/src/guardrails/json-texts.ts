/** The texts of JSON text, as a reader of the JSON sees them: arguments of tools may be written with any escapes. */

/**
 * The JSON with every string replaced, names of members included, in the order in which they stand, those too that a later
 * member of the same name hides; all else stays as it is written. What is no JSON is one text.
 */
export function mapJsonTexts(json: string, map: (text: string) => string): string {
  try {
    JSON.parse(json);
  } catch {
    return map(json);
  }
  let mapped = "";
  let at = 0;
  for (let start = json.indexOf('"'); start !== -1; start = json.indexOf('"', at)) {
    const end = endOfString(json, start);
    const literal = json.slice(start, end);
    const text = JSON.parse(literal) as string;
    const replaced = map(text);
    mapped += json.slice(at, start) + (replaced === text ? literal : JSON.stringify(replaced));
    at = end;
  }
  return mapped + json.slice(at);
}

/** Where the string ends that begins at `start`. A loop, since a regular expression has too little room for long ones. */
function endOfString(json: string, start: number): number {
  for (let quote = json.indexOf('"', start + 1); ; quote = json.indexOf('"', quote + 1)) {
    let backslashes = 0;
    while (json[quote - 1 - backslashes] === "\\") backslashes += 1;
    if (backslashes % 2 === 0) return quote + 1;
  }
}
