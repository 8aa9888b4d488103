/** Telemetry is exported as OTLP page by page, and another server that receives the pages has the same telemetry. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { attributes, value } from "../packages/server/test/otlp/random-messages.ts";
import { startServer, untilTelemetryReady, type RunningServer } from "./support/running-server.ts";
import { beforeTests, useAll } from "./support/hooks.ts";

type Json = Readonly<Record<string, unknown>>;
type Signal = "traces" | "logs" | "metrics";

const nowNano = BigInt(Date.now()) * 1_000_000n;
/** Distinct times in the past hour, out of order. */
const timeOf = (index: number): string => String(nowNano - BigInt((index * 7919) % 3_600_000) * 1_000_000n);
const hex = (index: number, digits: number): string => (index + 1).toString(16).padStart(digits, "0");
const sample = <T>(arbitrary: fc.Arbitrary<T>, count: number): T[] =>
  fc.sample(arbitrary, { numRuns: count, seed: 18 });

/** Every kind of value. */
const everyKind = [
  { key: "text", value: { stringValue: "grüß 'dich'\n\t\\" } },
  { key: "integer", value: { intValue: "-9007199254740993" } },
  { key: "double", value: { doubleValue: 0.1 } },
  { key: "infinity", value: { doubleValue: "-Infinity" } },
  { key: "truth", value: { boolValue: true } },
  { key: "bytes", value: { bytesValue: "AAECAw==" } },
  { key: "list", value: { arrayValue: { values: [{ stringValue: "a" }, { intValue: "1" }] } } },
  { key: "map", value: { kvlistValue: { values: [{ key: "k", value: { boolValue: false } }] } } },
  { key: "empty", value: {} },
];
const resource = { attributes: [{ key: "service.name", value: { stringValue: "app" } }, ...everyKind] };
const scope = { name: "library", version: "1", attributes: everyKind };

const spans = [
  {
    traceId: hex(1, 32),
    spanId: hex(1, 16),
    traceState: "a=b",
    parentSpanId: hex(2, 16),
    flags: 257,
    name: "chat",
    kind: 3,
    startTimeUnixNano: timeOf(1),
    endTimeUnixNano: timeOf(0),
    attributes: [...everyKind, { key: "large", value: { stringValue: "x".repeat(3000) } }],
    droppedAttributesCount: 1,
    events: [{ timeUnixNano: timeOf(2), name: "event", attributes: everyKind, droppedAttributesCount: 2 }],
    droppedEventsCount: 3,
    links: [
      {
        traceId: hex(9, 32),
        spanId: hex(9, 16),
        traceState: "c=d",
        attributes: everyKind,
        droppedAttributesCount: 4,
        flags: 1,
      },
    ],
    droppedLinksCount: 5,
    status: { message: "broken", code: 2 },
  },
];
const logRecords = [
  {
    timeUnixNano: timeOf(3),
    observedTimeUnixNano: timeOf(2),
    severityNumber: 13,
    severityText: "0",
    body: { stringValue: "a line" },
    attributes: everyKind,
    droppedAttributesCount: 1,
    flags: 1,
    traceId: hex(3, 32),
    spanId: hex(3, 16),
    eventName: "an.event",
  },
  ...everyKind.map(({ value: body }, index) => ({
    timeUnixNano: timeOf(100 + index),
    observedTimeUnixNano: timeOf(100 + index),
    body,
  })),
];
const head = { attributes: everyKind, startTimeUnixNano: timeOf(3000), timeUnixNano: timeOf(10) };
const exemplars = [
  { filteredAttributes: everyKind, timeUnixNano: timeOf(20), asDouble: 4.5, spanId: hex(4, 16), traceId: hex(4, 32) },
];
const metrics = [
  {
    name: "gauge",
    description: "A gauge.",
    unit: "By",
    gauge: {
      dataPoints: [
        { ...head, asDouble: -2.5 },
        { ...head, timeUnixNano: timeOf(9), flags: 1 },
      ],
    },
  },
  {
    name: "nothing",
    gauge: {
      dataPoints: [
        { ...head, asDouble: "NaN" },
        { ...head, timeUnixNano: timeOf(9), asDouble: "Infinity" },
      ],
    },
  },
  {
    name: "sum",
    sum: { dataPoints: [{ ...head, asDouble: 7, exemplars }], aggregationTemporality: 2, isMonotonic: true },
  },
  { name: "delta", sum: { dataPoints: [{ ...head, asDouble: 7 }], aggregationTemporality: 1, isMonotonic: false } },
  {
    name: "histogram",
    histogram: {
      dataPoints: [
        {
          ...head,
          count: "6",
          sum: 9.5,
          bucketCounts: ["1", "2", "3"],
          explicitBounds: [0.5, 1],
          min: 0.1,
          max: 4,
          exemplars,
        },
      ],
      aggregationTemporality: 1,
    },
  },
  {
    name: "exponential",
    exponentialHistogram: {
      dataPoints: [
        {
          ...head,
          count: "9",
          sum: 1.5,
          scale: -2,
          zeroCount: "1",
          zeroThreshold: 0.001,
          positive: { offset: -3, bucketCounts: ["1", "2"] },
          negative: { offset: 4, bucketCounts: ["5"] },
          min: -9,
          max: 2,
        },
      ],
      aggregationTemporality: 2,
    },
  },
  {
    name: "summary",
    summary: {
      dataPoints: [
        {
          ...head,
          count: "3",
          sum: 6.5,
          quantileValues: [
            { quantile: 0.5, value: 2 },
            { quantile: 1, value: 3 },
          ],
        },
      ],
    },
  },
];

