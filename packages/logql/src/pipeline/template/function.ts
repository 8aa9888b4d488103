/** How a function of templates is called. */
import { inputLimit } from "@sounding/promql/input-limit";
import { TemplateProblem } from "./problem.ts";
import { GoTime, typeName, type Value } from "./values.ts";

/** What a function can ask for while a template runs. */
export interface CallContext {
  readonly line: string;
  /** Nanoseconds since 1970. */
  readonly unixNano: bigint;
  /** Counts work; throws when the template has done too much. */
  spend(steps: number): void;
}

export interface TemplateFunction {
  readonly least: number;
  readonly most: number;
  /** How many characters of the operands are as much work as a step. */
  readonly charactersPerStep: number;
  call(values: readonly Value[], context: CallContext): Value;
}

/** Of functions that read or copy whole texts at once, and of results. */
export const charactersPerStep = 64;
export const slowCharactersPerStep = 4;

export const maximumTextCharacters = inputLimit({
  area: "LogQL",
  bounds: "What a template writes, and each text that it computes",
  value: 1_000_000,
  unit: "characters",
  error: { instead: "the entry has the label `__error__`" },
});

export function fixed(count: number, call: TemplateFunction["call"]): TemplateFunction {
  return { least: count, most: count, charactersPerStep, call };
}

export function variadic(least: number, call: TemplateFunction["call"]): TemplateFunction {
  return { least, most: Infinity, charactersPerStep, call };
}

/** A function that looks at each character on its own. */
export function slow(called: TemplateFunction): TemplateFunction {
  return { ...called, charactersPerStep: slowCharactersPerStep };
}

export function textOf(value: Value | undefined): string {
  if (typeof value === "string") return value;
  throw wrongType("string", value);
}

export function integerOf(value: Value | undefined): number {
  if (typeof value === "bigint") return Number(value);
  if (typeof value === "number" && Number.isInteger(value)) return value;
  throw wrongType("int", value);
}

export function timeOf(value: Value | undefined): GoTime {
  if (value instanceof GoTime) return value;
  throw wrongType("time.Time", value);
}

function wrongType(expected: string, value: Value | undefined): TemplateProblem {
  return new TemplateProblem(`wrong type for value; expected ${expected}; got ${typeName(value ?? null)}`);
}

export function checkSize(characters: number): void {
  if (characters > maximumTextCharacters) {
    throw new TemplateProblem(`a text would have ${characters} characters, the limit is ${maximumTextCharacters}`);
  }
}
