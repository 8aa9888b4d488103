/** The text of a log line: clipped where it is too long for a row, with the matches of a search marked. */
import type { ComponentChildren } from "preact";

/** Text that a row shows at most; the rest is in the details. */
const rowCharacters = 1_000;
/** Text before the first match if the match is not near the begin. */
const leadCharacters = 80;
const maximumMarks = 100;

export function LogText({ text, search }: { readonly text: string; readonly search?: string | undefined }) {
  const pattern = searchPattern(search);
  const at = pattern === undefined ? -1 : text.search(pattern);
  const from = at > rowCharacters / 2 ? at - leadCharacters : 0;
  const shown = text.slice(from, from + rowCharacters);
  return (
    <span class="logs-text" dir="auto">
      {from > 0 && "…"}
      {marked(shown, pattern)}
      {from + rowCharacters < text.length && "…"}
    </span>
  );
}

/** Marks every match of a search in a text. */
export function marked(text: string, pattern: RegExp | undefined): ComponentChildren {
  if (pattern === undefined) return text;
  const parts: ComponentChildren[] = [];
  let end = 0;
  for (const match of text.matchAll(pattern)) {
    if (parts.length > 2 * maximumMarks) break;
    parts.push(text.slice(end, match.index), <mark key={match.index}>{match[0]}</mark>);
    end = match.index + match[0].length;
  }
  return end === 0 ? text : [...parts, text.slice(end)];
}

/** As the server searches: the text itself, in upper or lower case. */
export function searchPattern(search: string | undefined): RegExp | undefined {
  if (search === undefined || search === "") return undefined;
  return new RegExp(search.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`), "giu");
}
