/**
 * Merges the file, the environment and the command line into one value: fills in defaults, replaces `${NAME}`, reports
 * every problem, and records the origin of each setting.
 * docs/adr/0002-contract-and-http-server.md
 */
import { redactText } from "../logger.ts";
import { suggestion } from "@sounding/promql/syntax/closest-name";
import { formatChoice, formatPath, formatValue } from "./problem.ts";
import { isObject } from "../json-object.ts";
import { report, type At, type Resolution } from "./resolution.ts";
import { resolveFree, resolveLeaf } from "./resolve-leaf.ts";
import { describeAllowed, entrySchema, typedMembers, type SettingSchema } from "./setting-schema.ts";

/**
 * @returns the value of a setting with everything below it; invalid values stay unchanged and are reported as problems
 */
export function resolveSettings(schema: SettingSchema, at: At, resolution: Resolution): unknown {
  const members = typedMembers(schema);
  if (members !== undefined) return resolveTyped(members, at, resolution);
  if (schema.properties !== undefined) return resolveObject(schema, at, resolution);
  if (schema.patternProperties !== undefined) return resolveMap(schema, at, resolution);
  if (schema.items?.properties !== undefined) return resolveList(schema, schema.items, at, resolution);
  return resolveLeaf(schema, at, resolution);
}

function reportShape(schema: SettingSchema, at: At, resolution: Resolution): void {
  report(
    resolution,
    { path: at.path, part: "key" },
    `${formatPath(at.path) || "The file"} is ${redactText(formatValue(at.value))}; it must be ${describeAllowed(schema)}.`,
  );
}

/** An object whose members depend on its `type`. */
function resolveTyped(members: ReadonlyMap<string, SettingSchema>, at: At, resolution: Resolution): unknown {
  const types = [...members.keys()];
  const path = formatPath(at.path);
  if (!isObject(at.value)) {
    report(
      resolution,
      { path: at.path, part: "key" },
      `${path} must be a map with a \`type\`: ${formatChoice(types)}.`,
    );
    return at.value;
  }
  const type = at.value["type"];
  const member = typeof type === "string" ? members.get(type) : undefined;
  if (member !== undefined) return resolveObject(member, at, resolution);
  if (type == null) {
    report(resolution, { path: at.path, part: "key" }, `${path}.type is missing; it must be ${formatChoice(types)}.`);
  } else {
    const meant = typeof type === "string" ? suggestion(type, types) : "";
    report(
      resolution,
      { path: [...at.path, "type"] },
      `${path}.type is ${formatValue(type)}; it must be ${formatChoice(types)}.${meant}`,
    );
  }
  return at.value;
}

function resolveObject(schema: SettingSchema, at: At, resolution: Resolution): unknown {
  const given = at.value ?? schema.default;
  if (given === undefined) return undefined;
  if (!isObject(given)) {
    reportShape(schema, at, resolution);
    return given;
  }
  const properties = schema.properties ?? {};
  if (schema.additionalProperties !== true) reportUnknownNames(given, Object.keys(properties), at, resolution);
  const members: [string, unknown][] = [];
  for (const [name, property] of Object.entries(properties)) {
    const path = [...at.path, name];
    const value = resolveSettings(property, { path, value: given[name], fixed: at.fixed }, resolution);
    if (value !== undefined) members.push([name, value]);
    else if (schema.required?.includes(name)) {
      const message = `${formatPath(path)} is missing; it must be ${describeAllowed(property)}.`;
      report(resolution, { path: at.path, part: "key" }, message);
    }
  }
  if (schema.additionalProperties === true) {
    for (const [name, value] of Object.entries(given)) {
      if (name in properties) continue;
      members.push([name, resolveFree({ path: [...at.path, name], value, fixed: false }, resolution)]);
    }
  }
  return Object.fromEntries(members);
}

function reportUnknownNames(given: object, known: readonly string[], at: At, resolution: Resolution): void {
  for (const name of Object.keys(given)) {
    if (known.includes(name)) continue;
    const place = at.path.length === 0 ? "" : ` in ${formatPath(at.path)}`;
    const meant = suggestion(name, known) || ` Known settings: ${known.join(", ")}.`;
    report(
      resolution,
      { path: [...at.path, name], part: "key" },
      `Unknown setting ${JSON.stringify(name)}${place}.${meant}`,
    );
  }
}

function resolveMap(schema: SettingSchema, at: At, resolution: Resolution): unknown {
  const given = at.value ?? schema.default;
  if (given === undefined) return undefined;
  if (!isObject(given)) {
    reportShape(schema, at, resolution);
    return given;
  }
  if (Object.keys(given).length < (schema.minProperties ?? 0)) {
    const message = `${formatPath(at.path)} is empty; it must have at least ${schema.minProperties} ${schema.minProperties === 1 ? "entry" : "entries"}.`;
    report(resolution, { path: at.path, part: "key" }, message);
  }
  const { entry, names } = entrySchema(schema)!;
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => {
      const path = [...at.path, name];
      if (name === "" || !new RegExp(names, "u").test(name)) {
        const allowed = name === "" ? "a name that is not empty" : `a name that matches \`${names}\``;
        const message = `${formatPath(at.path)} has the name ${formatValue(name)}; it must be ${allowed}.`;
        report(resolution, { path, part: "key" }, message);
      }
      return [name, resolveEntry(entry, { path, value, fixed: false }, resolution)];
    }),
  );
}

/** Resolves an entry that is present in a map or list; an empty value is therefore a mistake. */
function resolveEntry(schema: SettingSchema, at: At, resolution: Resolution): unknown {
  const value = resolveSettings(schema, at, resolution);
  if (value === undefined) {
    const message = `${formatPath(at.path)} has no value; it must be ${describeAllowed(schema)}.`;
    report(resolution, { path: at.path, part: "key" }, message);
  }
  return value;
}

function resolveList(schema: SettingSchema, item: SettingSchema, at: At, resolution: Resolution): unknown {
  const given = at.value ?? schema.default;
  if (given === undefined) return undefined;
  const { minItems = 0, maxItems = Infinity } = schema;
  if (!Array.isArray(given)) {
    reportShape(schema, at, resolution);
    return given;
  }
  if (given.length < minItems || given.length > maxItems) {
    const allowed = given.length < minItems ? `at least ${minItems}` : `at most ${maxItems}`;
    const message = `${formatPath(at.path)} has ${given.length} items; ${allowed} are allowed.`;
    report(resolution, { path: at.path, part: "key" }, message);
  }
  return given.map((value: unknown, index) =>
    resolveEntry(item, { path: [...at.path, index], value, fixed: false }, resolution),
  );
}
