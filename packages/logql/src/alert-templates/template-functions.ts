/**
 * The functions of alert templates: Go's built-in ones and those of Prometheus that only compute.
 * https://prometheus.io/docs/prometheus/latest/configuration/template_reference/
 */
import { comparisonFunctions } from "../pipeline/template/comparison-functions.ts";
import { fixed, textOf, type TemplateFunction } from "../pipeline/template/function.ts";
import { printFunctions } from "../pipeline/template/print-functions.ts";
import { TemplateProblem } from "../pipeline/template/problem.ts";
import { typeName, type Value } from "../pipeline/template/values.ts";
import { parseDuration } from "@sounding/promql/syntax/duration";

const onNumber = (print: (value: number) => string): TemplateFunction => fixed(1, ([value]) => print(numberOf(value)));
const onText = (change: (text: string) => Value): TemplateFunction => fixed(1, ([text]) => change(textOf(text)));

function numberOf(value: Value | undefined): number {
  if (typeof value === "number") return value;
  if (typeof value === "bigint") return Number(value);
  if (typeof value === "string") {
    const number = /^[+-]?Inf(?:inity)?$/i.test(value)
      ? Number(`${value.startsWith("-") ? "-" : ""}Infinity`)
      : /^NaN$/i.test(value)
        ? Number.NaN
        : value.trim() === ""
          ? undefined
          : Number(value);
    if (number !== undefined && (!Number.isNaN(number) || /^NaN$/i.test(value))) return number;
    throw new TemplateProblem(`${JSON.stringify(value)} is not a number`);
  }
  throw new TemplateProblem(`can't convert ${typeName(value ?? null)} to float`);
}

/** Go's `%.4g`. */
function fourDigits(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "+Inf" : "-Inf";
  if (value === 0) return Object.is(value, -0) ? "-0" : "0";
  const [digits, exponent] = value.toExponential(3).split("e") as [string, string];
  const power = Number(exponent);
  if (power >= -4 && power < 4) return withoutZeros(value.toFixed(3 - power));
  return `${withoutZeros(digits)}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
}

function withoutZeros(text: string): string {
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

const small = ["m", "u", "n", "p", "f", "a", "z", "y"];

function scaled(value: number, { base, prefixes }: { base: number; prefixes: readonly string[] }): string {
  let rest = value;
  let prefix = "";
  for (const next of prefixes) {
    if (Math.abs(rest) < base) break;
    prefix = next;
    rest /= base;
  }
  return `${fourDigits(rest)}${prefix}`;
}

function magnified(value: number): string {
  let rest = value;
  let prefix = "";
  for (const next of small) {
    if (Math.abs(rest) >= 1) break;
    prefix = next;
    rest *= 1000;
  }
  return `${fourDigits(rest)}${prefix}`;
}

function humanize(value: number): string {
  if (value === 0 || !Number.isFinite(value)) return fourDigits(value);
  if (Math.abs(value) < 1) return magnified(value);
  return scaled(value, { base: 1000, prefixes: ["k", "M", "G", "T", "P", "E", "Z", "Y"] });
}

function humanize1024(value: number): string {
  if (Math.abs(value) <= 1 || !Number.isFinite(value)) return fourDigits(value);
  return scaled(value, { base: 1024, prefixes: ["ki", "Mi", "Gi", "Ti", "Pi", "Ei", "Zi", "Yi"] });
}

function humanizeDuration(seconds: number): string {
  if (!Number.isFinite(seconds)) return fourDigits(seconds);
  if (seconds === 0) return `${fourDigits(seconds)}s`;
  if (Math.abs(seconds) < 1) return `${magnified(seconds)}s`;
  const sign = seconds < 0 ? "-" : "";
  const positive = Math.abs(seconds);
  const whole = Math.trunc(positive);
  const parts = [
    [Math.floor(whole / 86_400), "d"],
    [Math.floor(whole / 3600) % 24, "h"],
    [Math.floor(whole / 60) % 60, "m"],
    [whole % 60, "s"],
  ] as const;
  const first = parts.findIndex(([count]) => count !== 0);
  if (first === parts.length - 1) return `${sign}${fourDigits(positive)}s`;
  return (
    sign +
    parts
      .slice(first)
      .map(([count, unit]) => `${count}${unit}`)
      .join(" ")
  );
}

function humanizeTimestamp(seconds: number): string {
  if (!Number.isFinite(seconds)) return fourDigits(seconds);
  const date = new Date(seconds * 1000);
  if (Number.isNaN(date.getTime())) throw new TemplateProblem(`${seconds} is not a time`);
  return `${date
    .toISOString()
    .replace("T", " ")
    .replace(/\.?0*Z$/, "")} +0000 UTC`;
}

function title(text: string): string {
  return text.replaceAll(/(?<![\p{L}\p{N}_'])\p{L}/gu, (letter) => letter.toUpperCase());
}

function durationSeconds(text: string): number {
  const isNegative = text.startsWith("-");
  const parsed = parseDuration(isNegative ? text.slice(1) : text);
  if ("problem" in parsed) throw new TemplateProblem(parsed.problem);
  return (isNegative ? -parsed.ms : parsed.ms) / 1000;
}

/** `host:port` or `[address]:port`. */
const withPort = /^(?:\[(?<address>[^\]]*)\]|(?<host>[^:[\]]*)):(?<port>\d*)$/;

function stripPort(text: string): string {
  const found = withPort.exec(text)?.groups;
  return found === undefined ? text : (found["address"] ?? found["host"]!);
}

export const alertTemplateFunctions: ReadonlyMap<string, TemplateFunction> = new Map(
  Object.entries({
    ...comparisonFunctions,
    ...printFunctions,
    humanize: onNumber(humanize),
    humanize1024: onNumber(humanize1024),
    humanizeDuration: onNumber(humanizeDuration),
    humanizePercentage: onNumber((value) => `${fourDigits(value * 100)}%`),
    humanizeTimestamp: onNumber(humanizeTimestamp),
    parseDuration: onText(durationSeconds),
    stripPort: onText(stripPort),
    title: onText(title),
    toLower: onText((text) => text.toLowerCase()),
    toUpper: onText((text) => text.toUpperCase()),
  }),
);
