/** Writes resources and instrumentation scopes, which records refer to by a hash. */
import type { MapColumn, StringColumn } from "../../store/column-writers.ts";
import { resources, scopes } from "../../store/schema.ts";
import type { RowBuilder } from "./row-builder.ts";

/** A resource as its source has it. */
export interface ResourceSource {
  /** The hash of everything below. */
  readonly id: Uint8Array;
  /** The retention of what refers to it; part of the hash, so that a description is kept as long as its records. */
  readonly days: number;
  readonly droppedAttributes: number;
  writeAttributes(map: MapColumn, types: StringColumn): void;
  writeSchemaUrl(column: StringColumn): void;
}

export interface ScopeSource extends ResourceSource {
  writeName(column: StringColumn): void;
  writeVersion(column: StringColumn): void;
}

export function writeResource(builder: RowBuilder, resource: ResourceSource): void {
  const block = builder.block(resources);
  const { columns } = block;
  columns.organization.bytes(builder.organization, 0, builder.organization.length);
  columns.resource_id.copy(resource.id, 0);
  resource.writeAttributes(columns.attributes, columns.attribute_types);
  resource.writeSchemaUrl(columns.schema_url);
  columns.dropped_attributes.unsigned(resource.droppedAttributes);
  columns.seen.unsigned(Math.floor(builder.nowMs / 1000));
  columns.days.unsigned(resource.days);
  block.endRow();
}

export function writeScope(builder: RowBuilder, scope: ScopeSource): void {
  const block = builder.block(scopes);
  const { columns } = block;
  columns.organization.bytes(builder.organization, 0, builder.organization.length);
  columns.scope_id.copy(scope.id, 0);
  scope.writeName(columns.name);
  scope.writeVersion(columns.version);
  scope.writeAttributes(columns.attributes, columns.attribute_types);
  scope.writeSchemaUrl(columns.schema_url);
  columns.dropped_attributes.unsigned(scope.droppedAttributes);
  columns.seen.unsigned(Math.floor(builder.nowMs / 1000));
  columns.days.unsigned(scope.days);
  block.endRow();
}
