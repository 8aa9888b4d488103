/** What rows say of their resource and their scope by a hash, read once for all rows of an answer. */
import { bind, ownOrganization, sql, type Statement } from "../store/statement.ts";
import type { TenantReader } from "../store/store.ts";
import { toKeyValues, type KeyValue } from "./attribute-values.ts";

export interface Resource {
  readonly attributes: readonly KeyValue[];
  readonly droppedAttributes: number;
  readonly schemaUrl: string;
}

export interface InstrumentationScope extends Resource {
  readonly name: string;
  readonly version: string;
}

/** By hash, as decimal text. */
export interface Descriptions {
  readonly resources: ReadonlyMap<string, Resource>;
  readonly scopes: ReadonlyMap<string, InstrumentationScope>;
}

interface DescribingRow {
  readonly id: string;
  readonly attribute_names: string[];
  readonly attribute_values: string[];
  readonly attribute_types: string;
  readonly schema_url: string;
  readonly dropped_attributes: number;
}

interface ScopeRow extends DescribingRow {
  readonly name: string;
  readonly version: string;
}

export async function readDescriptions(
  reader: TenantReader,
  rows: readonly { readonly resource_id: string; readonly scope_id: string }[],
  signal: AbortSignal,
): Promise<Descriptions> {
  if (rows.length === 0) return { resources: new Map(), scopes: new Map() };
  const resourceIds = [...new Set(rows.map((row) => row.resource_id))];
  const scopeIds = [...new Set(rows.map((row) => row.scope_id))];
  const described = sql`mapKeys(attributes) AS attribute_names, mapValues(attributes) AS attribute_values, attribute_types,
    schema_url, dropped_attributes`;
  const read = <Shape extends object>(statement: Statement): Promise<Shape[]> =>
    reader.query<Shape>(statement, { signal, duplicates: "kept" });
  const [resources, scopes] = await Promise.all([
    read<DescribingRow>(
      sql`SELECT resource_id AS id, ${described} FROM resources
        WHERE organization = ${ownOrganization} AND resource_id IN ${bind.uint64s(resourceIds)}`,
    ),
    read<ScopeRow>(
      sql`SELECT scope_id AS id, name, version, ${described} FROM scopes
        WHERE organization = ${ownOrganization} AND scope_id IN ${bind.uint64s(scopeIds)}`,
    ),
  ]);
  return {
    resources: new Map(resources.map((row) => [row.id, toResource(row)])),
    scopes: new Map(scopes.map((row) => [row.id, { ...toResource(row), name: row.name, version: row.version }])),
  };
}

function toResource(row: DescribingRow): Resource {
  return {
    attributes: toKeyValues({ names: row.attribute_names, values: row.attribute_values, kinds: row.attribute_types }),
    droppedAttributes: row.dropped_attributes,
    schemaUrl: row.schema_url,
  };
}
