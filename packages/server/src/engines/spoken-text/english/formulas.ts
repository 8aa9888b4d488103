/** Reads powers, indices and roots: `mc²`, `10³`, `H₂O`, `√9`; and areas and volumes without a number: `per m²`. */
import { unitWords } from "./measures.ts";
import { cardinal, numberPattern, numberWords } from "./numbers.ts";
import { one, type Reading, type Sentence } from "./tokens.ts";

const superscripts = "⁰¹²³⁴⁵⁶⁷⁸⁹";
const subscripts = "₀₁₂₃₄₅₆₇₈₉";
const power = new RegExp(`^([A-Za-z]{1,3}|${numberPattern})([${superscripts}]{1,3})$`);
const formula = new RegExp(`^(?=.*[${subscripts}])[A-Za-z${subscripts}]{2,30}$`);
const root = new RegExp(`^√(${numberPattern})$`);
const areaOrVolume = /^(?:[mcdk]?m|ft|in|yd|mi)[²³]$/;
const named: Readonly<Record<string, string>> = { "2": "squared", "3": "cubed" };

export function readFormula({ tokens, british }: Sentence, index: number): Reading | undefined {
  const token = tokens[index]!;
  const { text } = token;
  if (areaOrVolume.test(text)) {
    const isOne = /^(?:per|an?|each|every|one)$/i.test(tokens[index - 1]?.text ?? "");
    return one(token, unitWords(text, isOne) ?? text);
  }
  const [, base, exponent] = power.exec(text) ?? [];
  if (base !== undefined) {
    const raised = digitsOf(exponent!, superscripts);
    const words = /\d/.test(base) ? numberWords(base, british) : base.split("").join(" ");
    return one(token, `${words} ${named[raised] ?? `to the power of ${cardinal(raised)}`}`);
  }
  if (formula.test(text)) return one(token, formulaWords(text));
  const [, radicand] = root.exec(text) ?? [];
  return radicand === undefined ? undefined : one(token, `the square root of ${numberWords(radicand, british)}`);
}

function formulaWords(text: string): string {
  return text
    .replaceAll(new RegExp(`[${subscripts}]+`, "g"), (index) => ` ${cardinal(digitsOf(index, subscripts))} `)
    .trim();
}

function digitsOf(text: string, digits: string): string {
  return Array.from(text, (digit) => digits.indexOf(digit)).join("");
}
