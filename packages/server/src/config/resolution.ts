/** What the loading of one configuration knows while it runs: the layers, the problems, where each value came from. */
import type { Environment } from "./interpolate.ts";
import { formatPath, type ConfigProblem, type SettingPath } from "./problem.ts";
import { problemIn, type YamlFile } from "./yaml-file.ts";

/** Where a setting's value came from. */
export type SettingOrigin =
  | { readonly kind: "file"; readonly file: string; readonly line: number }
  | { readonly kind: "environment"; readonly name: string }
  | { readonly kind: "command_line" }
  | { readonly kind: "default" };

/** One setting as it is in force. */
export interface SettingSource {
  readonly path: string;
  /** For people: secrets hidden, `${NAME}` as written. */
  readonly shown: unknown;
  readonly origin: SettingOrigin;
}

export interface Layers {
  readonly file: YamlFile | undefined;
  readonly env: Environment;
  /** Settings from the command line, in the shape of the configuration. */
  readonly overrides: unknown;
}

export interface Resolution extends Layers {
  readonly problems: ConfigProblem[];
  readonly sources: SettingSource[];
}

export interface At {
  readonly path: SettingPath;
  /** What the file says here. */
  readonly value: unknown;
  /** Whether the path is the same in every configuration, so that an environment variable can name it. */
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
