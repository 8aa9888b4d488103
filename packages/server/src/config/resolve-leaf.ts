/** Resolves settings without nested settings: selects the layer, replaces `${NAME}`, and checks the value. */
import { Value } from "typebox/value";
import { redactText } from "../logger.ts";
import { interpolate } from "./interpolate.ts";
import { formatPath, formatValue, type SettingPath } from "./problem.ts";
import { isObject } from "../json-object.ts";
import { report, type At, type Resolution, type SettingOrigin } from "./resolution.ts";
import { isServiceLink } from "./unknown-variables.ts";
import { isSecret } from "./setting-types.ts";
import { describeAllowed, environmentNames, readText, type SettingSchema } from "./setting-schema.ts";

const hidden = "[hidden]";

function overrideAt(overrides: unknown, path: SettingPath): unknown {
  let value = overrides;
  for (const step of path) value = isObject(value) ? value[String(step)] : undefined;
  return value;
}

/** A value without nested settings: from the command line, the environment, the file or the default. */
export function resolveLeaf(schema: SettingSchema, at: At, resolution: Resolution): unknown {
  if (at.fixed) {
    const override = overrideAt(resolution.overrides, at.path);
    if (override !== undefined) {
      return checkLeaf(schema, { ...at, value: override }, { kind: "command_line" }, resolution);
    }
    const names = environmentNames(at.path.map(String), schema);
    for (const name of names) {
      const text = resolution.env[name] ?? "";
      // Kubernetes sets such a variable for a service with the right name, but none that a setting documents first.
      if (text === "" || (name !== names[0] && isServiceLink(text))) continue;
      const origin = { kind: "environment", name } as const;
      return checkLeaf(schema, { ...at, value: readText(text, schema) }, origin, resolution);
    }
  }
  if (at.value == null && !(at.value === null && Value.Check(schema, null))) {
    const value = schema.default ?? resolution.computedDefaults?.get(formatPath(at.path));
    if (value !== undefined) record(schema, at, value, { kind: "default" }, resolution);
    return structuredClone(value);
  }
  return checkLeaf(schema, at, fileOrigin(at, resolution), resolution);
}

function fileOrigin(at: At, { file }: Resolution): SettingOrigin {
  if (file === undefined) return { kind: "default" };
  return { kind: "file", file: file.file, line: file.locate(at.path, "value").line };
}

function record(schema: SettingSchema, at: At, shown: unknown, origin: SettingOrigin, resolution: Resolution): void {
  resolution.sources.push({ path: formatPath(at.path), shown: isSecret(schema) ? hidden : shown, origin });
}

/** A value that no schema describes, such as one that is passed through to an engine. */
export function resolveFree(at: At, resolution: Resolution): unknown {
  return resolveLeaf({}, at, resolution);
}

function checkLeaf(schema: SettingSchema, at: At, origin: SettingOrigin, resolution: Resolution): unknown {
  const value = origin.kind === "file" ? replaceVariables(schema, at, resolution) : at.value;
  record(schema, at, at.value, origin, resolution);
  if (value === unresolved) return value;
  if (!Value.Check(schema, value)) reportLeaf(schema, at, origin, resolution);
  return value;
}

function reportLeaf(schema: SettingSchema, at: At, origin: SettingOrigin, resolution: Resolution): void {
  const path = formatPath(at.path);
  const subject = origin.kind === "environment" ? `The environment variable ${origin.name} (${path})` : path;
  const seen = isSecret(schema)
    ? "has a value that is not allowed (hidden because it is a secret)"
    : `is ${show(at.value)}`;
  const message = `${subject} ${seen}; it must be ${describeAllowed(schema)}.`;
  if (origin.kind === "file") report(resolution, { path: at.path }, message);
  else resolution.problems.push({ path, message });
}

function show(value: unknown): string {
  return redactText(formatValue(value));
}

/** Placeholder for a value whose variable is not set, which has already been reported. */
const unresolved = Symbol("unresolved");

function replaceVariables(schema: SettingSchema, at: At, resolution: Resolution): unknown {
  const faults: string[] = [];
  const replace = (value: unknown): unknown => {
    if (typeof value === "string" && value.includes("${")) {
      const result = interpolate(value, resolution.env);
      faults.push(...result.faults);
      return result.text;
    }
    if (Array.isArray(value)) return value.map(replace);
    if (isObject(value))
      return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, replace(inner)]));
    return value;
  };
  const value = replace(at.value);
  for (const fault of faults) report(resolution, { path: at.path }, `${formatPath(at.path)} ${fault}.`);
  if (faults.length > 0) return unresolved;
  return typeof value === "string" && value !== at.value ? readText(value, schema) : value;
}
