/** Members of OTLP's messages in JSON. Zero and empty values are omitted. */
import type { InstrumentationScope, Resource } from "./resource-lookup.ts";

export function ifSet(name: string, value: string | number | undefined): Record<string, string | number> {
  return value === undefined || value === "" || value === 0 ? {} : { [name]: value };
}

/** A 64-bit integer, such as a time, which is a text in JSON. */
export function ifNotZero(name: string, value: string | undefined): Record<string, string> {
  return value === undefined || value === "0" ? {} : { [name]: value };
}

export function ifAny(name: string, values: readonly unknown[]): Record<string, readonly unknown[]> {
  return values.length === 0 ? {} : { [name]: values };
}

/** OTLP's Resource. @param resource undefined: it has expired */
export function toOtlpResource(resource: Resource | undefined): Record<string, unknown> {
  return {
    ...ifAny("attributes", resource?.attributes ?? []),
    ...ifSet("droppedAttributesCount", resource?.droppedAttributes),
  };
}

/** OTLP's InstrumentationScope. */
export function toOtlpScope(scope: InstrumentationScope | undefined): Record<string, unknown> {
  if (scope === undefined) return {};
  return {
    ...ifSet("name", scope.name),
    ...ifSet("version", scope.version),
    ...ifAny("attributes", scope.attributes),
    ...ifSet("droppedAttributesCount", scope.droppedAttributes),
  };
}
