/**
 * Builds the structured metadata of entries as Loki's OTLP endpoint does: everything that identifies no stream, with names as
 * valid as those of labels.
 */
import { attributeKinds, opaqueKinds } from "../../../store/attribute-kinds.ts";
import { toAnyValue, toNumericJson, type AnyValue, type KeyValue } from "../../attribute-values.ts";
import type { InstrumentationScope, Resource } from "../../resource-lookup.ts";
import { isPushedStream, isStreamAttribute, ownLabels } from "./stream-labels.ts";

/** The columns of an entry that become structured metadata. */
export interface MetadataColumns {
  readonly traceId: string;
  readonly spanId: string;
  readonly severityText: string;
  readonly eventName: string;
  readonly names: readonly string[];
  readonly values: readonly string[];
  readonly kinds: string;
}

/** What the columns are called, which attributes of the same name replace only where they are empty. */
export const columnNames = {
  trace_id: "trace_id",
  span_id: "span_id",
  severity_text: "severity_text",
  event_name: "event_name",
} as const;

/** Names of attributes that one query can meet; more are not remembered. */
const mostNames = 10_000;

/**
 * An attribute's name as Loki's OTLP endpoint changes it: each run of characters other than letters and digits becomes one
 * underscore, and a digit is not at the beginning. Empty if nothing is left of it.
 */
export function metadataName(attribute: string): string {
  const reserved = /^__(?<name>.*)__$/su.exec(attribute)?.groups?.["name"];
  const name = (reserved ?? attribute).replaceAll(/[^A-Za-z0-9]+/g, "_");
  if (/^_?$/.test(name)) return "";
  if (reserved !== undefined) return `__${name}__`;
  return /^\d/.test(name) ? `key_${name}` : name;
}

export class StructuredMetadata {
  readonly #isWanted: (name: string) => boolean;
  readonly #names = new Map<string, string>();
  readonly #described = new WeakMap<object, ReadonlyMap<string, string>>();

  constructor(needed: "all" | readonly string[]) {
    const names = new Set(needed === "all" ? [] : needed);
    this.#isWanted = needed === "all" ? () => true : (name) => names.has(name);
  }

  /** Of what entries refer to, by name. */
  ofDescriptions(resource: Resource | undefined, scope: InstrumentationScope | undefined): Map<string, string> {
    return new Map([...this.#describe(resource, resourceEntries), ...this.#describe(scope, scopeEntries)]);
  }

  /** Of an entry: name, value, name, value …; of attributes with the same name, the most specific. */
  of(
    columns: MetadataColumns,
    resource: Resource | undefined,
    scope: InstrumentationScope | undefined,
  ): readonly string[] {
    const found = this.ofDescriptions(resource, scope);
    const { kinds, names, values } = columns;
    for (const [index, name] of names.entries()) {
      this.#add(found, name, { text: values[index] ?? "", kind: kinds[index] ?? attributeKinds.string });
    }
    this.#set(found, columnNames.severity_text, columns.severityText);
    this.#set(found, columnNames.event_name, columns.eventName);
    this.#set(found, columnNames.trace_id, columns.traceId);
    this.#set(found, columnNames.span_id, columns.spanId);
    const pairs: string[] = [];
    for (const [name, value] of found) pairs.push(name, value);
    return pairs;
  }

  #describe<Description extends object>(
    description: Description | undefined,
    entries: (description: Description) => Iterable<readonly [name: string, value: AnyValue]>,
  ): ReadonlyMap<string, string> {
    if (description === undefined) return nothing;
    let described = this.#described.get(description);
    if (described === undefined) {
      const found = new Map<string, string>();
      for (const [name, value] of entries(description)) this.#addValue(found, this.#nameOf(name), value);
      this.#described.set(description, (described = found));
    }
    return described;
  }

  #add(found: Map<string, string>, attribute: string, { kind, text }: { kind: string; text: string }): void {
    const name = this.#nameOf(attribute);
    if (opaqueKinds.includes(kind)) this.#addValue(found, name, toAnyValue(text, kind));
    else this.#set(found, name, text);
  }

  /** The members of a map become metadata of their own. */
  #addValue(found: Map<string, string>, name: string, value: AnyValue): void {
    const members: readonly KeyValue[] | undefined = value.kvlistValue?.values;
    if (value.kvlistValue === undefined) this.#set(found, name, plainText(value));
    else
      for (const { key, value: member } of members ?? []) this.#addValue(found, metadataName(`${name}_${key}`), member);
  }

  #set(found: Map<string, string>, name: string, value: string): void {
    if (name !== "" && value !== "" && this.#isWanted(name) && !ownLabels.has(name)) found.set(name, value);
  }

  #nameOf(attribute: string): string {
    let name = this.#names.get(attribute);
    if (name === undefined) {
      name = metadataName(attribute);
      if (this.#names.size < mostNames) this.#names.set(attribute, name);
    }
    return name;
  }
}

const nothing: ReadonlyMap<string, string> = new Map();

function plainText(value: AnyValue): string {
  if (value.arrayValue !== undefined) return toNumericJson(value);
  return (
    value.stringValue ??
    value.intValue ??
    value.doubleValue ??
    value.boolValue ??
    value.bytesValue ??
    ""
  ).toString();
}

function* resourceEntries(resource: Resource): Generator<readonly [string, AnyValue]> {
  if (isPushedStream(resource)) return;
  for (const { key, value } of resource.attributes) if (!isStreamAttribute(key)) yield [key, value];
}

function* scopeEntries(scope: InstrumentationScope): Generator<readonly [string, AnyValue]> {
  for (const { key, value } of scope.attributes) yield [key, value];
  yield ["scope_name", { stringValue: scope.name }];
  yield ["scope_version", { stringValue: scope.version }];
}
