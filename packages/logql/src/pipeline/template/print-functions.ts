/** `print`, `printf`, `println`, and escaping for other formats. */
import { printAll, formatValue } from "./format-value.ts";
import { checkSize, slow, textOf, variadic, type TemplateFunction } from "./function.ts";
import { printf } from "./printf.ts";
import type { Value } from "./values.ts";

const htmlEscapes: Readonly<Record<string, string>> = {
  "\0": "\uFFFD",
  '"': "&#34;",
  "'": "&#39;",
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
};

/** `\'` and its like, as in text/template. */
function escapeJavaScript(text: string): string {
  return text.replaceAll(/[\\'"<>&=\p{C}\u2028\u2029]/gu, (character) => {
    if (character === "\\" || character === "'" || character === '"') return `\\${character}`;
    const codePoint = character.codePointAt(0)!;
    if (codePoint < 0x80) return `\\u${codePoint.toString(16).toUpperCase().padStart(4, "0")}`;
    return `\\u${codePoint.toString(16).toUpperCase().padStart(4, "0")}`;
  });
}

/** A query component: spaces become `+`. */
export function encodeQuery(text: string): string {
  return encodeURIComponent(text.toWellFormed())
    .replaceAll(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll("%20", "+");
}

const onText = (change: (text: string) => string): TemplateFunction =>
  slow(variadic(1, (values) => change(printAll(values))));

/** Widths such as `%1000000d` add up. */
function boundedPrintf(format: string, values: readonly Value[]): string {
  let width = format.length;
  for (const [number] of format.matchAll(/\d+/g)) width += Number(number);
  for (const value of values)
    if (typeof value === "bigint") width += format.includes("*") ? Math.abs(Number(value)) : 0;
  checkSize(width);
  return printf(format, values);
}

export const printFunctions: Readonly<Record<string, TemplateFunction>> = {
  print: variadic(0, (values) => printAll(values)),
  println: variadic(0, (values) => `${values.map((value) => formatValue(value)).join(" ")}\n`),
  printf: slow(variadic(1, ([format, ...values]) => boundedPrintf(textOf(format), values))),
  html: onText((text) => text.replaceAll(/[\0"'&<>]/g, (character) => htmlEscapes[character]!)),
  js: onText(escapeJavaScript),
  urlquery: onText(encodeQuery),
};
