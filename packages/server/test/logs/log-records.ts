/** Log records as rows of a store, written by hand, and what LogQL sees of them. */
import { BlockWriter } from "../../src/store/block.ts";
import type { MapColumn, StringColumn } from "../../src/store/column-writers.ts";
import { attributeKinds } from "../../src/store/attribute-kinds.ts";
import { levels, logs, pushedStreamSchema, resources, scopes } from "../../src/store/schema.ts";
import type { Batch, Store } from "../../src/store/store.ts";

/** Text, or a value of another kind as the store keeps it. */
export type Attribute = string | { readonly kind: keyof typeof attributeKinds; readonly text: string };
export type Attributes = Readonly<Record<string, Attribute>>;

export interface LogRecord {
  readonly unixNano: bigint;
  readonly recordId: bigint;
  readonly project?: string;
  readonly service?: string;
  readonly severityNumber?: number;
  readonly severityText?: string;
  readonly body?: Attribute;
  readonly eventName?: string;
  readonly traceId?: string;
  readonly spanId?: string;
  readonly attributes?: Attributes;
  readonly resource?: LogResource;
  readonly scope?: LogScope;
}

export interface LogResource {
  readonly id: bigint;
  readonly attributes: Attributes;
  /** A stream from Loki's push API. */
  readonly isPushed?: boolean;
}

export interface LogScope {
  readonly id: bigint;
  readonly name: string;
  readonly version: string;
  readonly attributes?: Attributes;
}

/** The level as ingest derives it from the number, or else from the text. */
export function levelOf({ severityNumber = 0, severityText = "" }: LogRecord): keyof typeof levels {
  if (severityNumber < 1 || severityNumber > 24) return severityText.toLowerCase().startsWith("err") ? "error" : "info";
  if (severityNumber <= 8) return "debug";
  if (severityNumber <= 12) return "info";
  return severityNumber <= 16 ? "warning" : "error";
}

/** @param sentTimes how often the same rows are sent, each time in a part of its own */
export async function appendLogs(
  store: Store,
  organizationId: string,
  records: readonly LogRecord[],
  sentTimes = 1,
): Promise<void> {
  const writer = new BlockWriter(logs);
  const { columns } = writer;
  for (const record of records) {
    columns.organization.text(organizationId);
    columns.project.text(record.project ?? "default");
    columns.time.bigint(record.unixNano);
    columns.observed_time.bigint(record.unixNano);
    columns.record_id.bigint(record.recordId);
    columns.level.unsigned(levels[levelOf(record)]);
    columns.severity_number.unsigned(record.severityNumber ?? 0);
    columns.severity_text.text(record.severityText ?? "");
    columns.service.text(record.service ?? "");
    columns.trace_id.text(record.traceId ?? "");
    columns.span_id.text(record.spanId ?? "");
    columns.event_name.text(record.eventName ?? "");
    columns.body.text(textOf(record.body ?? ""));
    columns.body_type.text(kindOf(record.body ?? ""));
    columns.resource_id.bigint(record.resource?.id ?? 0n);
    columns.scope_id.bigint(record.scope?.id ?? 0n);
    writeAttributes(columns.attributes, columns.attribute_types, record.attributes);
    columns.days.unsigned(30);
    writer.endRow();
  }
  await appendDescriptions(store, organizationId, records);
  const batch: Batch = { organizationId, table: "logs", block: writer.finish(), rowCount: writer.rowCount };
  for (let time = 0; time < sentTimes; time += 1) await store.append(batch);
}

async function appendDescriptions(store: Store, organizationId: string, records: readonly LogRecord[]): Promise<void> {
  const resourceRows = new BlockWriter(resources);
  for (const resource of new Set(records.map((record) => record.resource))) {
    if (resource === undefined) continue;
    const { columns } = resourceRows;
    columns.organization.text(organizationId);
    columns.resource_id.bigint(resource.id);
    columns.schema_url.text(resource.isPushed === true ? pushedStreamSchema : "");
    writeAttributes(columns.attributes, columns.attribute_types, resource.attributes);
    columns.seen.unsigned(Math.floor(Date.now() / 1000));
    columns.days.unsigned(30);
    resourceRows.endRow();
  }
  const scopeRows = new BlockWriter(scopes);
  for (const scope of new Set(records.map((record) => record.scope))) {
    if (scope === undefined) continue;
    const { columns } = scopeRows;
    columns.organization.text(organizationId);
    columns.scope_id.bigint(scope.id);
    columns.name.text(scope.name);
    columns.version.text(scope.version);
    writeAttributes(columns.attributes, columns.attribute_types, scope.attributes);
    columns.seen.unsigned(Math.floor(Date.now() / 1000));
    columns.days.unsigned(30);
    scopeRows.endRow();
  }
  const append = async (table: "resources" | "scopes", rows: { rowCount: number; finish(): Uint8Array }) => {
    const { rowCount } = rows;
    if (rowCount > 0) await store.append({ organizationId, table, block: rows.finish(), rowCount });
  };
  await append("resources", resourceRows);
  await append("scopes", scopeRows);
}

function textOf(value: Attribute): string {
  return typeof value === "string" ? value : value.text;
}

function kindOf(value: Attribute): string {
  return attributeKinds[typeof value === "string" ? "string" : value.kind];
}

function writeAttributes(map: MapColumn, types: StringColumn, attributes: Attributes = {}): void {
  for (const [name, value] of Object.entries(attributes)) {
    map.keys.text(name);
    map.values.text(textOf(value));
  }
  map.end();
  const kinds = Object.values(attributes).map(kindOf);
  types.text(kinds.every((kind) => kind === attributeKinds.string) ? "" : kinds.join(""));
}
