/** Splits a template into text and the tokens of its actions. */
import { TemplateProblem } from "./problem.ts";

export type TemplateToken =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "open" | "close" | "space" | "end" }
  | { readonly kind: "word" | "field" | "variable" | "operator"; readonly text: string }
  | { readonly kind: "string"; readonly value: string }
  | { readonly kind: "number"; readonly value: bigint | number };

const comment = /\/\*[^]*?\*\/(?:[ \t\r\n]-)?\}\}/y;
const token =
  /([ \t\r\n]+)|("(?:[^"\\\n]|\\[^\n])*")|`([^`]*)`|('(?:[^'\\\n]|\\[^\n])+')|([+-]?(?:\d|\.\d)[\w.]*(?:(?<=[eEpP])[+-]\d+)?)|(\$\w*)|(\.[\p{L}_][\p{L}\p{N}_]*)|([\p{L}_][\p{L}\p{N}_]*)|(:=|[=|(),.])/uy;

export function tokenizeTemplate(template: string): readonly TemplateToken[] {
  const tokens: TemplateToken[] = [];
  let at = 0;
  let trimsNext = false;
  for (;;) {
    const open = template.indexOf("{{", at);
    let text = template.slice(at, open === -1 ? template.length : open);
    if (trimsNext) text = text.replace(/^[ \t\r\n]+/, "");
    const trimsBefore = open !== -1 && /^-[ \t\r\n]/.test(template.slice(open + 2, open + 4));
    if (trimsBefore) text = text.replace(/[ \t\r\n]+$/, "");
    if (text !== "") tokens.push({ kind: "text", text });
    if (open === -1) break;
    at = open + (trimsBefore ? 4 : 2);
    if (template.startsWith("/*", at)) {
      comment.lastIndex = at;
      const found = comment.exec(template);
      if (found === null) throw new TemplateProblem("unclosed comment");
      at = comment.lastIndex;
      trimsNext = found[0].endsWith("-}}");
      continue;
    }
    tokens.push({ kind: "open" });
    ({ at, trimsNext } = tokenizeAction(template, at, tokens));
    tokens.push({ kind: "close" });
  }
  tokens.push({ kind: "end" });
  return tokens;
}

function tokenizeAction(template: string, from: number, tokens: TemplateToken[]): { at: number; trimsNext: boolean } {
  let at = from;
  for (;;) {
    if (template.startsWith("}}", at)) return { at: at + 2, trimsNext: false };
    if (/^[ \t\r\n]-\}\}/.test(template.slice(at, at + 4))) return { at: at + 4, trimsNext: true };
    token.lastIndex = at;
    const match = token.exec(template);
    if (match === null) {
      if (at >= template.length) throw new TemplateProblem("unclosed action");
      const character = String.fromCodePoint(template.codePointAt(at)!);
      if (character === '"') throw new TemplateProblem("unterminated quoted string");
      if (character === "`") throw new TemplateProblem("unterminated raw quoted string");
      throw new TemplateProblem(`unexpected ${JSON.stringify(character)} in action`);
    }
    let end = token.lastIndex;
    // The space before `-}}` belongs to it.
    const trim = match[1] === undefined ? -1 : match[0].length - 1;
    if (trim > 0 && template.startsWith("-}}", end)) end = at + trim;
    tokens.push(toToken(match));
    at = end;
  }
}

function toToken(match: RegExpExecArray): TemplateToken {
  const [text, space, quoted, raw, character, number, variable, field, word] = match;
  if (space !== undefined) return { kind: "space" };
  if (quoted !== undefined) return { kind: "string", value: unquote(quoted) };
  if (raw !== undefined) return { kind: "string", value: raw };
  if (character !== undefined) {
    const points = Array.from(unquote(`"${character.slice(1, -1).replace('"', String.raw`\"`)}"`));
    if (points.length !== 1) throw new TemplateProblem(`malformed character constant: ${character}`);
    return { kind: "number", value: BigInt(points[0]!.codePointAt(0)!) };
  }
  if (number !== undefined) return { kind: "number", value: readNumber(number) };
  if (variable !== undefined) return { kind: "variable", text: variable };
  if (field !== undefined) return { kind: "field", text: field.slice(1) };
  if (word !== undefined) return { kind: "word", text: word };
  return { kind: "operator", text };
}

function readNumber(text: string): bigint | number {
  const plain = text.replaceAll("_", "");
  const integer = /^([+-]?)(0[xX][\da-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|\d+)$/.exec(plain);
  if (integer !== null) {
    const digits = /^0[0-7]+$/.test(integer[2]!) ? `0o${integer[2]!.slice(1)}` : integer[2]!;
    const value = BigInt(digits) * (integer[1] === "-" ? -1n : 1n);
    if (BigInt.asIntN(64, value) !== value) throw new TemplateProblem(`integer overflow: ${JSON.stringify(text)}`);
    return value;
  }
  if (!/^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(plain))
    throw new TemplateProblem(`bad number syntax: ${JSON.stringify(text)}`);
  return Number(plain);
}

const escape = /\\(?:([abfnrtv\\'"])|x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|([0-7]{3})|[^])/g;
const plainEscapes: Readonly<Record<string, string>> = {
  a: "\u0007",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
};

function unquote(text: string): string {
  return text.slice(1, -1).replaceAll(escape, (all, ...groups: (string | undefined)[]) => {
    const [plain, byte, short, long, octal] = groups;
    if (plain !== undefined) return plainEscapes[plain] ?? plain;
    const hex = byte ?? short ?? long;
    const codePoint = hex === undefined ? Number.parseInt(octal ?? "", 8) : Number.parseInt(hex, 16);
    if (!(codePoint <= 0x10_ffff)) throw new TemplateProblem(`invalid escape sequence ${all}`);
    return String.fromCodePoint(codePoint);
  });
}
