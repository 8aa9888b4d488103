/** The names of attributes in a query: which characters need quotes, and how quotes are read and written. */

/** White space and the characters that end an unquoted name. */
const endOfName = /[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000{}()=~!<>&|^,]/;
const unquotedPart = new RegExp(`(?:(?!${endOfName.source})[^"])+`, "y");
const parentScopeAhead = /(?:span|resource)\./y;

export interface ReadName {
  readonly name: string;
  readonly end: number;
}

/** The name at a position: unquoted and quoted parts, joined; or the problem with it. */
export function readAttributeName(text: string, start: number): ReadName | { readonly problem: string } {
  let name = "";
  let position = start;
  for (;;) {
    unquotedPart.lastIndex = position;
    const part = unquotedPart.exec(text)?.[0] ?? "";
    name += part;
    position += part.length;
    if (text[position] !== '"') break;
    const quoted = readQuoted(text, position);
    if ("problem" in quoted) return quoted;
    name += quoted.name;
    position = quoted.end;
  }
  return position === start ? { problem: "expected the name of an attribute" } : { name, end: position };
}

function readQuoted(text: string, start: number): ReadName | { readonly problem: string } {
  let name = "";
  for (let position = start + 1; position < text.length; position++) {
    const character = text[position]!;
    if (character === '"') return { name, end: position + 1 };
    if (character !== "\\") {
      name += character;
      continue;
    }
    position++;
    const escaped = text[position];
    if (escaped !== '"' && escaped !== "\\") {
      return { problem: 'invalid escape sequence in the name of an attribute: only \\" and \\\\ are allowed' };
    }
    name += escaped;
  }
  return { problem: 'unexpected end of query in the name of an attribute, expected "' };
}

/** The scope after `parent.` at a position, or "". */
export function readParentScope(text: string, position: number): "span" | "resource" | "" {
  parentScopeAhead.lastIndex = position;
  const found = parentScopeAhead.exec(text)?.[0];
  return found === undefined ? "" : (found.slice(0, -1) as "span" | "resource");
}

/** A name as it follows the dot of its scope, in quotes where it needs them. */
export function printAttributeName(name: string, { isUnscoped }: { readonly isUnscoped: boolean }): string {
  const needsQuotes =
    name === "" ||
    name.includes('"') ||
    endOfName.test(name) ||
    // `.5` is a number, and `parent.span.x` names an attribute `x`.
    (isUnscoped && /^(?:\d|span\.|resource\.)/.test(name));
  return needsQuotes ? `"${name.replaceAll(/["\\]/g, "\\$&")}"` : name;
}
