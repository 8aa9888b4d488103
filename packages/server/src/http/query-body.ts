/** Reads bodies whose members may also be in the query string, for queries that people type by hand. */
import type { IncomingMessage } from "node:http";
import type { Schema } from "../api/schema.ts";
import { showValue } from "../api/validate.ts";
import { AppError } from "../errors.ts";
import { readMembers } from "../json-members.ts";
import { type JsonBodyLimits, readJsonBody, type ReadBody } from "./body.ts";

export function queryOf(request: IncomingMessage): URLSearchParams {
  const start = request.url?.indexOf("?") ?? -1;
  return new URLSearchParams(start === -1 ? "" : request.url!.slice(start + 1));
}

/**
 * Merges the query string into the body; the body's members win. Neither may have a member twice with different values,
 * since a proxy that checked the request may have read the other value.
 * @throws AppError invalid_request, or what `readJsonBody` throws
 */
export async function readQueryBody(
  request: IncomingMessage,
  limits: JsonBodyLimits,
  schema: Schema<unknown>,
): Promise<ReadBody> {
  const { bytes, value, texts } = await readJsonBody(request, limits, {});
  await texts?.restore();
  if (typeof value !== "object" || value === null || Array.isArray(value)) return { bytes, value };
  // An empty body is read as {}.
  if (bytes.length > 0) refuseDifferent(namesAndValues(bytes), "body");
  const query = queryOf(request);
  refuseDifferent(query, "query string");
  const fromQuery = [...query].map(([name, text]): [string, unknown] => [name, readText(text, memberOf(schema, name))]);
  return { bytes, value: { ...Object.fromEntries(fromQuery), ...value } };
}

function refuseDifferent(members: Iterable<[name: string, value: string]>, place: string): void {
  const seen = new Map<string, string>();
  for (const [name, value] of members) {
    const before = seen.get(name) ?? value;
    if (before !== value) {
      const shown = name.slice(0, 100).toWellFormed();
      const message = `${shown} appears twice in the ${place}, as ${showValue(before)} and as ${showValue(value)}; send one value.`;
      throw new AppError("invalid_request", message, { param: shown });
    }
    seen.set(name, value);
  }
}

/** The member names of a JSON object, each with the JSON text of its value. */
function* namesAndValues(json: Buffer): Generator<[string, string]> {
  for (const { end, name, valueStart } of readMembers(json)) yield [name, json.toString("utf8", valueStart, end)];
}

interface MemberSchema {
  readonly type?: string;
  readonly anyOf?: readonly MemberSchema[];
}

function memberOf(schema: Schema<unknown>, name: string): MemberSchema | undefined {
  const { properties } = schema.json as { properties?: Readonly<Record<string, MemberSchema>> };
  return properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : undefined;
}

/** The text as the number, boolean, JSON object or array that the schema expects; the text itself if it is none. */
function readText(text: string, schema: MemberSchema | undefined): unknown {
  const types = new Set((schema?.anyOf ?? [schema]).map((alternative) => alternative?.type));
  if ((types.has("integer") || types.has("number")) && /^-?\d{1,15}(?:\.\d+)?$/.test(text)) return Number(text);
  if (types.has("boolean") && (text === "true" || text === "false")) return text === "true";
  return types.has("object") || types.has("array") ? readJson(text) : text;
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
