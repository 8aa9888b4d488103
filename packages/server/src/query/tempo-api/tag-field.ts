/** The tags of Tempo's HTTP API: scopes, and the fields that tag names stand for. */
import { AppError } from "../../errors.ts";
import { showValue } from "../../api/validate.ts";

export const attributeScopes = ["span", "resource", "event", "link", "instrumentation"] as const;
export type TagScope = (typeof attributeScopes)[number];

/** The intrinsics that Tempo lists, sorted. */
export const intrinsicTags: readonly string[] = [
  "duration",
  "event:name",
  "event:timeSinceStart",
  "instrumentation:name",
  "instrumentation:version",
  "kind",
  "link:spanID",
  "link:traceID",
  "name",
  "rootName",
  "rootServiceName",
  "span:duration",
  "span:id",
  "span:kind",
  "span:name",
  "span:parentID",
  "span:status",
  "span:statusMessage",
  "status",
  "statusMessage",
  "trace:duration",
  "trace:id",
  "trace:rootName",
  "trace:rootService",
  "traceDuration",
];

/** @throws AppError invalid_request */
export function readScope(text: string | undefined): TagScope | "intrinsic" | undefined {
  if (text === undefined || text === "none" || text === "all") return undefined;
  const found = [...attributeScopes, "intrinsic" as const].find((scope) => scope === text);
  if (found !== undefined) return found;
  throw new AppError(
    "invalid_request",
    `invalid scope: scope is ${showValue(text)}; expected one of ${attributeScopes.join(", ")}, intrinsic.`,
    { param: "scope" },
  );
}

/** What a tag name stands for. */
export type TagField =
  | { readonly kind: "attribute"; readonly scope: TagScope | null; readonly name: string }
  | { readonly kind: "intrinsic"; readonly name: string };

/** Intrinsics by their other names. */
const sameIntrinsics: Readonly<Record<string, string>> = {
  "span:duration": "duration",
  "span:kind": "kind",
  "span:name": "name",
  "span:status": "status",
  "span:statusMessage": "statusMessage",
  "trace:duration": "traceDuration",
  "trace:rootName": "rootName",
  "trace:rootService": "rootServiceName",
};

/**
 * The field that a tag stands for, as TraceQL writes it. A name without a scope and a dot is one of an attribute of spans and
 * resources, as in Tempo's first version of the endpoint.
 */
export function readTagField(tag: string): TagField {
  if (intrinsicTags.includes(tag)) return { kind: "intrinsic", name: sameIntrinsics[tag] ?? tag };
  const [, scope, name] = /^(?:(span|resource|event|link|instrumentation)?\.)?(.*)$/s.exec(tag)!;
  return { kind: "attribute", scope: (scope as TagScope | undefined) ?? null, name: unquoted(name!) };
}

/** The name within quotes, if it has some. */
function unquoted(name: string): string {
  const content = /^"((?:[^"\\]|\\["\\])*)"$/s.exec(name)?.[1];
  return content === undefined ? name : content.replaceAll(/\\(["\\])/g, "$1");
}
