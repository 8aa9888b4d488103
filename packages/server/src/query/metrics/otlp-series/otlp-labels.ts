/**
 * Builds the labels of series that applications sent over OTLP. An attribute that collides with one of our labels gets
 * the prefix `exported_`, as in Prometheus, so data cannot claim to belong to another project or job.
 */
import type { KeyValue } from "../../attribute-values.ts";
import { toText } from "../../attribute-values.ts";
import type { ResourceLookup, InstrumentationScope } from "../../resource-lookup.ts";
import { attributeLabels } from "./prometheus-names.ts";

export interface OtlpSeriesRow {
  readonly metric: string;
  readonly series_id: string;
  readonly project: string;
  readonly service: string;
  readonly resource_id: string;
  readonly scope_id: string;
  readonly attribute_names: readonly string[];
  readonly attribute_values: readonly string[];
  readonly attribute_types: string;
  /** 1: the names of the attributes are those of labels. */
  readonly from_prometheus: number;
}

/** All labels except the name and those of parts (`le`, `quantile`). */
export function otlpLabels(row: OtlpSeriesRow, { resources, scopes }: ResourceLookup): Map<string, string> {
  const own = new Map([
    ["project_name", row.project],
    ["service_name", row.service],
    ...identityLabels(resources.get(row.resource_id)?.attributes ?? []),
    ...scopeLabels(scopes.get(row.scope_id)),
  ]);
  const attributes = row.attribute_names.map((name, index): [string, string] => [
    name,
    toText(row.attribute_values[index] ?? "", row.attribute_types[index] ?? "s"),
  ]);
  const sent = row.from_prometheus === 1 ? attributes : attributeLabels(attributes);
  const labels = new Map<string, string>();
  for (const [name, value] of sent) labels.set(isOurs(name, own) ? `exported_${name}` : name, value);
  for (const [name, value] of own) labels.set(name, value);
  return labels;
}

const reservedNames: ReadonlySet<string> = new Set(["__name__", "job", "instance", "organization_id"]);

/** Whether a label is never an attribute under its own name, or not in every series. */
export function isOwnLabel(name: string): boolean {
  return reservedNames.has(name) || /^(?:project_name|service_name|otel_scope_name|otel_scope_version)$/.test(name);
}

function isOurs(name: string, own: ReadonlyMap<string, string>): boolean {
  return reservedNames.has(name) || own.has(name);
}

/** `job` and `instance`, which identify a process in Prometheus. */
export function identityLabels(attributes: readonly KeyValue[]): [string, string][] {
  const namespace = textOf(attributes, "service.namespace");
  const service = textOf(attributes, "service.name");
  const instance = textOf(attributes, "service.instance.id");
  const job = namespace === "" ? service : `${namespace}/${service}`;
  return [
    ["job", job],
    ["instance", instance],
  ];
}

function textOf(attributes: readonly KeyValue[], key: string): string {
  const value = attributes.find((attribute) => attribute.key === key)?.value;
  return value?.stringValue ?? value?.intValue ?? "";
}

function scopeLabels(scope: InstrumentationScope | undefined): [string, string][] {
  if (scope === undefined) return [];
  return [
    ["otel_scope_name", scope.name],
    ["otel_scope_version", scope.version],
  ];
}
