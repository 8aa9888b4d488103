/** `sounding config`: checks the configuration, and shows the settings in use and their origin. */
import type { LoadedConfig, SettingOrigin } from "@sounding/server";
import { CliError } from "../cli-error.ts";
import { command, type CommandIo } from "../command.ts";
import { exitCodes } from "../exit-codes.ts";
import { writeJson, writeLine } from "../output.ts";
import { writeTable } from "../terminal/table.ts";

const configOption = {
  type: "string",
  short: "c",
  value: "FILE",
  description: "The configuration file. Default: SOUNDING_CONFIG, or sounding.yaml in this folder.",
} as const;

async function load(path: string | undefined, io: CommandIo): Promise<LoadedConfig & { lines: string[] }> {
  const { formatProblem, loadConfig } = await import("@sounding/server");
  const loaded = await loadConfig({ path, env: io.env });
  return { ...loaded, lines: loaded.problems.map(formatProblem) };
}

const checkCommand = command({
  name: "check",
  summary: "Check the configuration and report all problems, without starting the server",
  description: `Warnings do not make a configuration invalid. A model whose files are missing or damaged is one: the server starts, serves the
others, and answers its calls with the reason.`,
  options: { config: configOption },
  examples: [
    ["sounding config check --config sounding.yaml", "The exit code is 0 if the configuration is valid, otherwise 8."],
  ],
  async run({ values, json, io }) {
    const { config, problems, warnings: ofSettings, lines, file, found } = await load(values.config, io);
    const { findModelProblems } = await import("@sounding/server");
    const warnings = [...ofSettings, ...(config === undefined ? [] : await findModelProblems(config))];
    if (json) {
      await writeJson(io.stdout, { file, found, valid: config !== undefined, problems, warnings });
    } else if (config !== undefined) {
      const note = found ? "is valid" : "does not exist; the defaults and the environment are valid";
      await writeLine(io.stdout, `${file} ${note}.`);
    } else {
      for (const line of lines) await writeLine(io.stdout, line);
    }
    if (!json) for (const warning of warnings) await writeLine(io.stdout, `Warning: ${warning}`);
    if (!json && config === undefined) await writeLine(io.stderr, summaryOf(lines.length));
    return config === undefined ? exitCodes.configuration : exitCodes.ok;
  },
});

function summaryOf(problems: number): string {
  return problems === 1 ? "1 problem." : `${problems} problems.`;
}

const showCommand = command({
  name: "show",
  summary: "Show all settings in use and where they come from; secrets stay hidden",
  options: {
    config: configOption,
    changed: { type: "boolean", description: "Only settings that differ from the default." },
  },
  examples: [
    ["sounding config show --changed", "Show what this installation sets."],
    ["sounding config show --json", "The same as one JSON value, for programs."],
  ],
  async run({ values, json, io }) {
    const { config, sources, lines, file } = await load(values.config, io);
    if (config === undefined) {
      throw new CliError(`the configuration is invalid: ${lines.join(" ")}`, exitCodes.configuration);
    }
    const settings = sources.filter(({ origin }) => values.changed !== true || origin.kind !== "default");
    if (json) {
      const items = settings.map(({ path, shown, origin }) => ({ path, value: shown, origin }));
      await writeJson(io.stdout, { file, settings: items });
    } else {
      const rows = settings.map(({ path, shown, origin }) => [path, JSON.stringify(shown), describeOrigin(origin)]);
      await writeTable(io, ["setting", "value", "from"], rows);
    }
    return exitCodes.ok;
  },
});

function describeOrigin(origin: SettingOrigin): string {
  if (origin.kind === "file") return `${origin.file}:${origin.line}`;
  if (origin.kind === "environment") return origin.name;
  return origin.kind === "command_line" ? "command line" : "default";
}

export const configCommand = command({
  name: "config",
  summary: "Check and show the configuration",
  subcommands: [checkCommand, showCommand],
});
