/** Renders docs/cli/README.md from the commands' own data. */
import type { Command, Options } from "./command.ts";
import { commands } from "./commands.ts";
import { exitCodeMeanings, exitCodes } from "./exit-codes.ts";
import { optionRows, usageLine } from "./help.ts";
import { globalOptions } from "./parse-command-line.ts";

const introduction = `# The \`sounding\` command

This page is generated from the commands themselves; \`sounding <command> --help\` shows the same text.

Commands write results to standard output and everything else to standard error. Colors and progress are shown only in
terminals; \`NO_COLOR\` or \`--no-color\` turns colors off. In a terminal, tables fit its width: long
cells are cut with \`…\`, and some columns are left out. Piped tables are complete. Times are local; \`--utc\` shows UTC. With \`--json\`, results are JSON for programs, and an error is one line,
\`{"error": {"message": …, "exit_code": …}}\`, on standard error. The first Ctrl-C lets a command end cleanly, the second one ends it
immediately. \`SOUNDING_DEBUG=1\` adds the stack trace to an error.

## Which server and which key

Commands that call a server take its address and the key from the first of these that has them:

1. options: \`--url\`, \`--key-file\`, or a profile that \`--profile\` names;
2. the environment: \`SOUNDING_BASE_URL\` and \`SOUNDING_API_KEY\`, for administration \`SOUNDING_ADMIN_KEY\`;
3. a profile: the one that \`SOUNDING_PROFILE\` names, otherwise \`default\`.

Profiles are in \`~/.config/sounding/profiles.json\` (\`XDG_CONFIG_HOME\` is respected), which only you can read.
\`sounding login\` stores one, and so does the first start of a server; keys stored before for the same address then move to
the profile \`default-2\`. A profile's keys are sent only to the profile's server:
with another address, use another profile or give the key too. \`sounding whoami\` shows what a command would use.

The administration commands \`org\`, \`project\`, \`key\` and \`budget\` call the same server, with the profile's operator key. With \`--local\` or
\`--config\`, or if nothing names a server, they open this machine's control database instead.`;

/** Renders the page. */
export async function renderCliDocument(): Promise<string> {
  const loaded = await Promise.all(commands.map(({ load }) => load()));
  const exitCodeRows = Object.entries(exitCodes).map(([name, code]) => [
    String(code),
    exitCodeMeanings[name as keyof typeof exitCodes],
  ]);
  return `${[
    introduction,
    table(
      ["command", "what it does"],
      loaded.map(({ name, summary }) => [`[\`${name}\`](#sounding-${name})`, summary]),
    ),
    "## Exit codes",
    table(["code", "meaning"], exitCodeRows),
    "## Options of every command",
    optionTable(globalOptions),
    ...loaded.flatMap((command) => describeCommand(command, [command.name])),
  ].join("\n\n")}\n`;
}

function describeCommand(command: Command, path: readonly string[]): string[] {
  const sections = [
    `${"#".repeat(path.length + 1)} sounding ${path.join(" ")}`,
    `${command.summary}.`,
    `\`\`\`\n${usageLine(command, path)}\n\`\`\``,
  ];
  if (command.description !== undefined) sections.push(command.description);
  const named = (command.arguments ?? []).map((argument) => [`\`${argument.name}\``, argument.description]);
  if (named.length > 0) sections.push(table(["argument", "meaning"], named));
  if (Object.keys(command.options ?? {}).length > 0) sections.push(optionTable(command.options!));
  if (command.examples !== undefined) {
    const lines = command.examples.map(([line, meaning]) => `# ${meaning}\n${line}`);
    sections.push(`\`\`\`sh\n${lines.join("\n\n")}\n\`\`\``);
  }
  return [...sections, ...(command.subcommands ?? []).flatMap((each) => describeCommand(each, [...path, each.name]))];
}

function optionTable(options: Options): string {
  return table(
    ["option", "meaning"],
    optionRows(options).map(([written, meaning]) => [`\`${written}\``, meaning]),
  );
}

function table(heading: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|").replaceAll("\n", " ")).join(" | ")} |`;
  return [line(heading), line(heading.map(() => "---")), ...rows.map(line)].join("\n");
}
