/** Spans and log records of our own as rows of the store, for one organization. */
import { createHash, randomBytes } from "node:crypto";
import { BlockWriter } from "../../store/block.ts";
import type { MapColumn, StringColumn } from "../../store/column-writers.ts";
import {
  attributeKinds,
  largeAttributeBytes,
  levels,
  logs,
  resources,
  scopes,
  spanDetails,
  spans,
} from "../../store/schema.ts";
import type { Batch, Store } from "../../store/store.ts";
import type { Columns } from "../../store/table-definition.ts";
import { errorType, genAi } from "./attribute-names.ts";
import { spanKinds, type AttributeValue, type Attributes, type CallLog, type CallSpan } from "./call-record-types.ts";

/** What all our records have in common: this process. */
export interface OwnIdentity {
  readonly version: string;
  /** Differs between processes. */
  readonly instanceId: string;
}

export const serviceName = "sounding";
const scopeName = "sounding";

/** The records of one project. */
export interface CallGroup {
  readonly project: string;
  readonly retentionDays: number;
  readonly spans: readonly CallSpan[];
  readonly logs: readonly CallLog[];
}

/** OTLP's StatusCode and severity numbers. */
const statusError = 2;
const severityNumbers = { warning: 13, error: 17 } as const;

/** A block of any table. */
type AnyBlock = Pick<BlockWriter<Columns>, "rowCount" | "finish">;

/** The rows of one organization, until `finish`. */
export class SpanRowWriter {
  readonly #organization: string;
  readonly #identity: OwnIdentity;
  /** Knows which resources and scopes need not be written again. */
  readonly #store: Pick<Store, "isKnown">;
  readonly #spans = new BlockWriter(spans);
  readonly #details = new BlockWriter(spanDetails);
  readonly #logs = new BlockWriter(logs);
  readonly #resources = new BlockWriter(resources);
  readonly #scopes = new BlockWriter(scopes);
  readonly #resourceHashes: bigint[] = [];
  readonly #scopeHashes: bigint[] = [];

  constructor(organization: string, identity: OwnIdentity, store: Pick<Store, "isKnown">) {
    this.#organization = organization;
    this.#identity = identity;
    this.#store = store;
  }

  /** Adds a project's records. */
  add(group: CallGroup): void {
    const { version, instanceId } = this.#identity;
    const resource = {
      "service.name": serviceName,
      "service.version": version,
      "service.instance.id": instanceId,
      "project.name": group.project,
    };
    // What is kept for longer is another row: descriptions stay as long as what they describe.
    const days = String(group.retentionDays);
    const resourceId = hashOf({ ...resource, days });
    const scopeId = hashOf({ scope: scopeName, version, days });
    if (!this.#resourceHashes.includes(resourceId) && !this.#isKnown("resources", resourceId)) {
      this.#resourceHashes.push(resourceId);
      this.#writeResource(resource, resourceId, group.retentionDays);
    }
    if (!this.#scopeHashes.includes(scopeId) && !this.#isKnown("scopes", scopeId)) {
      this.#scopeHashes.push(scopeId);
      this.#writeScope(scopeId, group.retentionDays);
    }
    for (const span of group.spans) this.#writeSpan(span, group, { resourceId, scopeId });
    for (const log of group.logs) this.#writeLog(log, group, { resourceId, scopeId });
  }

