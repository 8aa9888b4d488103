/**
 * Defines a command of `sounding`: data that the parser, the help, the documentation and the completions read, and one
 * function that runs. A command file is in `commands/`, has one line in `commands.ts`, and imports large modules
 * (especially the server) inside `run`, so that `sounding --help` stays fast.
 * docs/adr/0028-client-command-and-pages.md
 */
import type { Readable, Writable } from "node:stream";

interface OptionCommon {
  /** One letter, used as `-x`. */
  readonly short?: string;
  /** One sentence for the help. */
  readonly description: string;
}

/** A switch. With `default: true` the help shows `--no-name`, which turns it off. */
export interface SwitchOption extends OptionCommon {
  readonly type: "boolean";
  readonly default?: boolean;
}

export interface ValueOption extends OptionCommon {
  readonly type: "string";
  /** Name of the value in the help, such as `FILE`. */
  readonly value: string;
  /** The allowed values, if there are few; any other is refused. */
  readonly choices?: readonly string[];
  readonly default?: string;
  /** Whether the option may be repeated; its values are then a list. */
  readonly multiple?: boolean;
}

export type Option = SwitchOption | ValueOption;
export type Options = Readonly<Record<string, Option>>;

/** An argument without a name. */
export interface Argument {
  readonly name: string;
  readonly description: string;
  readonly required?: boolean;
  /** The allowed values, if there are few; any other is refused. */
  readonly choices?: readonly string[];
  /** Whether the last argument takes all remaining words. */
  readonly variadic?: boolean;
}

type ValueOf<O extends Option> = O extends SwitchOption ? boolean : O extends { multiple: true } ? string[] : string;

/** The values of the options by name; undefined where neither given nor defaulted. */
export type OptionValues<O extends Options> = string extends keyof O
  ? Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>
  : {
      readonly [Name in keyof O]: O[Name] extends { default: unknown }
        ? ValueOf<O[Name]>
        : ValueOf<O[Name]> | undefined;
    };

/** The process as a command sees it, so that tests can run a command with other streams. */
export interface CommandIo {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable;
  /** Which of the streams are terminals. */
  readonly isTTY: { readonly stdin: boolean; readonly stdout: boolean; readonly stderr: boolean };
  /** Columns of the terminal that stdout is; undefined if it is none. */
  readonly terminalWidth?: number | undefined;
  /** Whether colors may be written; never if piped, with `NO_COLOR`, or with `--no-color`. */
  readonly colors: { readonly stdout: boolean; readonly stderr: boolean };
  /** Whether progress may be shown on stderr: only on a terminal, and not with `--json`. */
  readonly progress: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Aborted at the first Ctrl-C or SIGTERM; a second one ends the process immediately. */
  readonly signal: AbortSignal;
}

export interface CommandInput<O extends Options = Options> {
  readonly values: OptionValues<O>;
  readonly positionals: readonly string[];
  /** Whether `--json` is set: write one JSON value, or one per line, instead of text. */
  readonly json: boolean;
  readonly io: CommandIo;
  /** Every command of the program, for commands that describe others. */
  readonly commands: readonly CommandEntry[];
}

export interface CommandDefinition<O extends Options> {
  readonly name: string;
  /** One line without a full stop, shown in the list of commands. */
  readonly summary: string;
  /** Longer help: paragraphs shown after the usage line. */
  readonly description?: string;
  readonly arguments?: readonly Argument[];
  readonly options?: O;
  /** Example command lines with descriptions. */
  readonly examples?: readonly (readonly [commandLine: string, meaning: string])[];
  readonly subcommands?: readonly Command[];
  /**
   * Resolves to the exit code. Absent if there are only subcommands. Errors that it throws become one line on stderr.
   */
  run?(input: CommandInput<O>): Promise<number>;
}

/** A command without the types of its options. */
export type Command = CommandDefinition<Options>;

/** A command of the program, loaded only when it is run or described. */
export interface CommandEntry {
  readonly name: string;
  readonly load: () => Promise<Command>;
}

/** Defines a command, so that `values` in `run` has the type that `options` say. */
export function command<const O extends Options>(definition: CommandDefinition<O>): Command {
  // `run` is a method, so its parameter is compared both ways; the parser creates `values` from the same options.
  return definition;
}
