/** Functions on texts. Positions and lengths of `trunc` and `substr` are bytes, those of `alignLeft` and `alignRight` characters. */
import { inputLimit } from "@sounding/promql/input-limit";
import { parseGoDuration } from "../go-duration.ts";
import { parseByteSize } from "../byte-size.ts";
import { checkSize, fixed, integerOf, slow, textOf, variadic, type TemplateFunction } from "./function.ts";
import { encodeQuery } from "./print-functions.ts";
import { TemplateProblem } from "./problem.ts";
import { isTrue, GoTime, type Value } from "./values.ts";

const onText = (change: (text: string) => Value): TemplateFunction => fixed(1, ([text]) => change(textOf(text)));
/** A function of two texts in the order of the template. */
const onTwo = (change: (first: string, second: string) => Value): TemplateFunction =>
  fixed(2, ([first, second]) => change(textOf(first), textOf(second)));

function trimCharacters(text: string, characters: string, side: "both" | "left" | "right"): string {
  const set = new Set(characters);
  const points = Array.from(text);
  let from = 0;
  let to = points.length;
  if (side !== "right") while (from < to && set.has(points[from]!)) from++;
  if (side !== "left") while (to > from && set.has(points[to - 1]!)) to--;
  return points.slice(from, to).join("");
}

const withoutPrefix = (prefix: string, text: string): string =>
  text.startsWith(prefix) ? text.slice(prefix.length) : text;
const withoutSuffix = (suffix: string, text: string): string =>
  suffix !== "" && text.endsWith(suffix) ? text.slice(0, -suffix.length) : text;

/** Go's strings.Replace: at most so many times; all if negative. */
function replaceSome(text: string, old: string, replacement: string, count: number): string {
  if (count === 0) return text;
  const units = old === "" ? ["", ...Array.from(text)] : text.split(old);
  const limit = count < 0 ? Infinity : count;
  const matches = old === "" ? Array.from(text).length + 1 : units.length - 1;
  checkSize(text.length + Math.min(matches, limit) * Math.max(0, replacement.length - old.length));
  if (count < 0 && old !== "") return text.replaceAll(old, () => replacement);
  if (old === "") {
    const points = Array.from(text);
    const parts = points.map((point, index) => (index < limit ? replacement : "") + point);
    return parts.join("") + (points.length < limit ? replacement : "");
  }
  const head = units.slice(0, Math.min(limit, matches) + 1);
  return [head.join(replacement), ...units.slice(head.length)].join(old);
}

