/**
 * Loads the configuration: the file, overridden by environment variables, overridden by the command line. Reports all
 * problems at once.
 */
import { resolve } from "node:path";
import { Value } from "typebox/value";
import { configSchema, type Config } from "./config.ts";
import type { Environment } from "./interpolate.ts";
import { formatPath, type ConfigProblem } from "./problem.ts";
import { checkReferences } from "./references.ts";
import { report, type Resolution, type SettingSource } from "./resolution.ts";
import { resolveSettings } from "./resolve-settings.ts";
import { readYamlFile, type YamlFile } from "./yaml-file.ts";

const defaultFile = "sounding.yaml";

/** Some of the settings, in the structure of the configuration. */
export type ConfigOverrides = { readonly [Section in keyof Config]?: Partial<Config[Section]> };

export interface LoadOptions {
  /** The file; absent: `SOUNDING_CONFIG`, otherwise `sounding.yaml` in the working directory if it exists. */
  readonly path?: string | undefined;
  /** Defaults to the process's own environment. */
  readonly env?: Environment | undefined;
  /** Settings from the command line. */
  readonly overrides?: ConfigOverrides | undefined;
}

export interface LoadedConfig {
  /** Undefined if there are problems. */
  readonly config: Config | undefined;
  readonly problems: readonly ConfigProblem[];
  /** All settings in use, in the order of the schema. */
  readonly sources: readonly SettingSource[];
  /** The path of the configuration file. */
  readonly file: string;
  /** Whether the file exists. */
  readonly found: boolean;
}

/** Never throws: errors are reported in `problems`. */
export async function loadConfig(options: LoadOptions = {}): Promise<LoadedConfig> {
  const env = options.env ?? process.env;
  const named = options.path ?? (env["SOUNDING_CONFIG"] || undefined);
  const file = named ?? defaultFile;
  const yaml = await readYamlFile(file, named !== undefined);
  return {
    ...resolveConfig({ file: yaml, env, overrides: options.overrides }),
    file: resolve(file),
    found: yaml !== undefined,
  };
}

/** The configuration that results from all layers. */
export function resolveConfig(layers: {
  file: YamlFile | undefined;
  env: Environment;
  overrides?: ConfigOverrides | undefined;
}): Pick<LoadedConfig, "config" | "problems" | "sources"> {
  const resolution: Resolution = {
    file: layers.file,
    env: layers.env,
    overrides: layers.overrides,
    problems: [...(layers.file?.problems ?? [])],
    sources: [],
  };
  const value = resolveSettings(configSchema, { path: [], value: layers.file?.value ?? {}, fixed: true }, resolution);
  const { problems, sources } = resolution;
  if (problems.length === 0) {
    // Violations that the walk above does not report, such as rules between the members of an engine's settings.
    for (const error of Value.Errors(configSchema, value)) {
      const path = error.instancePath.split("/").slice(1).map(unescapePointer);
      report(resolution, { path, part: "key" }, `${formatPath(path)} ${error.message}.`);
    }
  }
  problems.push(...checkReferences(value, layers.file));
  problems.sort((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0));
  return { config: problems.length === 0 ? (value as Config) : undefined, problems, sources };
}

/** A step of a JSON pointer, unescaped: https://www.rfc-editor.org/rfc/rfc6901#section-4 */
function unescapePointer(step: string): string | number {
  return /^\d+$/.test(step) ? Number(step) : step.replaceAll("~1", "/").replaceAll("~0", "~");
}
