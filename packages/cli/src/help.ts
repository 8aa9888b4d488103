/** Renders the help texts from the commands' own data. */
import type { Command, Options } from "./command.ts";
import { globalOptions } from "./parse-command-line.ts";

const widthOfFirstColumn = 28;

/** Help of `sounding` itself. */
export function renderOverview(commands: readonly Command[]): string {
  return `${[
    "sounding: one server for chat completions, speech, transcription and telemetry behind one API key",
    "",
    "Usage: sounding <command> [options]",
    "",
    "Commands:",
    ...rows(commands.map((command) => [command.name, command.summary])),
    "",
    "Options:",
    ...rows([...optionRows(globalOptions), ["-V, --version", "Show the version."]]),
    "",
    "Run `sounding <command> --help` for details about a command.",
  ].join("\n")}\n`;
}

/** Help of one command; `path` is its name with those of its parents, as in `["key", "create"]`. */
export function renderCommandHelp(command: Command, path: readonly string[]): string {
  const sections: string[] = [`Usage: ${usageLine(command, path)}`, `${command.summary}.`];
  if (command.description !== undefined) sections.push(command.description);
  const subcommands = command.subcommands ?? [];
  if (subcommands.length > 0) {
    sections.push(["Commands:", ...rows(subcommands.map((each) => [each.name, each.summary]))].join("\n"));
  }
  if ((command.arguments ?? []).length > 0) {
    sections.push(["Arguments:", ...rows(command.arguments!.map((each) => [each.name, each.description]))].join("\n"));
  }
  sections.push(["Options:", ...rows(optionRows({ ...command.options, ...globalOptions }))].join("\n"));
  if (command.examples !== undefined) {
    sections.push(
      ["Examples:", ...command.examples.flatMap(([line, meaning]) => [`  ${line}`, `      ${meaning}`])].join("\n"),
    );
  }
  return `${sections.join("\n\n")}\n`;
}

/** `sounding key create [options] <name>` */
export function usageLine(command: Command, path: readonly string[]): string {
  const words = ["sounding", ...path];
  if (command.run === undefined) return [...words, "<command>", "[options]"].join(" ");
  words.push("[options]");
  for (const argument of command.arguments ?? []) {
    const name = argument.variadic === true ? `${argument.name}…` : argument.name;
    words.push(argument.required === true ? `<${name}>` : `[${name}]`);
  }
  return words.join(" ");
}

/** The syntax of each option, and its description with the allowed values and the default. */
export function optionRows(options: Options): [string, string][] {
  return Object.entries(options).map(([name, option]) => {
    const short = option.short === undefined ? "" : `-${option.short}, `;
    if (option.type === "boolean") {
      return [`${short}--${option.default === true ? "no-" : ""}${name}`, option.description];
    }
    const notes = [
      option.choices === undefined ? "" : ` One of ${option.choices.join(", ")}.`,
      option.default === undefined ? "" : ` Default: ${option.default}.`,
      option.multiple === true ? " May be repeated." : "",
    ];
    return [`${short}--${name} ${option.value}`, option.description + notes.join("")];
  });
}

function rows(entries: readonly (readonly [string, string])[]): string[] {
  return entries.map(([left, right]) =>
    left.length < widthOfFirstColumn - 1
      ? `  ${left.padEnd(widthOfFirstColumn)}${right}`
      : `  ${left}\n  ${" ".repeat(widthOfFirstColumn)}${right}`,
  );
}
