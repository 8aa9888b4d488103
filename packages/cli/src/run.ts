/** Runs one command line and returns its exit code. Prints errors as one line; never throws. */
import type { Command, CommandEntry, CommandIo } from "./command.ts";
import { commands as allCommands } from "./commands.ts";
import { errorLine, exitCodeOf, UsageError } from "./cli-error.ts";
import { exitCodes } from "./exit-codes.ts";
import { withOptionName } from "./option-errors.ts";
import { renderCommandHelp, renderOverview } from "./help.ts";
import { write, writeJson, writeLine } from "./output.ts";
import { findSubcommand, parseCommandLine, suggestion } from "./parse-command-line.ts";
import { cliVersion } from "./version.ts";

/** What the process provides before the command line is parsed. */
export interface RunEnvironment extends Omit<CommandIo, "colors" | "progress"> {
  /** The exit code for an abort of `signal`: 130 after Ctrl-C, 143 after SIGTERM. */
  readonly abortedExitCode: () => number;
}

/** @returns the exit code */
export async function run(
  words: readonly string[],
  environment: RunEnvironment,
  entries: readonly CommandEntry[] = allCommands,
): Promise<number> {
  const { stdout, stderr } = environment;
  // Known even when the command line cannot be parsed.
  const json = words.includes("--json");
  try {
    return await dispatch(words, environment, entries);
  } catch (error) {
    if (environment.signal.aborted) return environment.abortedExitCode();
    const code = exitCodeOf(error);
    if (json) {
      await writeJson(stderr, { error: { message: errorLine(error), exit_code: code } });
    } else {
      await writeLine(stderr, `sounding: ${errorLine(error)}`);
      if (error instanceof UsageError)
        await writeLine(stderr, "Run `sounding --help`, or `sounding <command> --help`.");
    }
    if (environment.env["SOUNDING_DEBUG"] !== undefined && error instanceof Error) {
      await writeLine(stderr, error.stack ?? "");
    }
    return stdout.destroyed ? exitCodes.brokenPipe : code;
  }
}

async function dispatch(
  words: readonly string[],
  environment: RunEnvironment,
  entries: readonly CommandEntry[],
): Promise<number> {
  const { stdout, stderr } = environment;
  const nameAt = words.findIndex((word) => !["--json", "--no-color"].includes(word));
  const name = words[nameAt];
  if (name === "--version" || name === "-V") {
    await writeLine(stdout, cliVersion());
    return exitCodes.ok;
  }
  if (name === undefined || name === "--help" || name === "-h" || name === "help") {
    const topic = name === "help" ? words.slice(nameAt + 1) : [];
    if (topic.length > 0) return await dispatch([...topic, "--help"], environment, entries);
    const overview = renderOverview(await Promise.all(entries.map((entry) => entry.load())));
    await write(name === undefined ? stderr : stdout, overview);
    return name === undefined ? exitCodes.usage : exitCodes.ok;
  }
  if (name.startsWith("-")) throw new UsageError(`unknown option ${name} before the command`);
  const entry = entries.find((each) => each.name === name);
  if (entry === undefined) {
    const names = entries.map((each) => each.name);
    throw new UsageError(`unknown command "${name}"; ${suggestion(name, names)}`);
  }
  const found = findSubcommand(await entry.load(), words.slice(nameAt + 1));
  return await runCommand(found, [...words.slice(0, nameAt), ...found.rest], { environment, entries });
}

async function runCommand(
  { command, path }: { readonly command: Command; readonly path: readonly string[] },
  words: readonly string[],
  { environment, entries }: { readonly environment: RunEnvironment; readonly entries: readonly CommandEntry[] },
): Promise<number> {
  const { stdout, stderr, env, isTTY } = environment;
  const parsed = parseCommandLine(command, words);
  if (parsed.help || command.run === undefined) {
    await write(parsed.help ? stdout : stderr, renderCommandHelp(command, path));
    return parsed.help ? exitCodes.ok : exitCodes.usage;
  }
  const allowed = parsed.color && (env["NO_COLOR"] ?? "") === "";
  // https://force-color.org: colors even where no terminal is.
  const isForced = (env["FORCE_COLOR"] ?? "") !== "" && env["FORCE_COLOR"] !== "0";
  const shows = (isTerminal: boolean): boolean =>
    allowed && (isForced || (isTerminal && env["TERM"] !== "dumb" && env["FORCE_COLOR"] !== "0"));
  const running = command.run({
    values: parsed.values,
    positionals: parsed.positionals,
    json: parsed.json,
    io: {
      ...environment,
      colors: { stdout: shows(isTTY.stdout), stderr: shows(isTTY.stderr) },
      progress: isTTY.stderr && !parsed.json,
    },
    commands: entries,
  });
  return await running.catch((error: unknown) => {
    throw withOptionName(error, command, parsed.values);
  });
}
