/** Filters of SCIM as providers send them: comparisons with `eq`, joined by `and` (RFC 7644, section 3.4.2.2). */
import { inputLimit } from "../input-limits.ts";
import { scimError } from "./scim-error.ts";

export interface Comparison<Attribute extends string> {
  readonly attribute: Attribute;
  readonly value: string;
}

const longestFilter = inputLimit({
  area: "Administration",
  bounds: "Filter of SCIM",
  value: 2000,
  unit: "characters",
  error: "invalid_request",
});
const comparison = /\s*([A-Za-z][\w.:]*)\s+eq\s+("(?:[^"\\]|\\.)*")\s*/iy;
const conjunction = /and\s/iy;

/**
 * @param attributes those that may be compared
 * @throws AppError invalid_request (invalidFilter)
 */
export function parseFilter<Attribute extends string>(
  text: string,
  attributes: readonly Attribute[],
): readonly Comparison<Attribute>[] {
  if (text.length > longestFilter)
    throw scimError("invalidFilter", `filter has ${text.length} characters; expected at most ${longestFilter}.`);
  const found: Comparison<Attribute>[] = [];
  let at = 0;
  do {
    comparison.lastIndex = at;
    const [, name, quoted] = comparison.exec(text) ?? [];
    const attribute = name === undefined ? undefined : knownAttribute(name, attributes);
    const value = quoted === undefined ? undefined : parseText(quoted);
    if (attribute === undefined || value === undefined) throw unsupported(text, attributes);
    found.push({ attribute, value });
    at = comparison.lastIndex;
    if (at === text.length) return found;
    conjunction.lastIndex = at;
    if (!conjunction.test(text)) throw unsupported(text, attributes);
    at = conjunction.lastIndex;
  } while (found.length < mostComparisons);
  throw unsupported(text, attributes);
}

const mostComparisons = 5;

/** The attribute of the list, whatever its case, with or without the URN of its schema. */
export function knownAttribute<Attribute extends string>(
  name: string,
  attributes: readonly Attribute[],
): Attribute | undefined {
  const plain = name.replace(/^urn:ietf:params:scim:schemas:core:2\.0:(?:User|Group):/i, "").toLowerCase();
  return attributes.find((each) => each.toLowerCase() === plain);
}

function parseText(quoted: string): string | undefined {
  try {
    return String(JSON.parse(quoted)).toWellFormed();
  } catch {
    return undefined;
  }
}

function unsupported(text: string, attributes: readonly string[]): Error {
  return scimError(
    "invalidFilter",
    `filter is ${JSON.stringify(text.slice(0, 200))}; expected comparisons such as ${attributes[0]} eq "value" of ${attributes.join(", ")}, joined by "and".`,
    "filter",
  );
}
