/** Builds the labels of log streams: the service, the level and the trace of an entry. */
import { levels } from "../../store/schema.ts";
import { unknownService } from "../attribute-condition.ts";
import { scalarText } from "../attribute-values.ts";
import type { ResourceLookup } from "../resource-lookup.ts";
import { labelsByAttribute } from "./logql-storage/stream-labels.ts";

/** The columns that become labels. */
export interface DescribedRow {
  readonly project: string;
  readonly level_number: number;
  readonly severity_text: string;
  readonly service: string;
  readonly trace_id: string;
  readonly span_id: string;
  readonly resource_id: string;
  readonly scope_id: string;
}

/** Loki's stream labels, and others that distinguish instances of a service, by attribute. Dots become underscores. */
const labelNames = new Map<string, string>([
  ...labelsByAttribute,
  ["service.version", "service_version"],
  ["host.name", "host_name"],
]);
const levelNames = new Map<number, string>(Object.entries(levels).map(([name, number]) => [number, name]));

export function logLabels(row: DescribedRow, { resources, scopes }: ResourceLookup): Record<string, string> {
  const scope = scopes.get(row.scope_id);
  const labels: Record<string, string> = {
    service_name: row.service === "" ? unknownService : row.service,
    project_name: row.project,
    severity: levelNames.get(row.level_number) ?? "info",
  };
  const add = (name: string, value: string | undefined): void => {
    if (value !== undefined && value !== "") labels[name] = value;
  };
  add("severity_text", row.severity_text);
  add("scope_name", scope?.name);
  add("scope_version", scope?.version);
  for (const { key, value } of resources.get(row.resource_id)?.attributes ?? []) {
    const name = labelNames.get(key);
    if (name !== undefined) add(name, scalarText(value));
  }
  add("trace_id", row.trace_id);
  add("span_id", row.span_id);
  return labels;
}
