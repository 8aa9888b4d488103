/** Finds environment variables that look like settings and are none, which otherwise would be ignored silently. */
import { suggestion } from "@sounding/promql/syntax/closest-name";
import { isObject } from "../json-object.ts";
import type { Environment } from "./interpolate.ts";
import { entrySchema, environmentNames, typedMembers, type SettingSchema } from "./setting-schema.ts";

const prefix = "SOUNDING_";

/** Variables that the server, the CLI and the client read apart from settings. */
const otherVariables = [
  "SOUNDING_CONFIG",
  "SOUNDING_BASE_URL",
  "SOUNDING_API_KEY",
  "SOUNDING_ADMIN_KEY",
  "SOUNDING_PROFILE",
  "SOUNDING_DEBUG",
];

/** For the project's own tests and programs. */
const ownPrefixes = ["SOUNDING_TEST_", "SOUNDING_FUZZ_"];

/**
 * Variables that Kubernetes and Docker set for a service or container whose name starts with `sounding`.
 * https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables
 */
const serviceVariable = /_SERVICE_(HOST|PORT(_[A-Z0-9_]+)?)$|_PORT_\d+_(TCP|UDP|SCTP)(_[A-Z]+)?$/;

/** Whether the value is a link to a service that Kubernetes or Docker set, such as `tcp://10.0.0.7:80`. */
export function isServiceLink(value: string): boolean {
  return /^(tcp|udp|sctp):\/\//.test(value);
}

/** One sentence for each variable that nothing reads. `file` is the configuration file, whose `${NAME}` count as read. */
export function unknownVariables(schema: SettingSchema, env: Environment, file: unknown): string[] {
  const known = new Set([...namesOf(schema, []), ...otherVariables, ...namesIn(file)]);
  return Object.entries(env).flatMap(([name, value = ""]) => {
    const isOurs = name.startsWith(prefix) && !ownPrefixes.some((own) => name.startsWith(own));
    if (!isOurs || known.has(name) || serviceVariable.test(name) || isServiceLink(value)) return [];
    const meant = suggestion(name, known) || " docs/reference/configuration/ lists all settings.";
    return [`The environment variable ${name} is unknown and has no effect.${meant}`];
  });
}

/** The variables of all settings with a fixed path. */
function namesOf(schema: SettingSchema, path: readonly string[]): string[] {
  if (typedMembers(schema) !== undefined || entrySchema(schema) !== undefined) return [];
  if (schema.properties !== undefined) {
    return Object.entries(schema.properties).flatMap(([name, member]) => namesOf(member, [...path, name]));
  }
  return [...environmentNames(path, schema)];
}

function namesIn(value: unknown): string[] {
  if (typeof value === "string") return [...value.matchAll(/\$\{([A-Za-z_][A-Za-z0-9_]*)/g)].map(([, name]) => name!);
  if (Array.isArray(value)) return value.flatMap(namesIn);
  return isObject(value) ? Object.values(value).flatMap(namesIn) : [];
}
