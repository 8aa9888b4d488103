/** Sends a request in both encodings and compares what was stored with what was sent. */
import assert from "node:assert/strict";
import type { SignalName } from "../../src/telemetry/otlp/signals.ts";
import type { BlockRow } from "./block-reader.ts";
import { ingestFixture } from "./ingest-fixture.ts";
import { encode } from "./oracle.ts";
import * as random from "./random-messages.ts";

/** Protobufjs' objects have IDs in base64; OTLP/JSON has them as hex digits. */
export function toOtlpJson(message: unknown): unknown {
  if (Array.isArray(message)) return message.map(toOtlpJson);
  if (typeof message !== "object" || message === null) return message;
  return Object.fromEntries(
    Object.entries(message).map(([key, value]) => [
      key,
      ["traceId", "spanId", "parentSpanId"].includes(key) ? random.hexOf(value as string) : toOtlpJson(value),
    ]),
  );
}

/** Sends the request as protobuf and as JSON; both must produce the same rows, which are returned by table. */
export async function rowsOf(signal: SignalName, type: string, request: object): Promise<Record<string, BlockRow[]>> {
  const tables = [
    "spans",
    "span_details",
    "logs",
    "series",
    "points",
    "distribution_points",
    "exemplars",
    "resources",
    "scopes",
  ] as const;
  const asProtobuf = ingestFixture();
  const asJson = ingestFixture();
  const outcome = await asProtobuf.send(signal, encode(type, request));
  assert.equal(outcome.rejected, 0, outcome.message);
  await asJson.sendJson(signal, toOtlpJson(request));
  const read = (fixture: typeof asJson) =>
    Object.fromEntries(tables.map((table) => [table, fixture.store.rows(table)]));
  const rows = read(asProtobuf);
  // Empty values are absent on the wire of protobuf and present in JSON: the log record's hash sees the difference.
  const withoutHash = ({ record_id: _hash, ...row }: BlockRow): BlockRow => row;
  const comparable = (all: Record<string, BlockRow[]>) => ({ ...all, logs: all["logs"]!.map(withoutHash) });
  assert.deepEqual(comparable(read(asJson)), comparable(rows));
  return rows;
}

export function pick(row: BlockRow, names: readonly string[]): BlockRow {
  return Object.fromEntries(names.map((name) => [name, row[name]]));
}

interface SentGroups {
  readonly resource: { readonly attributes: readonly random.Attribute[]; readonly droppedAttributesCount: number };
  readonly scope: {
    readonly name: string;
    readonly version: string;
    readonly attributes: readonly random.Attribute[];
    readonly droppedAttributesCount: number;
  };
  readonly schemaUrl: string;
}

/** Returns the one resource and the one scope of a request, and checks that the row refers to them. */
export function checkGroups(rows: Record<string, BlockRow[]>, sent: SentGroups, row: BlockRow): void {
  const resource = random.storedAttributes(sent.resource.attributes);
  const [resourceRow, ...otherResources] = rows["resources"]!;
  assert.deepEqual(otherResources, []);
  assert.deepEqual(
    pick(resourceRow!, ["attributes", "attribute_types", "schema_url", "dropped_attributes", "resource_id"]),
    {
      attributes: resource.map,
      attribute_types: resource.types,
      schema_url: sent.schemaUrl,
      dropped_attributes: sent.resource.droppedAttributesCount,
      resource_id: row["resource_id"],
    },
  );
  const scope = random.storedAttributes(sent.scope.attributes);
  const [scopeRow, ...otherScopes] = rows["scopes"]!;
  assert.deepEqual(otherScopes, []);
  assert.deepEqual(
    pick(scopeRow!, [
      "name",
      "version",
      "attributes",
      "attribute_types",
      "schema_url",
      "dropped_attributes",
      "scope_id",
    ]),
    {
      name: sent.scope.name,
      version: sent.scope.version,
      attributes: scope.map,
      attribute_types: scope.types,
      schema_url: sent.schemaUrl,
      dropped_attributes: sent.scope.droppedAttributesCount,
      scope_id: row["scope_id"],
    },
  );
}
