/** Mutates query text token by token: the result stays closer to the grammar than with changed characters. */
import type { Random } from "./random.ts";

const token = /"(?:[^"\\]|\\.)*"|`[^`]*`|[\p{L}_][\p{L}\p{N}_:.]*|\d[\w.]*|[|&!=<>~]+|\s+|./gsu;

/** The text with one to four tokens removed, repeated, exchanged, or replaced by a fragment. */
export function mutateTokens(text: string, random: Random, fragments: readonly string[]): string {
  const tokens: string[] = text.match(token) ?? [];
  const changes = 1 + random.size(3);
  for (let change = 0; change < changes; change += 1) {
    const at = random.below(tokens.length + 1);
    const other = random.below(tokens.length + 1);
    const length = 1 + random.size(6);
    switch (random.below(6)) {
      case 0:
        tokens.splice(at, length);
        break;
      case 1:
        tokens.splice(at, 0, ...tokens.slice(other, other + length));
        break;
      case 2:
        tokens.splice(at, 1, ...tokens.slice(other, other + 1));
        break;
      case 3:
        tokens.splice(at, 0, ...tokens.splice(other, length));
        break;
      case 4:
        tokens.splice(at, 0, random.pick(fragments));
        break;
      default:
        tokens.splice(at, 1, random.pick(fragments));
    }
  }
  return tokens.join("");
}
