/**
 * Parses the command line into a command, its options and its arguments.
 * https://nodejs.org/api/util.html#utilparseargsconfig
 */
import { parseArgs, type ParseArgsConfig } from "node:util";
import { UsageError } from "./cli-error.ts";
import type { Command, Option, Options, OptionValues } from "./command.ts";

/** Options of all commands. */
export const globalOptions = {
  help: { type: "boolean", short: "h", description: "Show this help." },
  json: { type: "boolean", description: "Print JSON, for programs." },
  color: {
    type: "boolean",
    default: true,
    description: "Print no colors; the environment variable NO_COLOR does the same.",
  },
} as const satisfies Options;

export interface ParsedCommandLine {
  readonly values: OptionValues<Options>;
  readonly positionals: readonly string[];
  readonly help: boolean;
  readonly json: boolean;
  readonly color: boolean;
}

/** Walks down the subcommands that the words name. */
export function findSubcommand(
  start: Command,
  words: readonly string[],
): { command: Command; path: string[]; rest: string[] } {
  let command = start;
  const path = [start.name];
  let index = 0;
  for (; command.subcommands !== undefined && index < words.length; index += 1) {
    const word = words[index]!;
    if (word.startsWith("-")) break;
    const next = command.subcommands.find((each) => each.name === word);
    if (next === undefined) {
      if (command.run !== undefined) break;
      const names = command.subcommands.map((each) => each.name);
      throw new UsageError(`unknown command "${[...path, word].join(" ")}"; ${suggestion(word, names)}`);
    }
    command = next;
    path.push(next.name);
  }
  return { command, path, rest: words.slice(index) };
}

/** Parses the words after the command's name by its options and arguments. Throws UsageError. */
export function parseCommandLine(command: Command, words: readonly string[]): ParsedCommandLine {
  const options: Options = { ...command.options, ...globalOptions };
  let parsed: { values: OptionValues<Options>; positionals: string[] };
  try {
    parsed = parseArgs({
      args: [...words],
      options: parseArgsOptions(options),
      allowPositionals: true,
      allowNegative: true,
      strict: true,
    });
  } catch (error) {
    throw new UsageError(optionProblem(error, Object.keys(options)));
  }
  const { help, json, color, ...values } = parsed.values;
  const result = {
    values,
    positionals: parsed.positionals,
    help: help === true,
    json: json === true,
    color: color !== false,
  };
  if (!result.help) {
    checkChoices(options, values);
    checkArguments(command, parsed.positionals);
  }
  return result;
}

/** "did you mean …" for the nearest allowed word, or the list of all. */
export function suggestion(word: string, allowed: readonly string[]): string {
  const nearest = allowed
    .map((candidate) => ({ candidate, distance: editDistance(word, candidate) }))
    .sort((a, b) => a.distance - b.distance)[0];
  if (nearest !== undefined && nearest.distance <= (word.length < 4 ? 1 : 2)) {
    return `did you mean "${nearest.candidate}"?`;
  }
  return `it must be one of ${allowed.join(", ")}`;
}

function parseArgsOptions(options: Options): NonNullable<ParseArgsConfig["options"]> {
  return Object.fromEntries(
    Object.entries(options).map(([name, option]) => [
      name,
      {
        type: option.type,
        ...(option.short === undefined ? {} : { short: option.short }),
        ...(option.default === undefined ? {} : { default: option.default }),
        ...(option.type === "string" && option.multiple === true ? { multiple: true } : {}),
      },
    ]),
  );
}

function optionProblem(error: unknown, names: readonly string[]): string {
  if (!(error instanceof Error)) return String(error);
  const unknown = /^Unknown option '(-{1,2}[^']*)'/.exec(error.message)?.[1];
  if (unknown !== undefined) {
    const hint = suggestion(unknown.replace(/^-+/, ""), names);
    return `unknown option ${unknown}${hint.startsWith("did") ? `; ${hint.replace('"', '"--')}` : ""}`;
  }
  const message = error.message.split(/\.?\n|\. /)[0]!;
  return message.charAt(0).toLowerCase() + message.slice(1);
}

function checkChoices(options: Options, values: Readonly<Record<string, unknown>>): void {
  for (const [name, option] of Object.entries<Option>(options)) {
    if (option.type !== "string" || option.choices === undefined) continue;
    const seen = values[name];
    for (const value of Array.isArray(seen) ? seen : [seen]) {
      if (typeof value === "string" && !option.choices.includes(value)) {
        throw new UsageError(`--${name} is "${value}"; ${suggestion(value, option.choices)}`);
      }
    }
  }
}

function checkArguments(command: Command, positionals: readonly string[]): void {
  const expected = command.arguments ?? [];
  const missing = expected.find((argument, index) => argument.required === true && positionals[index] === undefined);
  if (missing !== undefined) throw new UsageError(`${missing.name} is missing: ${missing.description}`);
  for (const [index, { name, choices }] of expected.entries()) {
    const value = positionals[index];
    if (value !== undefined && choices !== undefined && !choices.includes(value)) {
      throw new UsageError(`${name} is "${value}"; ${suggestion(value, choices)}`);
    }
  }
  if (positionals.length > expected.length && expected.at(-1)?.variadic !== true) {
    throw new UsageError(`unexpected argument "${positionals[expected.length]}"`);
  }
}

/** Levenshtein's distance between two short words. */
function editDistance(left: string, right: string): number {
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= right.length; column += 1) {
      const replaced = previous[column - 1]! + (left[row - 1] === right[column - 1] ? 0 : 1);
      current.push(Math.min(replaced, previous[column]! + 1, current[column - 1]! + 1));
    }
    previous = current;
  }
  return previous[right.length]!;
}
