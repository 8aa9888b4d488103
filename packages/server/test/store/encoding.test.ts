import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { BlockWriter } from "../../src/store/block.ts";
import { distributionPoints, points, series } from "../../src/store/metric-tables.ts";
import { logs, scopes, spanDetails, spans } from "../../src/store/schema.ts";
import { callerOrganization, sql } from "../../src/store/statement.ts";
import { openTestStore, recentUnixNano, scopeOf, type TestStore } from "./test-store.ts";
import { beforeTests } from "../../../../test/support/hooks.ts";

let opened: TestStore;
beforeTests(async (stack) => {
  opened = stack.use(await openTestStore());
});

const anyText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 20 }),
  fc.string({ unit: "binary", minLength: 100, maxLength: 300 }),
  fc.constantFrom("", "\n\n; DROP TABLE logs", "a".repeat(127), "a".repeat(128), "é".repeat(64), "\0"),
);
const anyMap = fc.array(fc.tuple(anyText, anyText), { maxLength: 5 });
const uint64 = fc.bigInt(0n, 2n ** 64n - 1n);

let organizations = 0;
/** Each run has its own rows. */
function freshOrganization(): string {
  organizations += 1;
  return `org_run${organizations}`;
}

describe("rows are read back as they were written", () => {
  test("logs: texts, maps, numbers, times", async () => {
    const record = fc.record({
      body: anyText,
      attributes: anyMap,
      resource: uint64,
      flags: fc.nat(),
      severity: fc.integer({ min: 0, max: 24 }),
      offset: fc.bigInt(-1_000_000_000n, 1_000_000_000n),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(record, { minLength: 1, maxLength: 20 }), async (records) => {
        const organizationId = freshOrganization();
        const block = new BlockWriter(logs);
        for (const [index, each] of records.entries()) {
          const { columns } = block;
          columns.organization.text(organizationId);
          columns.time.bigint(recentUnixNano + each.offset);
          columns.record_id.unsigned(index);
          columns.level.unsigned(2);
          columns.severity_number.unsigned(each.severity);
          columns.flags.unsigned(each.flags);
          columns.body.text(each.body);
          for (const [key, value] of each.attributes) {
            columns.attributes.keys.text(key);
            columns.attributes.values.text(value);
          }
          columns.attributes.end();
          columns.resource_id.bigint(each.resource);
          columns.days.unsigned(30);
          block.endRow();
        }
        await opened.store.append({ organizationId, table: "logs", block: block.finish(), rowCount: records.length });
        const rows = await opened.store
          .open(scopeOf(organizationId))
          .query(
            sql`SELECT body, attributes, resource_id, flags, severity_number, level, toUnixTimestamp64Nano(time) AS time, project, trace_id FROM logs WHERE organization = ${callerOrganization} ORDER BY record_id`,
          );
        assert.deepEqual(
          rows,
          records.map((each) => ({
            body: each.body.toWellFormed(),
            attributes: each.attributes.map((pair) => pair.map((text) => text.toWellFormed())),
            resource_id: String(each.resource),
            flags: each.flags,
            severity_number: each.severity,
            level: "info",
            time: String(recentUnixNano + each.offset),
            project: "",
            trace_id: "",
          })),
        );
      }),
      { numRuns: 15 },
    );
  });

  test("lists of numbers and of maps", async () => {
    const organizationId = freshOrganization();
    const details = new BlockWriter(spanDetails);
    for (const [index, names] of [["a", "b"], [], ["c"]].entries()) {
      const { columns } = details;
      columns.organization.text(organizationId);
      columns.span_id.text(`s${index}`);
      columns.start_time.bigint(recentUnixNano);
      for (const name of names) {
        columns.event_names.items.text(name);
        columns.event_times.items.bigint(recentUnixNano);
        columns.event_attributes.items.keys.text("key");
        columns.event_attributes.items.values.text(name);
        columns.event_attributes.items.end();
      }
      columns.event_names.end();
      columns.event_times.end();
      columns.event_attributes.end();
      columns.days.unsigned(30);
      details.endRow();
    }
    await opened.store.append({ organizationId, table: "span_details", block: details.finish(), rowCount: 3 });
    const reader = opened.store.open(scopeOf(organizationId));
    assert.deepEqual(
      await reader.query(
        sql`SELECT event_names, event_attributes, length(event_times) AS times FROM span_details WHERE organization = ${callerOrganization} ORDER BY span_id`,
      ),
      [
        { event_names: ["a", "b"], event_attributes: [[["key", "a"]], [["key", "b"]]], times: "2" },
        { event_names: [], event_attributes: [], times: "0" },
        { event_names: ["c"], event_attributes: [[["key", "c"]]], times: "1" },
      ],
    );

    const distribution = new BlockWriter(distributionPoints);
    const { columns } = distribution;
    columns.organization.text(organizationId);
    columns.time.bigint(recentUnixNano);
    columns.sum.float(-0.5);
    columns.min.float(Number.NaN);
    for (const bound of [0.1, 5, Infinity]) columns.bounds.items.float(bound);
    columns.bounds.end();
    for (const count of [1n, 2n ** 63n, 3n]) columns.counts.items.bigint(count);
    columns.counts.end();
    columns.scale.signed(-3);
    columns.positive_offset.signed(2_147_483_647);
    columns.days.unsigned(30);
    distribution.endRow();
    await opened.store.append({
      organizationId,
      table: "distribution_points",
      block: distribution.finish(),
      rowCount: 1,
    });
    assert.deepEqual(
      await opened.store
        .open(scopeOf(organizationId))
        .query(
          sql`SELECT sum, min, bounds, counts, scale, positive_offset, quantiles FROM distribution_points WHERE organization = ${callerOrganization}`,
        ),
      [
        {
          sum: -0.5,
          min: "nan",
          bounds: [0.1, 5, "inf"],
          counts: ["1", "9223372036854775808", "3"],
          scale: -3,
          positive_offset: 2_147_483_647,
          quantiles: [],
        },
      ],
    );
  });

  test("bytes of a message without decoding them to text", async () => {
    const organizationId = freshOrganization();
    const source = Buffer.from("0a1b2c3d4e5f60718293a4b5c6d7e8f9", "hex");
    const nano = Buffer.alloc(8);
    nano.writeBigUInt64LE(recentUnixNano);
    const long = Buffer.from("ü".repeat(100));
    const block = new BlockWriter(spans);
    const { columns } = block;
    columns.organization.text(organizationId);
    columns.trace_id.hex(source, 0, 16);
    columns.span_id.hex(source, 8, 16);
    columns.name.bytes(long, 0, long.length);
    columns.status_message.bytes(Buffer.from("xshortx"), 1, 6);
    columns.start_time.copy(nano, 0);
    columns.input_tokens.unsigned(2 ** 53 - 1);
    columns.days.unsigned(30);
    block.endRow();
    await opened.store.append({ organizationId, table: "spans", block: block.finish(), rowCount: 1 });
    assert.deepEqual(
      await opened.store
        .open(scopeOf(organizationId))
        .query(
          sql`SELECT trace_id, span_id, name, status_message, toUnixTimestamp64Nano(start_time) AS start, input_tokens FROM spans WHERE organization = ${callerOrganization}`,
        ),
      [
        {
          trace_id: "0a1b2c3d4e5f60718293a4b5c6d7e8f9",
          span_id: "8293a4b5c6d7e8f9",
          name: "ü".repeat(100),
          status_message: "short",
          start: String(recentUnixNano),
          input_tokens: "9007199254740991",
        },
      ],
    );
  });

  test("a column written twice for a row is an internal error, and nothing is stored", () => {
    const block = new BlockWriter(points);
    block.columns.value.float(1);
    block.columns.value.float(2);
    block.endRow();
    assert.throws(() => block.finish(), /column value has 2 values for 1 rows/);
  });
});

