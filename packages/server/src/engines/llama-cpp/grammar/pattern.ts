/**
 * Turns a regular expression (JSON Schema's `pattern`, ECMA-262 with the flag `u`) into the grammar of the JSON strings that
 * it matches. Look-around, back-references and word boundaries, which a grammar cannot express, are refused.
 */
import { inputLimit } from "../../../input-limits.ts";
import { complement, union, type CodePoints } from "./code-points.ts";
import { choice, literal, nothing, repeat, sequence, type Grammar } from "./grammar.ts";
import { characterOf } from "./json-text.ts";

/** Why a pattern cannot be a grammar. */
export class PatternError extends Error {
  override readonly name = "PatternError";
}

const longestPattern = inputLimit({
  area: "Chat completions",
  bounds: "Length of a pattern in a schema, for llama.cpp models",
  value: 1_000,
  unit: "characters",
  error: "unsupported_parameter",
});

const digits: CodePoints = [[0x30, 0x39]];
const wordCharacters: CodePoints = union(digits, [[0x41, 0x5a]], [[0x5f, 0x5f]], [[0x61, 0x7a]]);
const spaces: CodePoints = [
  [0x09, 0x0d],
  [0x20, 0x20],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
];
const classEscapes: Readonly<Record<string, CodePoints>> = {
  d: digits,
  D: complement(digits),
  w: wordCharacters,
  W: complement(wordCharacters),
  s: spaces,
  S: complement(spaces),
};
const controlEscapes: Readonly<Record<string, number>> = { t: 0x09, n: 0x0a, v: 0x0b, f: 0x0c, r: 0x0d, 0: 0 };
const anyButLineEnd = complement([
  [0x0a, 0x0a],
  [0x0d, 0x0d],
  [0x2028, 0x2029],
]);
const anyText = repeat(characterOf([[0, 0x10ffff]]), 0);

const single = (codePoint: number): CodePoints => [[codePoint, codePoint]];

/** Parses a pattern that `RegExp` has accepted, so only valid syntax occurs. */
class PatternReader {
  private readonly characters: readonly string[];
  private position = 0;

  constructor(pattern: string) {
    this.characters = Array.from(pattern);
  }

  private peek(offset = 0): string | undefined {
    return this.characters[this.position + offset];
  }

  private take(text: string): boolean {
    const matches = Array.from(text).every((character, index) => this.peek(index) === character);
    if (matches) this.position += text.length;
    return matches;
  }

  /** The whole pattern, which may match anywhere in the string unless it is anchored. */
  whole(): Grammar {
    const alternatives: Grammar[] = [];
    do {
      const start = this.take("^") ? nothing : anyText;
      const middle = this.terms();
      const end = this.take("$") ? nothing : anyText;
      alternatives.push(sequence(start, middle, end));
    } while (this.take("|"));
    if (this.peek() !== undefined) throw new PatternError(`has ${JSON.stringify(this.peek())} inside the pattern`);
    return choice(...alternatives);
  }

  private terms(): Grammar {
    const items: Grammar[] = [];
    for (let next = this.peek(); next !== undefined && !"|)$".includes(next); next = this.peek()) {
      items.push(this.quantified(this.atom()));
    }
    return sequence(...items);
  }

  private quantified(item: Grammar): Grammar {
    const [minimum, maximum] = this.quantifier();
    if (minimum === 1 && maximum === 1) return item;
    this.take("?");
    return repeat(item, minimum, maximum);
  }

  private quantifier(): [minimum: number, maximum: number] {
    if (this.take("*")) return [0, Infinity];
    if (this.take("+")) return [1, Infinity];
    if (this.take("?")) return [0, 1];
    if (!this.take("{")) return [1, 1];
    const minimum = this.decimal();
    if (this.take("}")) return [minimum, minimum];
    this.take(",");
    const maximum = this.peek() === "}" ? Infinity : this.decimal();
    this.take("}");
    return [minimum, maximum];
  }

  private decimal(): number {
    let text = "";
    while (/[0-9]/.test(this.peek() ?? "")) text += this.characters[this.position++];
    return Number(text);
  }

  private atom(): Grammar {
    if (this.take("(")) return this.group();
    if (this.take("[")) return characterOf(this.characterClass());
    if (this.take(".")) return characterOf(anyButLineEnd);
    if (this.take("^")) throw new PatternError("has ^ inside the pattern");
    if (this.take("\\")) return characterOf(this.escape());
    return characterOf(single(this.characters[this.position++]!.codePointAt(0)!));
  }

  private group(): Grammar {
    if (this.take("?")) {
      if (!this.take(":") && !/^<[^=!]/.test(`${this.peek()}${this.peek(1)}`))
        throw new PatternError("has look-around");
      if (this.take("<")) while (!this.take(">")) this.position++;
    }
    const alternatives: Grammar[] = [];
    do alternatives.push(this.terms());
    while (this.take("|"));
    if (!this.take(")")) throw new PatternError("has $ inside the pattern");
    return choice(...alternatives);
  }

  private characterClass(): CodePoints {
    const negated = this.take("^");
    const sets: CodePoints[] = [];
    while (!this.take("]")) {
      const from = this.classItem();
      if (this.peek() === "-" && this.peek(1) !== "]") {
        this.take("-");
        sets.push([[from[0]![0], this.classItem()[0]![0]]]);
      } else sets.push(from);
    }
    return negated ? complement(union(...sets)) : union(...sets);
  }

  private classItem(): CodePoints {
    if (!this.take("\\")) return single(this.characters[this.position++]!.codePointAt(0)!);
    if (this.take("b")) return single(0x08);
    return this.escape();
  }

  private escape(): CodePoints {
    const character = this.characters[this.position++]!;
    if (classEscapes[character] !== undefined) return classEscapes[character];
    if (controlEscapes[character] !== undefined) return single(controlEscapes[character]);
    if (character === "c") return single(this.characters[this.position++]!.codePointAt(0)! % 32);
    if (character === "x") return single(this.hexadecimal(2));
    if (character === "u") return single(this.unicodeEscape());
    if (/[A-Za-z1-9]/.test(character)) throw new PatternError(`has \\${character}`);
    return single(character.codePointAt(0)!);
  }

  private unicodeEscape(): number {
    if (this.take("{")) {
      let text = "";
      while (!this.take("}")) text += this.characters[this.position++];
      return Number.parseInt(text, 16);
    }
    const unit = this.hexadecimal(4);
    if (unit < 0xd800 || unit > 0xdbff || !this.take("\\u")) return unit;
    return ((unit - 0xd800) << 10) + (this.hexadecimal(4) - 0xdc00) + 0x10000;
  }

  private hexadecimal(length: number): number {
    const text = this.characters.slice(this.position, this.position + length).join("");
    this.position += length;
    return Number.parseInt(text, 16);
  }
}

/**
 * The JSON strings, quotes included, that match the pattern.
 * @throws PatternError if the pattern is not a regular expression or cannot be expressed as a grammar
 */
export function stringMatching(pattern: string): Grammar {
  if (pattern.length > longestPattern) throw new PatternError(`has more than ${longestPattern} characters`);
  try {
    void new RegExp(pattern, "u");
  } catch (error) {
    throw new PatternError("is not a regular expression", { cause: error });
  }
  return sequence(literal('"'), new PatternReader(pattern).whole(), literal('"'));
}