const requests: Readonly<Record<Signal, Json>> = {
  traces: {
    resourceSpans: [
      { resource, scopeSpans: [{ scope, spans, schemaUrl: "https://scope.test" }], schemaUrl: "https://resource.test" },
    ],
  },
  logs: {
    resourceLogs: [
      {
        resource,
        scopeLogs: [{ scope, logRecords, schemaUrl: "https://scope.test" }],
        schemaUrl: "https://resource.test",
      },
    ],
  },
  metrics: {
    resourceMetrics: [
      {
        resource,
        scopeMetrics: [{ scope, metrics, schemaUrl: "https://scope.test" }],
        schemaUrl: "https://resource.test",
      },
    ],
  },
};

/** Many records with random attributes, from several resources. */
function randomRequests(): Readonly<Record<Signal, Json>> {
  const lists = sample(attributes, 60);
  const bodies = sample(value, 60);
  const groups = <Item>(items: readonly Item[]): { resource: Json; items: readonly Item[] }[] =>
    [0, 1, 2].map((group) => ({
      resource: { attributes: [{ key: "service.name", value: { stringValue: `service ${group}` } }] },
      items: items.filter((_item, index) => index % 3 === group),
    }));
  const randomSpans = lists.map((each, index) => ({
    traceId: hex(Math.floor(index / 4), 32),
    spanId: hex(index, 16),
    name: `span ${index}`,
    // Several at the same time.
    startTimeUnixNano: timeOf(Math.floor(index / 5)),
    endTimeUnixNano: timeOf(0),
    attributes: each,
  }));
  const randomLogs = bodies.map((body, index) => ({
    timeUnixNano: timeOf(Math.floor(index / 5)),
    body,
    attributes: lists[index],
  }));
  const randomMetrics = lists.slice(0, 20).map((each, index) => ({
    name: `metric ${index % 4}`,
    sum: {
      dataPoints: [1, 2, 3].map((time) => ({
        attributes: [...each, { key: "index", value: { intValue: String(index) } }],
        timeUnixNano: timeOf(time),
        asDouble: index + time,
        exemplars: [{ timeUnixNano: timeOf(time), asDouble: time, traceId: hex(time, 32), spanId: hex(index, 16) }],
      })),
      aggregationTemporality: 2,
      isMonotonic: true,
    },
  }));
  return {
    traces: {
      resourceSpans: groups(randomSpans).map(({ items, ...rest }) => ({ ...rest, scopeSpans: [{ spans: items }] })),
    },
    logs: {
      resourceLogs: groups(randomLogs).map(({ items, ...rest }) => ({ ...rest, scopeLogs: [{ logRecords: items }] })),
    },
    metrics: {
      resourceMetrics: groups(randomMetrics).map(({ items, ...rest }) => ({
        ...rest,
        scopeMetrics: [{ metrics: items }],
      })),
    },
  };
}

async function send({ call }: RunningServer, signal: Signal, request: unknown, project: string): Promise<void> {
  const response = await call(`/v1/${signal}`, request, { "x-project": project });
  assert.deepEqual([response.status, await response.text()], [200, "{}"]);
}

/** Every page of an export. */
async function exportPages({ call }: RunningServer, fields: object): Promise<Json[]> {
  const lines: Json[] = [];
  let cursor: string | null = null;
  do {
    const response = await call("/observability/export", { ...fields, ...(cursor === null ? {} : { cursor }) });
    const text = await response.text();
    assert.equal(response.status, 200, text);
    assert.match(response.headers.get("content-type")!, /^application\/x-ndjson/);
    lines.push(
      ...text
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line) as Json),
    );
    cursor = response.headers.get("x-next-cursor");
  } while (cursor !== null);
  return lines;
}

