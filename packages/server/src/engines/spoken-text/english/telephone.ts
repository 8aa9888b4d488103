/** Reads telephone numbers digit by digit, with pauses between the groups. */
import { digitByDigit } from "./numbers.ts";
import { each, say, type Reading, type Sentence, type Token } from "./tokens.ts";

const northAmerican = /^(?:\+?1[-.])?\d{3}[-.]\d{3}[-.]\d{4}$/;
const local = /^\d{3}-\d{4}$/;
const international = /^\+\d{1,3}(?:[-.]?\d{2,5}){2,5}$/;
const group = /^\d{2,6}(?:[-.]\d{2,6})*$/;
/** Of numbers that anyone may call, and words before any number. */
const freephone = /^1[389]00$/;
const announced = /^(?:call|dial|phone|telephone|tel|mobile|cell|fax|text|ring|hotline|landline|whatsapp)$/i;
/** Of a book, an account, a card. */
const longNumber = /^(?=.{10,})\d{1,7}(?:-\d{1,7}){3,5}$/;
/** A number has at most this many digits (ITU-T E.164), and its extension a few more. */
const mostGroups = 8;

export function readTelephone({ tokens }: Sentence, index: number): Reading | undefined {
  const token = tokens[index]!;
  const next = tokens[index + 1];
  if (northAmerican.test(token.text) || (international.test(token.text) && digitsIn(token.text) >= 8)) {
    return each([sayDigits(token)]);
  }
  if (local.test(token.text) && token.before === "") return each([sayDigits(token)]);
  // (555) 123-4567
  if (/^\d{3}$/.test(token.text) && token.before.endsWith("(") && token.after === ")" && next !== undefined) {
    if (local.test(next.text)) return each([sayDigits(token), sayDigits(next)]);
  }
  if (/^(?:\+\d{1,3}|1)$/.test(token.text) && token.after === "" && next?.before === "(" && next.after === ")") {
    const last = tokens[index + 2];
    if (/^\d{2,4}$/.test(next.text) && last !== undefined && group.test(last.text)) {
      return each([sayDigits(token), sayDigits(next), sayDigits(last), ...extension(tokens, index + 3)]);
    }
  }
  if (longNumber.test(token.text)) return each([sayDigits(token)]);
  // (020) 7946 0958
  const isAreaCode = /^0\d{1,4}$/.test(token.text) && token.before.endsWith("(") && token.after === ")";
  // +44 20 7946 0958, 0800 123 456, 1300 555 019, and "call 555 019 123"
  const isStart =
    /^(?:\+\d{1,3}|0\d{2,4})$/.test(token.text) ||
    freephone.test(token.text) ||
    (announced.test(tokens[index - 1]?.text ?? "") && /^\d{1,5}$/.test(token.text));
  if (!isAreaCode && !(isStart && token.after === "")) return undefined;
  const groups = [token];
  for (let at = index + 1; at < tokens.length && groups.length < mostGroups; at++) {
    if (!group.test(tokens[at]!.text) || tokens[at]!.before !== "") break;
    groups.push(tokens[at]!);
    if (tokens[at]!.after !== "") break;
  }
  if (groups.reduce((sum, { text }) => sum + digitsIn(text), 0) < 8) return undefined;
  return each([...groups.map(sayDigits), ...extension(tokens, index + groups.length)]);
}

function extension(tokens: readonly Token[], index: number) {
  const [word, number] = [tokens[index], tokens[index + 1]];
  if (
    word === undefined ||
    number === undefined ||
    !/^ext(?:ension)?$/i.test(word.text) ||
    !/^\d{1,6}$/.test(number.text)
  ) {
    return [];
  }
  const end = word.end + (word.after.startsWith(".") ? 1 : 0);
  return [{ start: word.start, end, spoken: "extension" }, sayDigits(number)];
}

function digitsIn(text: string): number {
  return text.replaceAll(/\D/g, "").length;
}

function sayDigits(token: Token) {
  const plus = token.text.startsWith("+") ? "plus " : "";
  const groups = token.text.match(/\d+/g) ?? [];
  return say(token, `${plus}${groups.map(digitByDigit).join(", ")}`);
}
