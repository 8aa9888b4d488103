/** Rows checked with an independent encoder: what protobufjs writes, and the same as JSON, is stored unchanged. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { propertyRuns } from "../../../../test/support/property-runs.ts";
import { largeAttributeBytes } from "../../src/store/schema.ts";
import type { BlockRow } from "./block-reader.ts";
import { checkGroups, pick, rowsOf } from "./sent-and-stored.ts";
import { encode } from "./oracle.ts";
import * as random from "./random-messages.ts";

const runs = { numRuns: propertyRuns(150) };

function isLarge({ value }: random.Attribute): boolean {
  return value !== undefined && encode("AnyValue", value).length > largeAttributeBytes;
}

const event = fc.record({
  timeUnixNano: random.time,
  name: random.name,
  attributes: random.attributes,
  droppedAttributesCount: random.uint32,
});
const link = fc.record({
  traceId: random.id(16),
  spanId: random.id(8),
  traceState: random.name,
  attributes: random.attributes,
  droppedAttributesCount: random.uint32,
  flags: random.uint32,
});
const span = fc.record({
  traceId: random.id(16),
  spanId: random.id(8),
  parentSpanId: fc.oneof(fc.constant(""), random.id(8)),
  traceState: random.name,
  flags: random.uint32,
  name: random.name,
  kind: fc.integer({ min: 0, max: 5 }),
  startTimeUnixNano: random.time,
  endTimeUnixNano: random.time,
  attributes: random.attributes,
  droppedAttributesCount: random.uint32,
  events: fc.array(event, { maxLength: 3 }),
  droppedEventsCount: random.uint32,
  links: fc.array(link, { maxLength: 3 }),
  droppedLinksCount: random.uint32,
  status: fc.record({ message: random.name, code: fc.integer({ min: 0, max: 2 }) }),
});

describe("a span", () => {
  const requests = fc.record({
    resource: random.resource,
    scope: random.scope,
    schemaUrl: random.name,
    spans: fc.array(span, { minLength: 1, maxLength: 4 }),
  });

  test("from protobuf and from JSON keeps every value", async () => {
    await fc.assert(
      fc.asyncProperty(requests, async ({ resource, scope, schemaUrl, spans }) => {
        const rows = await rowsOf("traces", "ExportTraceServiceRequest", {
          resourceSpans: [{ resource, schemaUrl, scopeSpans: [{ scope, schemaUrl, spans }] }],
        });
        assert.equal(rows["spans"]!.length, spans.length);
        for (const [index, sent] of spans.entries()) checkSpan(rows["spans"]![index]!, sent);
        const detailed = spans.filter((each) => hasDetails(each));
        assert.equal(rows["span_details"]!.length, detailed.length);
        for (const [index, sent] of detailed.entries()) checkDetails(rows["span_details"]![index]!, sent);
        checkGroups(rows, { resource, scope, schemaUrl }, rows["spans"]![0]!);
      }),
      runs,
    );
  });

  type Sent = typeof span extends fc.Arbitrary<infer T> ? T : never;

  function hasDetails(sent: Sent): boolean {
    return (
      sent.attributes.some(isLarge) ||
      sent.events.length > 0 ||
      sent.links.length > 0 ||
      sent.droppedAttributesCount + sent.droppedEventsCount + sent.droppedLinksCount > 0
    );
  }

  function checkSpan(row: BlockRow, sent: Sent): void {
    const small = random.storedAttributes(sent.attributes.filter((each) => !isLarge(each)));
    const find = (key: string): string =>
      random.stored(sent.attributes.find((each) => each.key === key && hasContent(each))?.value)[1];
    assert.deepEqual(
      pick(row, [
        "organization",
        "project",
        "trace_id",
        "span_id",
        "parent_span_id",
        "trace_state",
        "flags",
        "name",
        "kind",
        "start_time",
        "end_time",
        "status_code",
        "status_message",
        "attributes",
        "attribute_types",
        "has_details",
        "days",
        "error_type",
        "request_model",
      ]),
      {
        organization: "org_test",
        project: "default",
        trace_id: random.hexOf(sent.traceId),
        span_id: random.hexOf(sent.spanId),
        parent_span_id: random.hexOf(sent.parentSpanId),
        trace_state: sent.traceState,
        flags: sent.flags,
        name: sent.name,
        kind: sent.kind,
        start_time: BigInt(sent.startTimeUnixNano),
        end_time: BigInt(sent.endTimeUnixNano),
        status_code: sent.status.code,
        status_message: sent.status.message,
        attributes: small.map,
        attribute_types: small.types,
        has_details: hasDetails(sent) ? 1 : 0,
        days: 30,
        error_type: find("error.type"),
        request_model: find("gen_ai.request.model"),
      },
    );
  }

  function checkDetails(row: BlockRow, sent: Sent): void {
    const large = random.storedAttributes(sent.attributes.filter(isLarge));
    const eventAttributes = sent.events.map((each) => random.storedAttributes(each.attributes));
    const linkAttributes = sent.links.map((each) => random.storedAttributes(each.attributes));
    assert.deepEqual(row, {
      organization: "org_test",
      project: "default",
      trace_id: random.hexOf(sent.traceId),
      span_id: random.hexOf(sent.spanId),
      start_time: BigInt(sent.startTimeUnixNano),
      attributes: large.map,
      attribute_types: large.types,
      event_times: sent.events.map((each) => BigInt(each.timeUnixNano)),
      event_names: sent.events.map((each) => each.name),
      event_attributes: eventAttributes.map((each) => each.map),
      event_attribute_types: eventAttributes.map((each) => each.types),
      event_dropped_attributes: sent.events.map((each) => each.droppedAttributesCount),
      link_trace_ids: sent.links.map((each) => random.hexOf(each.traceId)),
      link_span_ids: sent.links.map((each) => random.hexOf(each.spanId)),
      link_trace_states: sent.links.map((each) => each.traceState),
      link_flags: sent.links.map((each) => each.flags),
      link_attributes: linkAttributes.map((each) => each.map),
      link_attribute_types: linkAttributes.map((each) => each.types),
      link_dropped_attributes: sent.links.map((each) => each.droppedAttributesCount),
      dropped_attributes: sent.droppedAttributesCount,
      dropped_events: sent.droppedEventsCount,
      dropped_links: sent.droppedLinksCount,
      days: 30,
    });
  }
});

describe("a log record", () => {
  const record = fc.record({
    timeUnixNano: random.time,
    observedTimeUnixNano: random.time,
    severityNumber: fc.integer({ min: 1, max: 24 }),
    severityText: random.name,
    body: random.value,
    attributes: random.attributes,
    droppedAttributesCount: random.uint32,
    flags: random.uint32,
    traceId: fc.oneof(fc.constant(""), random.id(16)),
    spanId: fc.oneof(fc.constant(""), random.id(8)),
    eventName: random.name,
  });
  const requests = fc.record({
    resource: random.resource,
    scope: random.scope,
    schemaUrl: random.name,
    logRecords: fc.array(record, { minLength: 1, maxLength: 4 }),
  });

  test("from protobuf and from JSON keeps every value", async () => {
    await fc.assert(
      fc.asyncProperty(requests, async ({ resource, scope, schemaUrl, logRecords }) => {
        const rows = await rowsOf("logs", "ExportLogsServiceRequest", {
          resourceLogs: [{ resource, schemaUrl, scopeLogs: [{ scope, schemaUrl, logRecords }] }],
        });
        for (const [index, sent] of logRecords.entries()) {
          const { resource_id: _r, scope_id: _s, record_id: _i, service: _n, ...row } = rows["logs"]![index]!;
          const attributes = random.storedAttributes(sent.attributes);
          const [bodyType, body] = random.stored(sent.body);
          assert.deepEqual(row, {
            organization: "org_test",
            project: "default",
            time: BigInt(sent.timeUnixNano),
            observed_time: BigInt(sent.observedTimeUnixNano),
            level: sent.severityNumber <= 8 ? 1 : sent.severityNumber <= 12 ? 2 : sent.severityNumber <= 16 ? 3 : 4,
            severity_number: sent.severityNumber,
            severity_text: sent.severityText,
            trace_id: random.hexOf(sent.traceId),
            span_id: random.hexOf(sent.spanId),
            flags: sent.flags,
            event_name: sent.eventName,
            body,
            body_type: bodyType,
            attributes: attributes.map,
            attribute_types: attributes.types,
            dropped_attributes: sent.droppedAttributesCount,
            days: 30,
          });
        }
        const ids = rows["logs"]!.map((row) => row["record_id"]);
        assert.equal(new Set(ids).size, ids.length);
        checkGroups(rows, { resource, scope, schemaUrl }, rows["logs"]![0]!);
      }),
      runs,
    );
  });
});

/** The first attribute of a name that has a value. */
function hasContent({ value }: random.Attribute): boolean {
  return value !== undefined && Object.keys(value).length > 0;
}
