/** Tags of calls: names with values by which costs are added up and budgets count. From `metadata`, or from the header `x-tags`. */
import { isObject, nonEmptyText } from "../json-object.ts";
import type { RouteInput } from "./route.ts";

export type Tags = Readonly<Record<string, string>>;

/** As OpenAI limits `metadata`. */
const longestTagName = 64;
const longestTag = 512;
const mostTags = 16;

/**
 * Those of the header, in the form of https://www.w3.org/TR/baggage/: `team=search, feature=autumn%20sale`. APIs without
 * `metadata` have no other place for them. What is malformed is left out: it must not fail a call.
 */
export function tagsInHeader(headers: RouteInput<unknown>["headers"]): Tags | undefined {
  const header = headers["x-tags"];
  if (typeof header !== "string" || header === "") return undefined;
  return withinLimits(
    header.split(",").map((pair) => {
      const equals = pair.indexOf("=");
      return equals === -1 ? ["", ""] : [decoded(pair.slice(0, equals)), decoded(pair.slice(equals + 1))];
    }),
  );
}

function decoded(part: string): string {
  const trimmed = part.trim();
  try {
    return decodeURIComponent(trimmed);
  } catch {
    return trimmed;
  }
}

/** The pairs of `metadata` that are texts, with those of the header whose names it does not have. */
export function tagsOfCall(headers: RouteInput<unknown>["headers"], metadata: unknown): Tags | undefined {
  const inHeader = tagsInHeader(headers);
  if (!isObject(metadata)) return inHeader;
  return withinLimits([
    ...Object.entries(metadata),
    ...Object.entries(inHeader ?? {}).filter(([name]) => !Object.hasOwn(metadata, name)),
  ]);
}

/** A session has a place of its own. */
function withinLimits(pairs: readonly (readonly [string, unknown])[]): Tags {
  const isTag = ([name, value]: readonly [string, unknown]): boolean =>
    name !== "" &&
    name !== "session_id" &&
    name.length <= longestTagName &&
    (nonEmptyText(value)?.length ?? Infinity) <= longestTag;
  return Object.fromEntries(pairs.filter(isTag).slice(0, mostTags)) as Tags;
}
