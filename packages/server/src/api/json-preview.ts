/** Renders the start of a value's JSON text, at a cost that does not grow with the value. */

/**
 * @returns the text as JSON.stringify writes it if it has at most `length` characters, otherwise at least that many of
 * it
 */
export function previewJson(value: unknown, length: number): string {
  if (typeof value === "string") return JSON.stringify(value.length > length ? value.slice(0, length + 1) : value);
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? String(value);
  return Array.isArray(value) ? previewList(value, length) : previewObject(value, length);
}

function previewList(list: readonly unknown[], length: number): string {
  let text = "[";
  for (const item of list) {
    if (text.length > length) return text;
    text += `${text === "[" ? "" : ","}${previewJson(item, length - text.length)}`;
  }
  return `${text}]`;
}

function previewObject(object: object, length: number): string {
  let text = "{";
  for (const name in object) {
    if (text.length > length) return text;
    const member = (object as Record<string, unknown>)[name];
    if (member === undefined) continue;
    text += `${text === "{" ? "" : ","}${previewJson(name, length)}:${previewJson(member, Math.max(0, length - text.length))}`;
  }
  return `${text}}`;
}