const memberOf = {
  traces: ["resourceSpans", "scopeSpans", "spans"],
  logs: ["resourceLogs", "scopeLogs", "logRecords"],
  metrics: ["resourceMetrics", "scopeMetrics", "metrics"],
} as const;

/** Each record with its resource and scope, as sorted text; each data point is a record. */
function recordsOf(signal: Signal, lines: readonly Json[]): string[] {
  const [resources, scopes, records] = memberOf[signal];
  const list = (value: unknown): Json[] => (value ?? []) as Json[];
  return lines
    .flatMap((line) => list(line[resources]))
    .flatMap((group) =>
      list(group[scopes]).flatMap((ofScope) =>
        list(ofScope[records])
          .flatMap(pointsOf)
          .map((record) =>
            canonical({
              resource: group["resource"],
              resourceSchema: group["schemaUrl"],
              scope: ofScope["scope"] ?? {},
              scopeSchema: ofScope["schemaUrl"],
              record,
            }),
          ),
      ),
    )
    .toSorted();
}

function pointsOf(record: Json): Json[] {
  const kind = ["gauge", "sum", "histogram", "exponentialHistogram", "summary"].find((name) => name in record);
  if (kind === undefined) return [record];
  const { dataPoints, ...rest } = record[kind] as { dataPoints: readonly Json[] };
  return dataPoints.map((point) => ({ ...record, [kind]: { ...rest, point } }));
}

/** JSON with sorted members; the order of attributes means nothing. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) {
    const items = value.map(canonical);
    const isAttributes =
      value.length > 0 && value.every((each) => typeof each === "object" && each !== null && "key" in each);
    return `[${(isAttributes ? items.toSorted() : items).join(",")}]`;
  }
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "";
  const members = Object.entries(value)
    .filter(([, each]) => each !== undefined)
    .toSorted(([left], [right]) => (left < right ? -1 : 1));
  return `{${members.map(([name, each]) => `${JSON.stringify(name)}:${canonical(each)}`).join(",")}}`;
}

describe("an export", () => {
  let from: RunningServer;
  let to: RunningServer;
  beforeTests(async (stack) => {
    [from, to] = await useAll(stack, [startServer("", { telemetry: true }), startServer("", { telemetry: true })]);
    await Promise.all([untilTelemetryReady(from), untilTelemetryReady(to)]);
  });

  for (const signal of ["traces", "logs", "metrics"] as const) {
    test(`of ${signal} has what was sent`, async () => {
      await send(from, signal, requests[signal], "exact");
      // A second time, as a client does that got no response.
      await send(from, signal, requests[signal], "exact");
      const lines = await exportPages(from, { signal, project_name: "exact", limit: 2 });
      assert.deepEqual(recordsOf(signal, lines), recordsOf(signal, [requests[signal]]));
    });

    test(`of ${signal} can be sent to another server, which then exports the same`, async () => {
      await send(from, signal, randomRequests()[signal], "random");
      await send(from, signal, requests[signal], "another");
      const lines = await exportPages(from, { signal, project_name: "random", limit: 7 });
      for (const line of lines) await send(to, signal, line, "copy");
      const copied = await exportPages(to, { signal, project_name: "copy", limit: 10_000 });
      assert.ok(recordsOf(signal, lines).length >= 60);
      assert.deepEqual(recordsOf(signal, copied), recordsOf(signal, lines));
    });

    test(`of ${signal} is limited to its range`, async () => {
      const end = String(nowNano - 3_600_000_000_000n);
      assert.deepEqual(await exportPages(from, { signal, project_name: "exact", end, time_window: "1d" }), []);
    });
  }

  test("refuses cursors of other exports, and texts that are none", async () => {
    const first = await from.call("/observability/export", { signal: "logs", project_name: "random", limit: 1 });
    const cursor = first.headers.get("x-next-cursor")!;
    const forged = Buffer.from('["logs","random","0","1","x","y"]').toString("base64url");
    for (const [body, message] of [
      [{ signal: "traces", project_name: "random", cursor }, /cursor continues an export of logs/],
      [{ signal: "logs", project_name: "exact", cursor }, /of the project \\"random\\"/],
      [{ signal: "logs", project_name: "random", cursor: "?" }, /expected the x-next-cursor of a previous response/],
      [{ signal: "logs", project_name: "random", cursor: forged }, /expected the x-next-cursor of a previous response/],
    ] as const) {
      const response = await from.call("/observability/export", body);
      assert.equal(response.status, 400);
      assert.match(await response.text(), message);
    }
  });
});
