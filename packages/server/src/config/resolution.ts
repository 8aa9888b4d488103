/** The state while one configuration is loaded: the layers, the problems, and the origin of each value. */
import type { Environment } from "./interpolate.ts";
import { formatPath, type ConfigProblem, type SettingPath } from "./problem.ts";
import { problemIn, type YamlFile } from "./yaml-file.ts";

/** The origin of a setting's value. */
export type SettingOrigin =
  | { readonly kind: "file"; readonly file: string; readonly line: number }
  | { readonly kind: "environment"; readonly name: string }
  | { readonly kind: "command_line" }
  | { readonly kind: "default" };

/** One setting in use. */
export interface SettingSource {
  readonly path: string;
  /** For display: secrets hidden, `${NAME}` as written. */
  readonly shown: unknown;
  readonly origin: SettingOrigin;
}

export interface Layers {
  readonly file: YamlFile | undefined;
  readonly env: Environment;
  /** Settings from the command line, in the structure of the configuration. */
  readonly overrides: unknown;
}

export interface Resolution extends Layers {
  /** Defaults that depend on the environment, by the setting's path. */
  readonly computedDefaults?: ReadonlyMap<string, unknown>;
  readonly problems: ConfigProblem[];
  readonly sources: SettingSource[];
}

export interface At {
  readonly path: SettingPath;
  /** The value in the file at this path. */
  readonly value: unknown;
  /** Whether the path is the same in every configuration, so that it has an environment variable. */
  readonly fixed: boolean;
}

export function report(
  resolution: Resolution,
  at: { path: SettingPath; part?: "key" | "value" },
  message: string,
): void {
  const problem =
    resolution.file === undefined
      ? { path: formatPath(at.path), message }
      : problemIn(resolution.file, { path: at.path, part: at.part ?? "value" }, message);
  resolution.problems.push(problem);
}
