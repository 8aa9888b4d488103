/** What `sounding backup`, `restore` and `migrate` have in common: the configuration, and progress on standard error. */
import type { Config, MaintenanceProgress } from "@sounding/server";
import { CliError } from "./cli-error.ts";
import type { CommandIo, Options } from "./command.ts";
import { exitCodes } from "./exit-codes.ts";
import { formatCount } from "./terminal/numbers.ts";

export const configurationOption = {
  config: {
    type: "string",
    short: "c",
    value: "FILE",
    description:
      "Configuration file that names the databases and the data directory. Default: SOUNDING_CONFIG, or sounding.yaml.",
  },
} as const satisfies Options;

interface MaintainedConfiguration {
  readonly config: Config;
  /** Undefined if there is no file. */
  readonly file: string | undefined;
}

/** @throws CliError if the configuration is invalid */
export async function loadConfiguration(path: string | undefined, io: CommandIo): Promise<MaintainedConfiguration> {
  const { formatProblem, loadConfig } = await import("@sounding/server");
  const { config, file, found, problems } = await loadConfig({ path, env: io.env });
  if (config !== undefined) return { config, file: found ? file : undefined };
  const lines = problems.map(formatProblem).join(" ");
  throw new CliError(`the configuration is invalid: ${lines}`, exitCodes.configuration);
}

const lineIntervalMs = 10_000;

export interface RowProgress {
  readonly show: (progress: MaintenanceProgress) => void;
  /** Ends the line. */
  readonly end: () => void;
}

/** One line that changes in a terminal, otherwise an occasional line; nothing with `--json`. */
export function createRowProgress(io: CommandIo, json: boolean): RowProgress {
  let shownAtMs = -Infinity;
  let width = 0;
  return {
    show({ doneRows, part, totalRows }) {
      const nowMs = performance.now();
      if (json || (!io.progress && nowMs - shownAtMs < lineIntervalMs)) return;
      shownAtMs = nowMs;
      const share = totalRows === 0 ? 100 : Math.floor((100 * doneRows) / totalRows);
      const line = `${share} %  ${formatCount(doneRows)} of ${formatCount(totalRows)} rows  ${part}`;
      io.stderr.write(io.progress ? `\r${line.padEnd(width)}` : `${line}\n`);
      width = line.length;
    },
    end() {
      if (io.progress && width > 0) io.stderr.write("\n");
      width = 0;
    },
  };
}
