/**
 * Patterns: text with captures such as `<method>`, and `<_>` for what is not kept.
 * https://grafana.com/docs/loki/latest/query/log_queries/#pattern
 */
import { invalidQuery } from "./invalid-query.ts";

export type PatternNode =
  | { readonly kind: "literal"; readonly text: string }
  /** `name` is null for `<_>`. */
  | { readonly kind: "capture"; readonly name: string | null };

/** @throws QueryError if two captures follow each other: where one ends and the other begins is unknown */
export function parsePattern(pattern: string): readonly PatternNode[] {
  const nodes: PatternNode[] = [];
  let end = 0;
  for (const match of pattern.matchAll(/<([A-Za-z_]\w*)>/g)) {
    if (match.index > end) nodes.push({ kind: "literal", text: pattern.slice(end, match.index) });
    else if (nodes.length > 0) {
      throw invalidQuery(`invalid pattern: found consecutive captures at ${match[0]}: put text between them`);
    }
    nodes.push({ kind: "capture", name: match[1] === "_" ? null : match[1]! });
    end = match.index + match[0].length;
  }
  if (end < pattern.length) nodes.push({ kind: "literal", text: pattern.slice(end) });
  return nodes;
}