describe("rows that describe resources and scopes", () => {
  test("are known once they are durable, to their organization", async () => {
    const { store } = opened;
    const block = new BlockWriter(scopes);
    block.columns.organization.text("org_scopes");
    block.columns.scope_id.bigint(7n);
    block.columns.name.text("library");
    block.columns.seen.unsigned(Math.floor(Date.now() / 1000));
    block.columns.days.unsigned(30);
    block.endRow();
    assert.equal(store.isKnown("scopes", "org_scopes", 7n), false);
    await store.append({
      organizationId: "org_scopes",
      table: "scopes",
      block: block.finish(),
      rowCount: 1,
      identities: [7n],
    });
    assert.equal(store.isKnown("scopes", "org_scopes", 7n), true);
    assert.equal(store.isKnown("scopes", "org_other", 7n), false);
    assert.equal(store.isKnown("resources", "org_scopes", 7n), false);
  });

  test("keep the newest description", async () => {
    const now = Math.floor(Date.now() / 1000);
    for (const [description, seen] of [
      ["old", now - 5],
      ["new", now],
    ] as const) {
      const block = new BlockWriter(series);
      block.columns.organization.text("org_series");
      block.columns.metric.text("requests");
      block.columns.series_id.bigint(1n);
      block.columns.type.unsigned(2);
      block.columns.temporality.unsigned(1);
      block.columns.description.text(description);
      block.columns.seen.unsigned(seen);
      block.columns.days.unsigned(30);
      block.endRow();
      await opened.store.append({
        organizationId: "org_series",
        table: "series",
        block: block.finish(),
        rowCount: 1,
        identities: [1n],
      });
    }
    assert.deepEqual(
      await opened.store
        .open(scopeOf("org_series"))
        .query(sql`SELECT description, type, temporality FROM series WHERE organization = ${callerOrganization}`),
      [{ description: "new", type: "sum", temporality: "delta" }],
    );
  });
});
