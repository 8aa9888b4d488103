/** Collects the groups of alert rules of the configuration and of rule files, and checks every expression and template. */
import { glob } from "node:fs/promises";
import { basename, resolve } from "node:path";
import { Type } from "typebox";
import { compileGroup } from "../alert-rules/compile-group.ts";
import { alertGroupMembers, alertGroupName, type AlertGroupDefinition } from "../api/alert-rules.ts";
import type { AlertSettings } from "./alerts.ts";
import { formatPath, type ConfigProblem, type SettingPath } from "./problem.ts";
import type { Resolution } from "./resolution.ts";
import { resolveSettings } from "./resolve-settings.ts";
import { isObject } from "../json-object.ts";
import { problemIn, readYamlFile, type YamlFile } from "./yaml-file.ts";

/** A group of alert rules, and for whom it is evaluated. */
export interface ConfiguredGroup {
  /** Identifies the group on all servers with the same configuration. */
  readonly key: string;
  /** Where it comes from, as callers see it. */
  readonly file: string;
  /** Patterns of names; undefined: every organization. */
  readonly organizations: readonly string[] | undefined;
  readonly definition: AlertGroupDefinition;
}

const ruleFileSchema = Type.Object({
  groups: Type.Array(Type.Object({ name: alertGroupName, ...alertGroupMembers }), { maxItems: 1_000, default: [] }),
});

/** The groups under `alerts.groups`. */
export function groupsOf({ groups }: Pick<AlertSettings, "groups">): ConfiguredGroup[] {
  return groups.map(({ organizations, ...definition }) => ({
    key: `configuration/${definition.name}`,
    file: "configuration",
    organizations,
    definition,
  }));
}

interface Sources {
  readonly alerts: AlertSettings;
  readonly file: YamlFile | undefined;
  /** Where relative paths start. */
  readonly folder: string;
}

/** Every group with its problems: of the schema, of expressions and of templates. */
export async function loadAlertGroups({
  alerts,
  file,
  folder,
}: Sources): Promise<{ groups: ConfiguredGroup[]; problems: ConfigProblem[] }> {
  const groups = groupsOf(alerts);
  const problems = await check(groups, { file, prefix: ["alerts", "groups"] });
  const read = new Set<string>();
  for (const [index, source] of alerts.rule_files.entries()) {
    const paths = await pathsOf(source.path, folder);
    if (paths.length === 0) {
      const path: SettingPath = ["alerts", "rule_files", index, "path"];
      problems.push(
        problemAt(file, path, `${formatPath(path)} is ${JSON.stringify(source.path)}; no file has that path.`),
      );
    }
    for (const path of paths) {
      if (read.has(path)) continue;
      read.add(path);
      const yaml = (await readYamlFile(path, true))!;
      const inherited = {
        ...(source.language === undefined ? {} : { language: source.language }),
        ...(source.project === undefined ? {} : { project: source.project }),
      };
      const inFile = groupsOfFile(yaml, problems).map((definition) => ({
        key: `${path}/${definition.name}`,
        file: basename(path),
        organizations: source.organizations,
        definition: { ...inherited, ...definition },
      }));
      problems.push(...(await check(inFile, { file: yaml, prefix: ["groups"] })));
      groups.push(...inFile);
    }
  }
  return { groups, problems };
}

async function pathsOf(pattern: string, folder: string): Promise<readonly string[]> {
  if (!/[*?[{]/.test(pattern)) return [resolve(folder, pattern)];
  const found = await Array.fromAsync(glob(pattern, { cwd: folder }));
  return found.map((path) => resolve(folder, path)).sort();
}

/** The groups of a rule file; none if it has problems. */
function groupsOfFile(file: YamlFile, problems: ConfigProblem[]): readonly AlertGroupDefinition[] {
  const resolution: Resolution = { file, env: {}, overrides: undefined, problems: [...file.problems], sources: [] };
  const at = { path: [], value: literal(file.value ?? {}), fixed: false };
  const value = resolveSettings(ruleFileSchema, at, resolution) as { groups: readonly AlertGroupDefinition[] };
  problems.push(...resolution.problems);
  return resolution.problems.length > 0 ? [] : value.groups;
}

/** Nothing is replaced in rule files: `${1}` is part of PromQL. */
function literal(value: unknown): unknown {
  if (typeof value === "string") return value.replaceAll("${", () => "$${");
  if (Array.isArray(value)) return value.map(literal);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, literal(each)]));
}

interface Place {
  readonly file: YamlFile | undefined;
  /** The path of the list of groups. */
  readonly prefix: SettingPath;
}

async function check(groups: readonly ConfiguredGroup[], { file, prefix }: Place): Promise<ConfigProblem[]> {
  const problems: ConfigProblem[] = [];
  const names = new Set<string>();
  for (const [index, { definition }] of groups.entries()) {
    const at = (path: SettingPath, message: string): void => {
      const place = [...prefix, index, ...path];
      problems.push(problemAt(file, place, `${formatPath(place)}: ${message}`));
    };
    if (names.has(definition.name)) {
      at(["name"], `The name ${JSON.stringify(definition.name)} appears twice; rename one of the groups.`);
    }
    names.add(definition.name);
    const compiled = await compileGroup(definition);
    if ("problems" in compiled) for (const problem of compiled.problems) at(problem.path, problem.message);
  }
  return problems;
}

function problemAt(file: YamlFile | undefined, path: SettingPath, message: string): ConfigProblem {
  return file === undefined ? { path: formatPath(path), message } : problemIn(file, { path, part: "value" }, message);
}