  /** What describes comes first: whoever sees a record can then see what it refers to. */
  finish(): Batch[] {
    const batch = (table: Batch["table"], block: AnyBlock, identities?: readonly bigint[]): Batch[] => {
      const { rowCount } = block;
      return rowCount === 0
        ? []
        : [{ organizationId: this.#organization, table, block: block.finish(), rowCount, identities }];
    };
    return [
      ...batch("resources", this.#resources, this.#resourceHashes),
      ...batch("scopes", this.#scopes, this.#scopeHashes),
      ...batch("span_details", this.#details),
      ...batch("spans", this.#spans),
      ...batch("logs", this.#logs),
    ];
  }

  #isKnown(table: "resources" | "scopes", hash: bigint): boolean {
    return this.#store.isKnown(table, this.#organization, hash);
  }

  #writeResource(attributes: Attributes, resourceId: bigint, days: number): void {
    const { columns } = this.#resources;
    columns.organization.text(this.#organization);
    columns.resource_id.bigint(resourceId);
    writeAttributes(columns.attributes, columns.attribute_types, Object.entries(attributes));
    columns.seen.unsigned(Math.floor(Date.now() / 1000));
    columns.days.unsigned(days);
    this.#resources.endRow();
  }

  #writeScope(scopeId: bigint, days: number): void {
    const { columns } = this.#scopes;
    columns.organization.text(this.#organization);
    columns.scope_id.bigint(scopeId);
    columns.name.text(scopeName);
    columns.version.text(this.#identity.version);
    columns.seen.unsigned(Math.floor(Date.now() / 1000));
    columns.days.unsigned(days);
    this.#scopes.endRow();
  }

  #writeSpan(span: CallSpan, group: CallGroup, { resourceId, scopeId }: { resourceId: bigint; scopeId: bigint }): void {
    const { columns } = this.#spans;
    const { attributes } = span;
    columns.organization.text(this.#organization);
    columns.project.text(group.project);
    columns.trace_id.text(span.traceId);
    columns.span_id.text(span.spanId);
    columns.parent_span_id.text(span.parentSpanId);
    columns.trace_state.text(span.traceState);
    columns.flags.unsigned(span.flags);
    columns.name.text(span.name);
    columns.kind.unsigned(spanKinds[span.kind]);
    columns.start_time.bigint(span.startUnixNano);
    columns.end_time.bigint(span.endUnixNano);
    columns.status_code.unsigned(span.error === undefined ? 0 : statusError);
    columns.status_message.text(span.error ?? "");
    columns.service.text(serviceName);
    columns.resource_id.bigint(resourceId);
    columns.scope_id.bigint(scopeId);
    columns.operation.text(textOf(attributes[genAi.operation]));
    columns.provider.text(textOf(attributes[genAi.provider]));
    columns.request_model.text(textOf(attributes[genAi.requestModel]));
    columns.response_model.text(textOf(attributes[genAi.responseModel]));
    columns.input_tokens.unsigned(Number(attributes[genAi.inputTokens] ?? 0));
    columns.output_tokens.unsigned(Number(attributes[genAi.outputTokens] ?? 0));
    columns.error_type.text(textOf(attributes[errorType]));
    const entries = Object.entries(attributes);
    const large = entries.filter(([, value]) => isLarge(value));
    writeAttributes(
      columns.attributes,
      columns.attribute_types,
      large.length === 0 ? entries : entries.filter(([, value]) => !isLarge(value)),
    );
    columns.has_details.unsigned(large.length === 0 ? 0 : 1);
    columns.days.unsigned(group.retentionDays);
    this.#spans.endRow();
    if (large.length > 0) this.#writeDetails(span, group, large);
  }

  #writeDetails(span: CallSpan, group: CallGroup, large: readonly [string, AttributeValue | undefined][]): void {
    const { columns } = this.#details;
    columns.organization.text(this.#organization);
    columns.project.text(group.project);
    columns.trace_id.text(span.traceId);
    columns.span_id.text(span.spanId);
    columns.start_time.bigint(span.startUnixNano);
    writeAttributes(columns.attributes, columns.attribute_types, large);
    columns.days.unsigned(group.retentionDays);
    this.#details.endRow();
  }

  #writeLog(log: CallLog, group: CallGroup, { resourceId, scopeId }: { resourceId: bigint; scopeId: bigint }): void {
    const { columns } = this.#logs;
    columns.organization.text(this.#organization);
    columns.project.text(group.project);
    columns.time.bigint(log.unixNano);
    columns.observed_time.bigint(log.unixNano);
    columns.record_id.bigint(randomBytes(8).readBigUInt64LE());
    columns.level.unsigned(levels[log.level]);
    columns.severity_number.unsigned(severityNumbers[log.level]);
    columns.severity_text.text(log.level === "error" ? "ERROR" : "WARN");
    columns.service.text(serviceName);
    columns.trace_id.text(log.traceId);
    columns.span_id.text(log.spanId);
    columns.event_name.text(log.eventName);
    columns.body.text(log.body);
    columns.body_type.text(attributeKinds.string);
    columns.resource_id.bigint(resourceId);
    columns.scope_id.bigint(scopeId);
    writeAttributes(columns.attributes, columns.attribute_types, Object.entries(log.attributes));
    columns.days.unsigned(group.retentionDays);
    this.#logs.endRow();
  }
}

function hashOf(described: Readonly<Record<string, string>>): bigint {
  return createHash("sha256").update(JSON.stringify(described)).digest().readBigUInt64LE();
}

function textOf(value: AttributeValue | undefined): string {
  return typeof value === "string" ? value : "";
}

function isLarge(value: AttributeValue | undefined): boolean {
  // A quarter, since a character may take up to three bytes and is rarely asked for how many.
  return (
    typeof value === "string" &&
    value.length > largeAttributeBytes / 4 &&
    Buffer.byteLength(value) > largeAttributeBytes
  );
}

function writeAttributes(
  map: MapColumn,
  types: StringColumn,
  entries: readonly (readonly [string, AttributeValue | undefined])[],
): void {
  let kinds = "";
  for (const [name, value] of entries) {
    if (value === undefined) continue;
    map.keys.text(name);
    kinds += writeValue(map.values, value);
  }
  map.end();
  types.text(/^s*$/.test(kinds) ? "" : kinds);
}

/** Writes the value as the store keeps it; gives the letter of its kind. */
function writeValue(column: StringColumn, value: AttributeValue): string {
  switch (typeof value) {
    case "string":
      column.text(value);
      return attributeKinds.string;
    case "boolean":
      column.text(String(value));
      return attributeKinds.boolean;
    case "number":
      column.text(String(value));
      return Number.isSafeInteger(value) ? attributeKinds.integer : attributeKinds.double;
    default:
      column.text(JSON.stringify({ arrayValue: { values: value.map((stringValue) => ({ stringValue })) } }));
      return attributeKinds.array;
  }
}
