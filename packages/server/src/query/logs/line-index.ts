/** Conditions that let the store skip blocks of rows without a text in any line, by the index of `logs` for texts. */
import { searchedLine } from "../../store/schema.ts";
import { bind, join, sql, type Statement } from "../../store/statement.ts";

/** The indexed expression, in the words of store/schema.ts. */
const indexedLine = sql`lower(concat(event_name, body))`;

/**
 * Letters that equal a letter beyond ASCII if case is ignored (`k` and the Kelvin sign), or do so for some implementations:
 * the index distinguishes these.
 */
const unsafeWithoutCase = /[^\0-\u007f]|[iksIKS]/u;

/**
 * True for every row whose stored text contains all of these texts; undefined if they are too short for the index. It reads no
 * rows, and is true for rows without the texts as well.
 */
export function mayContain(
  texts: readonly string[],
  { ignoresCase }: { readonly ignoresCase: boolean },
): Statement | undefined {
  const parts = texts
    .flatMap((text) => (ignoresCase ? text.split(unsafeWithoutCase) : [text]))
    .filter((text) => Array.from(text).length >= searchedLine.characters && text.isWellFormed());
  if (parts.length === 0) return undefined;
  const likes = parts.slice(0, mostParts).map((part) => sql`${indexedLine} LIKE ${bind.text(likePattern(part))}`);
  return sql`indexHint(${join(likes, sql` AND `)})`;
}

const mostParts = 8;

/** The store's `lower` changes ASCII letters only. */
function likePattern(text: string): string {
  const lower = text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
  return `%${lower.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
}
