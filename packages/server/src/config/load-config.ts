/**
 * Loads the configuration: the file, overridden by environment variables, overridden by the command line. Reports all
 * problems at once.
 */
import { dirname, resolve } from "node:path";
import { Value } from "typebox/value";
import { groupsOf, loadAlertGroups } from "./alert-groups.ts";
import { configSchema, type Config } from "./config.ts";
import { defaultDataDirectory, isFormerDefault } from "./data-directory.ts";
import type { Environment } from "./interpolate.ts";
import { formatPath, type ConfigProblem } from "./problem.ts";
import { checkReferences } from "./references.ts";
import { report, type Resolution, type SettingOrigin, type SettingSource } from "./resolution.ts";
import { resolveSettings } from "./resolve-settings.ts";
import { unknownVariables } from "./unknown-variables.ts";
import { readYamlFile, type YamlFile } from "./yaml-file.ts";

const defaultFile = "sounding.yaml";

/** Some of the settings, in the structure of the configuration. */
export type ConfigOverrides = { readonly [Section in Exclude<keyof Config, "alertGroups">]?: Partial<Config[Section]> };

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
  /** What is not wrong but probably not meant, one sentence each. */
  readonly warnings: readonly string[];
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
  const resolved = resolveConfig({ file: yaml, env, overrides: options.overrides });
  return { ...(await withAlertGroups(resolved, yaml)), file: resolve(file), found: yaml !== undefined };
}

type Resolved = Pick<LoadedConfig, "config" | "problems" | "sources" | "warnings">;

/** With the groups of the rule files, once the expressions of all groups are checked. */
async function withAlertGroups(resolved: Resolved, file: YamlFile | undefined): Promise<Resolved> {
  if (resolved.config === undefined) return resolved;
  const folder = file === undefined ? process.cwd() : dirname(resolve(file.file));
  const { groups, problems } = await loadAlertGroups({ alerts: resolved.config.alerts, file, folder });
  if (problems.length > 0) return { ...resolved, config: undefined, problems };
  return { ...resolved, config: { ...resolved.config, alertGroups: groups } };
}

/** The configuration that results from all layers. */
export function resolveConfig(layers: {
  file: YamlFile | undefined;
  env: Environment;
  overrides?: ConfigOverrides | undefined;
}): Resolved {
  const resolution: Resolution = {
    file: layers.file,
    env: layers.env,
    overrides: layers.overrides,
    computedDefaults: new Map([["storage.data_dir", defaultDataDirectory(layers.env)]]),
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
  const config = problems.length === 0 ? completed(value as Omit<Config, "alertGroups">, resolution) : undefined;
  return { config, problems, sources, warnings: warningsOf(config, resolution) };
}

/** With the groups of alert rules, and `storage.data_dir` as an absolute path; in the file it starts at the file's folder. */
function completed(config: Omit<Config, "alertGroups">, { file, sources }: Resolution): Config {
  const origin = originOfDataDirectory(sources);
  const folder = origin?.kind === "file" && file !== undefined ? dirname(resolve(file.file)) : "";
  const storage = { ...config.storage, data_dir: resolve(folder, config.storage.data_dir) };
  return { ...config, storage, alertGroups: groupsOf(config.alerts) };
}

function originOfDataDirectory(sources: readonly SettingSource[]): SettingOrigin | undefined {
  return sources.find(({ path }) => path === "storage.data_dir")?.origin;
}

function warningsOf(config: Config | undefined, { file, env, sources }: Resolution): string[] {
  const unknown = unknownVariables(configSchema, env, file?.value);
  const isChosen = originOfDataDirectory(sources)?.kind !== "default";
  if (config === undefined || isChosen || !isFormerDefault(config.storage.data_dir)) return unknown;
  return [
    ...unknown,
    `The data directory is ${config.storage.data_dir}, because this folder exists. To use the same data from every folder, set storage.data_dir (SOUNDING_DATA_DIR) to it, or stop the server and move it to the default.`,
  ];
}

/** A step of a JSON pointer, unescaped: https://www.rfc-editor.org/rfc/rfc6901#section-4 */
function unescapePointer(step: string): string | number {
  return /^\d+$/.test(step) ? Number(step) : step.replaceAll("~1", "/").replaceAll("~0", "~");
}
