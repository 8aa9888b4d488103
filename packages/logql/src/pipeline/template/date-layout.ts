/** Go's date layouts: a reference time such as `2006-01-02T15:04:05Z07:00` shows how a time is written. */

const elements =
  /January|Jan(?![a-z])|Monday|Mon(?![a-z])|MST|002|0[1-6]|15|1|2006|2|__2|_2(?!006)|3|4|5|PM|pm|[-Z]07(?::00:00|0000|:00|00)?|[.,](?:0+|9+)(?!\d)/g;

export interface LayoutPart {
  readonly kind: "text" | "element";
  readonly text: string;
}

const known = new Map<string, readonly LayoutPart[]>();
const mostKnown = 256;

export function parseLayout(layout: string): readonly LayoutPart[] {
  const remembered = known.get(layout);
  if (remembered !== undefined) return remembered;
  const parts: LayoutPart[] = [];
  let end = 0;
  for (const match of layout.matchAll(elements)) {
    if (match.index > end) parts.push({ kind: "text", text: layout.slice(end, match.index) });
    parts.push({ kind: "element", text: match[0] });
    end = match.index + match[0].length;
  }
  if (end < layout.length) parts.push({ kind: "text", text: layout.slice(end) });
  if (known.size >= mostKnown) known.clear();
  known.set(layout, parts);
  return parts;
}

export const monthNames = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
] as const;
export const dayNames = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"] as const;
