/** Finds the models' directory: the options and the configuration of commands that work on model files. */
import type { Config } from "@sounding/server";
import { CliError } from "../cli-error.ts";
import type { CommandIo, Options, OptionValues } from "../command.ts";
import { exitCodes } from "../exit-codes.ts";

export const placeOptions = {
  config: {
    type: "string",
    short: "c",
    value: "FILE",
    description: "Configuration file that names the data directory. Default: SOUNDING_CONFIG, or sounding.yaml.",
  },
  "data-dir": { type: "string", value: "FOLDER", description: "The data directory, instead of the configuration's." },
} as const satisfies Options;

export interface Place {
  readonly dataDirectory: string;
  readonly config: Config;
}

/** Throws CliError if the configuration is invalid. */
export async function findPlace(values: OptionValues<typeof placeOptions>, io: CommandIo): Promise<Place> {
  const { formatProblem, loadConfig } = await import("@sounding/server");
  const { config, problems } = await loadConfig({ path: values.config, env: io.env });
  if (config !== undefined) return { dataDirectory: values["data-dir"] ?? config.storage.data_dir, config };
  throw new CliError(`the configuration is invalid: ${problems.map(formatProblem).join(" ")}`, exitCodes.configuration);
}