/** Upper case at the beginning of each word. */
function toTitle(text: string): string {
  return text.replaceAll(/(?<![\p{L}\p{N}_'])\p{L}/gu, (letter) => letter.toUpperCase());
}

function bytesOf(text: string, from: number, to: number): string {
  return Buffer.from(text).subarray(from, to).toString();
}

function trunc(count: number, text: string): string {
  const size = Buffer.byteLength(text);
  if (count < 0 && size + count > 0) return bytesOf(text, size + count, size);
  return count >= 0 && size > count ? bytesOf(text, 0, count) : text;
}

function substr(start: number, end: number, text: string): string {
  const size = Buffer.byteLength(text);
  const from = Math.max(start, 0);
  const to = start >= 0 && (end < 0 || end > size) ? size : end;
  if (to < from || to > size || to < 0) throw new TemplateProblem("slice bounds out of range");
  return bytesOf(text, from, to);
}

function align(count: number, text: string, side: "left" | "right"): string {
  const points = Array.from(text);
  if (count < 0 || count === points.length) return text;
  checkSize(count);
  const missing = " ".repeat(Math.max(0, count - points.length));
  if (side === "left") return missing === "" ? points.slice(0, count).join("") : text + missing;
  return missing === "" ? points.slice(points.length - count).join("") : missing + text;
}

function indent(spaces: number, text: string): string {
  if (spaces < 0) throw new TemplateProblem("strings: negative Repeat count");
  const lines = text.split("\n");
  checkSize(text.length + lines.length * spaces);
  const pad = " ".repeat(spaces);
  return pad + lines.join(`\n${pad}`);
}

function repeat(count: number, text: string): string {
  if (count < 0) throw new TemplateProblem("strings: negative Repeat count");
  checkSize(count * text.length);
  return text.repeat(count);
}

function decodeQuery(text: string): string {
  const invalid = /%(?![\da-fA-F]{2}).{0,2}/su.exec(text);
  if (invalid !== null) throw new TemplateProblem(`invalid URL escape ${JSON.stringify(invalid[0])}`);
  const bytes: Buffer[] = [];
  for (const [, hex, other] of text.matchAll(/((?:%[\da-fA-F]{2})+)|([^%]+)/g)) {
    bytes.push(
      hex === undefined ? Buffer.from(other!.replaceAll("+", " ")) : Buffer.from(hex.replaceAll("%", ""), "hex"),
    );
  }
  return Buffer.concat(bytes).toString();
}

function decodeBase64(text: string): string {
  const remainder = text.length % 4;
  const padded = remainder > 1 ? text + "=".repeat(4 - remainder) : text;
  const digits = padded.replaceAll(/[\r\n]/g, "");
  const valid = /^[A-Za-z0-9+/]*={0,2}/.exec(digits)![0];
  if (valid.length < digits.length || digits.length % 4 !== 0) {
    return `illegal base64 data at input byte ${valid.length < digits.length ? valid.length : digits.length - (digits.length % 4)}`;
  }
  return Buffer.from(digits, "base64").toString();
}

function seconds(text: string): number {
  const { problem, value } = parseGoDuration(text);
  if (problem !== undefined) throw new TemplateProblem(problem);
  return value / 1e9;
}

function fromJson(text: string): Value {
  try {
    return toValue(JSON.parse(text));
  } catch {
    return null;
  }
}

const maximumDepth = inputLimit({
  area: "LogQL",
  bounds: "Levels of nesting of JSON that a template reads",
  value: 1000,
  error: { instead: "`fromJson` returns nil" },
});

/** @throws RangeError */
function toValue(json: unknown, depth = 0): Value {
  if (depth > maximumDepth) throw new RangeError("The JSON is too deep.");
  if (Array.isArray(json)) return json.map((one) => toValue(one, depth + 1));
  if (typeof json !== "object" || json === null) return json as Value;
  return new Map(Object.entries(json).map(([name, one]) => [name, toValue(one, depth + 1)]));
}

const trimSpace = onText((text) => text.trim());

export const textFunctions: Readonly<Record<string, TemplateFunction>> = {
  __line__: fixed(0, (_, { line }) => line),
  __timestamp__: fixed(0, (_, { unixNano }) => new GoTime(unixNano)),
  lower: onText((text) => text.toLowerCase()),
  ToLower: onText((text) => text.toLowerCase()),
  upper: onText((text) => text.toUpperCase()),
  ToUpper: onText((text) => text.toUpperCase()),
  title: slow(onText(toTitle)),
  trim: trimSpace,
  TrimSpace: trimSpace,
  trimAll: slow(onTwo((characters, text) => trimCharacters(text, characters, "both"))),
  Trim: slow(onTwo((text, characters) => trimCharacters(text, characters, "both"))),
  TrimLeft: slow(onTwo((text, characters) => trimCharacters(text, characters, "left"))),
  TrimRight: slow(onTwo((text, characters) => trimCharacters(text, characters, "right"))),
  trimPrefix: onTwo(withoutPrefix),
  trimSuffix: onTwo(withoutSuffix),
  TrimPrefix: onTwo((text, prefix) => withoutPrefix(prefix, text)),
  TrimSuffix: onTwo((text, suffix) => withoutSuffix(suffix, text)),
  contains: onTwo((part, text) => text.includes(part)),
  hasPrefix: onTwo((prefix, text) => text.startsWith(prefix)),
  hasSuffix: onTwo((suffix, text) => text.endsWith(suffix)),
  replace: slow(
    fixed(3, ([old, replacement, text]) => replaceSome(textOf(text), textOf(old), textOf(replacement), -1)),
  ),
  Replace: slow(
    fixed(4, ([text, old, replacement, count]) =>
      replaceSome(textOf(text), textOf(old), textOf(replacement), integerOf(count)),
    ),
  ),
  trunc: fixed(2, ([count, text]) => trunc(integerOf(count), textOf(text))),
  substr: fixed(3, ([start, end, text]) => substr(integerOf(start), integerOf(end), textOf(text))),
  alignLeft: slow(fixed(2, ([count, text]) => align(integerOf(count), textOf(text), "left"))),
  alignRight: slow(fixed(2, ([count, text]) => align(integerOf(count), textOf(text), "right"))),
  indent: fixed(2, ([spaces, text]) => indent(integerOf(spaces), textOf(text))),
  nindent: fixed(2, ([spaces, text]) => `\n${indent(integerOf(spaces), textOf(text))}`),
  repeat: fixed(2, ([count, text]) => repeat(integerOf(count), textOf(text))),
  urlencode: slow(onText(encodeQuery)),
  urldecode: slow(onText(decodeQuery)),
  b64enc: onText((text) => Buffer.from(text).toString("base64")),
  b64dec: onText(decodeBase64),
  bytes: slow(
    onText((text) => {
      const { problem, value } = parseByteSize(text);
      if (problem !== undefined) throw new TemplateProblem(problem);
      return value;
    }),
  ),
  duration: slow(onText(seconds)),
  duration_seconds: slow(onText(seconds)),
  fromJson: slow(onText(fromJson)),
  default: variadic(1, ([missing, value]) => (value === undefined || !isTrue(value) ? missing! : value)),
};
