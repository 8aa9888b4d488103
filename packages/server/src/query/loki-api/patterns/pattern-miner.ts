/**
 * Groups lines into patterns as Drain does: lines with the same number of tokens, of which enough are equal, belong to one
 * pattern; the tokens that differ become placeholders. https://jiemingzhu.github.io/pub/pjhe_icws2017.pdf
 */
import { isWord, placeholder, tokenize } from "./line-tokens.ts";

export interface MinedPattern {
  readonly pattern: string;
  /** By the key that the lines were added with. */
  readonly counts: ReadonlyMap<number, number>;
}

interface Cluster {
  tokens: string[];
  readonly counts: Map<number, number>;
}

/** Patterns of one set of lines, and of one number of tokens; lines that fit none of them are not counted any more. */
const mostClusters = 300;
const mostInGroup = 60;
/** The share of the words that must be equal. */
const leastSimilarity = 0.6;

export class PatternMiner {
  readonly #groups = new Map<number, Cluster[]>();
  /** Lines that are equal after masking, which most are. */
  readonly #known = new Map<string, Cluster | undefined>();
  #clusters = 0;

  /** Counts a line; returns the work that it took, in tokens compared. */
  add(line: string, key: number): number {
    const message = messageOf(line);
    const inner = tokenize(message ?? line);
    if (inner === undefined) return 1;
    const tokens = message === undefined ? inner : [placeholder, '"', ...inner, '"', placeholder];
    const text = tokens.join("\0");
    let cluster = this.#known.get(text);
    let work = tokens.length;
    if (cluster === undefined && !this.#known.has(text)) {
      const group = this.#groups.get(tokens.length) ?? [];
      this.#groups.set(tokens.length, group);
      work += group.length * tokens.length;
      cluster = this.#join(group, tokens);
      if (this.#known.size < mostKnown) this.#known.set(text, cluster);
    }
    if (cluster !== undefined) cluster.counts.set(key, (cluster.counts.get(key) ?? 0) + 1);
    return work;
  }

  /** The pattern that the tokens belong to, which may be a new one. */
  #join(group: Cluster[], tokens: readonly string[]): Cluster | undefined {
    let best: Cluster | undefined;
    let bestSimilarity = leastSimilarity;
    for (const cluster of group) {
      const similarity = similarityOf(cluster.tokens, tokens);
      if (similarity < bestSimilarity) continue;
      best = cluster;
      bestSimilarity = similarity;
    }
    if (best !== undefined) {
      best.tokens = best.tokens.map((token, index) => (token === tokens[index] ? token : placeholder));
      return best;
    }
    if (this.#clusters >= mostClusters || group.length >= mostInGroup) return undefined;
    this.#clusters += 1;
    const added = { tokens: [...tokens], counts: new Map<number, number>() };
    group.push(added);
    return added;
  }

  /** The patterns; two that became equal are one. */
  patterns(): readonly MinedPattern[] {
    const merged = new Map<string, Map<number, number>>();
    for (const { counts, tokens } of [...this.#groups.values()].flat()) {
      const pattern = printPattern(tokens);
      if (!/[\p{L}\p{N}]/u.test(pattern.replaceAll(placeholder, ""))) continue;
      const sums = merged.get(pattern) ?? new Map<number, number>();
      for (const [key, count] of counts) sums.set(key, (sums.get(key) ?? 0) + count);
      merged.set(pattern, sums);
    }
    return [...merged].map(([pattern, counts]) => ({ pattern, counts }));
  }
}

/** Masked lines that are remembered. */
const mostKnown = 10_000;

/** The share of equal words; 0 if a separator differs, since that is another statement. */
function similarityOf(pattern: readonly string[], tokens: readonly string[]): number {
  let words = 0;
  let equal = 0;
  for (const [index, token] of pattern.entries()) {
    const other = tokens[index]!;
    if (token === other) {
      if (!isWord(token)) continue;
      words += 1;
      equal += 1;
    } else if (isVariable(token) && isVariable(other)) words += 1;
    else return 0;
  }
  return words === 0 ? 1 : equal / words;
}

function isVariable(token: string): boolean {
  return token === placeholder || isWord(token);
}

/** As `|>` reads it: without two captures in a row. */
function printPattern(tokens: readonly string[]): string {
  return tokens.join("").replaceAll(/(?:<_>){2,}/g, placeholder);
}

const messageMembers = ["message", "msg", "log", "body", "_msg", "content"] as const;

/** The message of a line that is a JSON object, as it is written in the line. */
function messageOf(line: string): string | undefined {
  if (!line.startsWith("{")) return undefined;
  try {
    const members = JSON.parse(line) as Record<string, unknown>;
    const name = messageMembers.find((each) => typeof members[each] === "string" && members[each] !== "");
    const written = name === undefined ? "" : JSON.stringify(members[name]).slice(1, -1);
    return written !== "" && line.includes(`"${written}"`) ? written : undefined;
  } catch {
    return undefined;
  }
}
