/** Looks up the resources and scopes that rows refer to by hash, once for all rows of a response. */
import { CooperativeYield } from "../scheduling/cooperative-yield.ts";
import { bind, callerOrganization, sql, type Statement } from "../store/statement.ts";
import type { QueryOptions, TenantReader } from "../store/store.ts";
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
export interface ResourceLookup {
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

/** The resources and scopes of the rows. Most are cached, since responses come from few of them. */
export async function lookUpResources(
  reader: TenantReader,
  rows: readonly { readonly resource_id: string; readonly scope_id: string }[],
  { memory, signal }: Pick<QueryOptions, "memory"> & { readonly signal: AbortSignal },
): Promise<ResourceLookup> {
  const described = sql`mapKeys(attributes) AS attribute_names, mapValues(attributes) AS attribute_values, attribute_types,
    schema_url, dropped_attributes`;
  const read = <Shape extends DescribingRow>(statement: Statement): Promise<Shape[]> =>
    reader.query<Shape>(statement, { signal, memory, duplicates: "kept" });
  const [resources, scopes] = await Promise.all([
    lookUpCached<DescribingRow, Resource>(reader, {
      table: "resources",
      ids: new Set(rows.map((row) => row.resource_id)),
      read: (ids) =>
        read(
          sql`SELECT resource_id AS id, ${described} FROM resources
            WHERE organization = ${callerOrganization} AND resource_id IN ${bind.uint64s(ids)}`,
        ),
      describe: toResource,
    }),
    lookUpCached<ScopeRow, InstrumentationScope>(reader, {
      table: "scopes",
      ids: new Set(rows.map((row) => row.scope_id)),
      read: (ids) =>
        read(
          sql`SELECT scope_id AS id, name, version, ${described} FROM scopes
            WHERE organization = ${callerOrganization} AND scope_id IN ${bind.uint64s(ids)}`,
        ),
      describe: (row) => ({ ...toResource(row), name: row.name, version: row.version }),
    }),
  ]);
  return { resources, scopes };
}

interface Described<Row, Description> {
  readonly table: "resources" | "scopes";
  readonly ids: ReadonlySet<string>;
  readonly read: (ids: readonly string[]) => Promise<Row[]>;
  readonly describe: (row: Row) => Description;
}

/** Hashes per statement, which keeps its URL far below the server's limit. */
const idsPerStatement = 20_000;

/** The ID of rows that refer to none. */
const noDescription = "0";

/** By hash. A hash that the store does not have yet is omitted, and looked up again the next time. */
async function lookUpCached<Row extends DescribingRow, Description extends object>(
  { cache }: TenantReader,
  { table, ids, read, describe }: Described<Row, Description>,
): Promise<ReadonlyMap<string, Description>> {
  const found = new Map<string, Description>();
  const missing: string[] = [];
  for (const id of ids) {
    if (id === noDescription) continue;
    // Entries under a table's name are always descriptions of that table.
    const known = cache.get(`${table} ${id}`) as Description | undefined;
    if (known === undefined) missing.push(id);
    else found.set(id, known);
  }
  const yielder = new CooperativeYield();
  for (let start = 0; start < missing.length; start += idsPerStatement) {
    for (const row of await read(missing.slice(start, start + idsPerStatement))) {
      const description = describe(row);
      found.set(row.id, description);
      cache.set(`${table} ${row.id}`, description, JSON.stringify(row).length);
      if (yielder.isDue()) await yielder.yield();
    }
  }
  return found;
}

function toResource(row: DescribingRow): Resource {
  return {
    attributes: toKeyValues({ names: row.attribute_names, values: row.attribute_values, kinds: row.attribute_types }),
    droppedAttributes: row.dropped_attributes,
    schemaUrl: row.schema_url,
  };
}
