/** Derives the words that can be completed from the commands' own data; pure. */
import type { Command, Option, Options } from "../command.ts";
import { globalOptions } from "../parse-command-line.ts";

/** The possible values of an option or argument: one of some words, a file, a folder, or anything. */
export type Values = { readonly words: readonly string[] } | "file" | "folder" | "any";

export interface CompletedOption {
  /** `--voice`; for a switch that is on by default its negative, `--no-stream`. */
  readonly long: string;
  /** `-v` */
  readonly short: string | undefined;
  readonly description: string;
  /** Undefined for a switch. */
  readonly values: Values | undefined;
}

/** A command or a group of commands. */
export interface CommandNode {
  /** The names from the root; empty for `sounding` itself. */
  readonly path: readonly string[];
  readonly summary: string;
  readonly children: readonly { readonly name: string; readonly summary: string }[];
  readonly options: readonly CompletedOption[];
  readonly values: Values;
}

/** All commands, the root first. */
export function commandTree(commands: readonly Command[]): CommandNode[] {
  const root: CommandNode = {
    path: [],
    summary: "",
    children: commands.map(({ name, summary }) => ({ name, summary })),
    options: [
      ...completedOptions(globalOptions),
      { long: "--version", short: "-V", description: "Show the version.", values: undefined },
    ],
    values: "any",
  };
  return [root, ...commands.flatMap((each) => nodesOf(each, []))];
}

function nodesOf(command: Command, above: readonly string[]): CommandNode[] {
  const path = [...above, command.name];
  const { subcommands = [], arguments: positionals = [] } = command;
  const node: CommandNode = {
    path,
    summary: command.summary,
    children: subcommands.map(({ name, summary }) => ({ name, summary })),
    options: completedOptions({ ...command.options, ...globalOptions }),
    values: positionals[0] === undefined ? "any" : argumentValues(positionals[0]),
  };
  return [node, ...subcommands.flatMap((each) => nodesOf(each, path))];
}

function argumentValues({ name, choices }: { name: string; choices?: readonly string[] }): Values {
  if (choices !== undefined) return { words: choices };
  return name === "file" ? "file" : "any";
}

function completedOptions(options: Options): CompletedOption[] {
  return Object.entries(options).map(([name, option]) => ({
    long: option.type === "boolean" && option.default === true ? `--no-${name}` : `--${name}`,
    short: option.short === undefined ? undefined : `-${option.short}`,
    description: option.description,
    values: optionValues(option),
  }));
}

function optionValues(option: Option): Values | undefined {
  if (option.type === "boolean") return undefined;
  if (option.choices !== undefined) return { words: option.choices };
  if (option.value === "FILE") return "file";
  return option.value === "FOLDER" ? "folder" : "any";
}
