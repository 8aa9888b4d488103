/**
 * Checks rules that no schema expresses: targets name engines, fallbacks and aliases name models, neither forms a
 * cycle, and guardrails have rules. Accepts a configuration with other errors, so that all problems are reported
 * together.
 */
import { Value } from "typebox/value";
import { discovery as discoverySchema, implicitEngines, modelFileEngines } from "./discovery.ts";
import { suggestion } from "@sounding/promql/syntax/closest-name";
import { findRoleProblem } from "./check-role.ts";
import { checkClickhouse } from "./clickhouse.ts";
import { checkGuardrailRules, checkRedactionPatterns } from "./guardrail-rules.ts";
import { formatPath, type ConfigProblem, type SettingPath } from "./problem.ts";
import { isObject } from "../json-object.ts";
import { checkSignIn } from "./check-sign-in.ts";
import { checkSharedLimits } from "./shared-limits.ts";
import { checkTrustedProxies } from "./trusted-proxies.ts";
import { problemIn, type YamlFile } from "./yaml-file.ts";

type Report = (path: SettingPath, message: string) => void;
type Entries = Readonly<Record<string, unknown>>;

/** @param config the resolved configuration, possibly invalid */
export function checkReferences(config: unknown, file: YamlFile | undefined): ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  const report: Report = (path, message) => {
    problems.push(
      file === undefined ? { path: formatPath(path), message } : problemIn(file, { path, part: "value" }, message),
    );
  };
  const section = (name: string): Entries => {
    const value = isObject(config) ? config[name] : undefined;
    return isObject(value) ? value : {};
  };
  const { discovery } = isObject(config) ? config : {};
  const discovered = Value.Check(discoverySchema, discovery) ? discovery : undefined;
  const implicit = discovered === undefined ? [] : Object.keys(implicitEngines(discovered));
  const ofFiles = discovered?.enabled === true && discovered.model_files ? Object.values(modelFileEngines) : [];
  const names = {
    models: section("models"),
    aliases: section("aliases"),
    engines: [...Object.keys(section("engines")), ...implicit],
    enginesOfFiles: ofFiles,
  };
  checkTargets(names, report);
  checkFallbacks(names, report);
  checkAliases(names, report);
  checkGuardrailRules(config, report);
  checkRedactionPatterns(config, report);
  checkTrustedProxies(config, report);
  checkSharedLimits(section("limits")["shared"], section("storage"), report);
  checkSignIn(isObject(config) ? config["sign_in"] : undefined, report);
  const ofRole = findRoleProblem(config);
  if (ofRole !== undefined) report(ofRole.path, ofRole.message);
  checkClickhouse(section("telemetry")["clickhouse"], report);
  return problems;
}

interface Names {
  readonly models: Entries;
  readonly aliases: Entries;
  readonly engines: readonly string[];
  /** Which models they have depends on the disk, so that only aliases may name them. */
  readonly enginesOfFiles: readonly string[];
}

function checkTargets({ models, engines }: Names, report: Report): void {
  for (const [modelId, model] of Object.entries(models)) {
    const targets = isObject(model) && Array.isArray(model["targets"]) ? (model["targets"] as unknown[]) : [];
    for (const [index, target] of targets.entries()) {
      const engine = isObject(target) ? target["engine"] : undefined;
      if (typeof engine !== "string" || engines.includes(engine)) continue;
      const path = ["models", modelId, "targets", index, "engine"];
      report(path, `${formatPath(path)} is ${missing(engine, "engine", engines)}`);
    }
  }
}

function missing(name: string, kind: "engine" | "model", known: readonly string[]): string {
  const meant = suggestion(name, known);
  const listed =
    known.length === 0 ? ` No ${kind}s are configured.` : ` Known ${kind}s: ${known.slice(0, 20).join(", ")}.`;
  return `${JSON.stringify(name)}, but no such ${kind} exists.${meant || listed}`;
}

function fallbacksOf(model: unknown): readonly unknown[] {
  const fallbacks = isObject(model) ? model["fallbacks"] : undefined;
  return Array.isArray(fallbacks) ? fallbacks : [];
}

function checkFallbacks({ models, aliases }: Names, report: Report): void {
  const known = [...Object.keys(models), ...Object.keys(aliases)];
  /** The model behind a name; the name itself if it is not an alias. */
  const modelOf = (name: unknown, steps = 0): string =>
    typeof name === "string" && steps < 100 && Object.hasOwn(aliases, name)
      ? modelOf(aliases[name], steps + 1)
      : String(name);
  for (const [modelId, model] of Object.entries(models)) {
    for (const [index, fallback] of fallbacksOf(model).entries()) {
      const path = ["models", modelId, "fallbacks", index];
      if (typeof fallback !== "string") continue;
      const standIn = modelOf(fallback);
      if (!Object.hasOwn(models, standIn)) report(path, `${formatPath(path)} is ${missing(fallback, "model", known)}`);
      // Two models may be each other's fallback: only the list of the requested model is used.
      if (standIn === modelId) report(path, `${formatPath(path)} names the model itself; name another model.`);
    }
  }
}

function checkAliases({ models, aliases, engines, enginesOfFiles }: Names, report: Report): void {
  const known = [...Object.keys(models), ...Object.keys(aliases)];
  for (const [alias, name] of Object.entries(aliases)) {
    const path = ["aliases", alias];
    if (Object.hasOwn(models, alias))
      report(path, `${formatPath(path)} has the same name as a model under \`models\`; rename one of them.`);
    const atEngine = [...engines, ...enginesOfFiles].some(
      (engine) => typeof name === "string" && name.startsWith(`${engine}/`),
    );
    if (typeof name !== "string" || atEngine || known.includes(name)) continue;
    report(path, `${formatPath(path)} is ${missing(name, "model", known)}`);
  }
  for (const circle of findCircles(Object.keys(aliases), (alias) => [String(aliases[alias])])) {
    const path = ["aliases", circle[0]!];
    report(path, `${formatPath(path)} is part of a cycle: ${[...circle, circle[0]].join(" → ")}.`);
  }
}

/** The cycles in a directed graph, each reported once; a node in several cycles may appear in only one of them. */
function findCircles(nodes: readonly string[], next: (node: string) => readonly string[]): string[][] {
  const circles: string[][] = [];
  const done = new Set<string>();
  const trail: string[] = [];
  const visit = (node: string): void => {
    const start = trail.indexOf(node);
    if (start !== -1) {
      circles.push(trail.slice(start));
      return;
    }
    if (done.has(node)) return;
    trail.push(node);
    for (const neighbor of next(node)) if (nodes.includes(neighbor)) visit(neighbor);
    trail.pop();
    done.add(node);
  };
  for (const node of nodes) visit(node);
  return circles;
}
