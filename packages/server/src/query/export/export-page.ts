/** A page of an export: what each signal reads, and how rows are grouped as OTLP groups them. */
import type { CooperativeYield } from "../../scheduling/cooperative-yield.ts";
import type { TenantReader } from "../../store/store.ts";
import { ifSet, toOtlpResource, toOtlpScope } from "../otlp-json.ts";
import type { ResourceLookup } from "../resource-lookup.ts";
import type { TimeRange } from "../time-window.ts";

export interface PageRequest {
  readonly reader: TenantReader;
  readonly project: string;
  readonly range: TimeRange;
  /** Of the last record of the previous page; undefined for the first page. Undefined members mean that it is invalid. */
  readonly after: readonly string[] | undefined;
  readonly limit: number;
  readonly signal: AbortSignal;
}

export interface ExportPage {
  /** Export requests of OTLP. */
  readonly requests: readonly object[];
  /** The place of the last record; undefined if there are no others. */
  readonly next: readonly string[] | undefined;
}

/** Records in one export request, which receivers accept in one piece. */
export const recordsPerRequest = 500;

interface ScopedRow {
  readonly resource_id: string;
  readonly scope_id: string;
}

/** The rows by resource and scope, as the members of `resourceLogs` or `resourceMetrics` in the shape of OTLP/JSON. */
export async function groupByScope<Row extends ScopedRow>(
  rows: readonly Row[],
  { resources, scopes }: ResourceLookup,
  {
    name,
    records,
    yielder,
  }: {
    /** `scopeLogs` or `scopeMetrics`. */
    readonly name: string;
    readonly records: (rows: readonly Row[]) => object;
    readonly yielder: CooperativeYield;
  },
): Promise<object[]> {
  const groups: object[] = [];
  for (const [resourceId, ofResource] of Map.groupBy(rows, ({ resource_id }) => resource_id)) {
    const resource = resources.get(resourceId);
    const ofScopes: object[] = [];
    for (const [scopeId, ofScope] of Map.groupBy(ofResource, ({ scope_id }) => scope_id)) {
      const scope = scopes.get(scopeId);
      ofScopes.push({ scope: toOtlpScope(scope), ...records(ofScope), ...ifSet("schemaUrl", scope?.schemaUrl) });
      if (yielder.isDue(ofScope.length)) await yielder.yield();
    }
    groups.push({
      resource: toOtlpResource(resource),
      [name]: ofScopes,
      ...ifSet("schemaUrl", resource?.schemaUrl),
    });
  }
  return groups;
}
