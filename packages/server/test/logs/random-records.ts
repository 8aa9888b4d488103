/** Random log records, and what LogQL sees of each: computed here once more, row by row, to compare the store's answers with. */
import type { Attributes, LogRecord, LogResource, LogScope } from "./log-records.ts";

export interface ExpectedEntry {
  readonly unixNano: bigint;
  readonly recordId: bigint;
  readonly line: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly metadata: Readonly<Record<string, string>>;
}

/** Numbers from a linear congruential generator: the same in each run. */
export function randomNumbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

const resources: readonly LogResource[] = [
  { id: 11n, attributes: { "service.name": "checkout", "k8s.pod.name": "pod-a", "host.name": "one" } },
  {
    id: 12n,
    attributes: { "service.name": "checkout", "k8s.pod.name": "pod-b", "process.pid": { kind: "integer", text: "7" } },
  },
  // Differs from the first in what is no stream label.
  { id: 13n, attributes: { "service.name": "checkout", "k8s.pod.name": "pod-a", "host.name": "two" } },
  { id: 14n, attributes: { job: "sync", level: "LOUD", "service.name": "dotted" }, isPushed: true },
  { id: 15n, attributes: { "cloud.region": 'it\'s \\ "here"\n{x}', "k8s.pod.name": "" } },
];

const scopes: readonly LogScope[] = [
  { id: 21n, name: "library", version: "1.0", attributes: { "scope.kind": "http" } },
  { id: 22n, name: "", version: "" },
];

const lines = [
  "connection refused by 10.0.0.7:443",
  "GET /index.html 200 12ms",
  "",
  "Ünïcode needle ☃ and 'quotes' \\ backslash",
  "first line\nsecond line with NEEDLE",
  "needle",
  '{"level":"warn","message":"needle in JSON"}',
  "100% of a_b matched [x](y) ^$",
  "tab\there",
];

const list = JSON.stringify({ arrayValue: { values: [{ stringValue: 'say "needle"' }, { intValue: "5" }] } });
const map = JSON.stringify({ kvlistValue: { values: [{ key: "why", value: { stringValue: "needle\n" } }] } });

const attributes: readonly Attributes[] = [
  {},
  { "http.method": "GET", "http.status": { kind: "integer", text: "200" } },
  { "http.method": "POST", "2xx": "yes", http_method: "twice" },
  {
    nested: {
      kind: "map",
      text: JSON.stringify({ kvlistValue: { values: [{ key: "a.b", value: { intValue: "3" } }] } }),
    },
  },
  { tags: { kind: "array", text: list }, empty: "" },
  { trace_id: "from-attribute", user: "it's\\" },
];

export function randomRecords(count: number, endUnixNano: bigint, seed = 7): LogRecord[] {
  const random = randomNumbers(seed);
  const pick = <Item>(items: readonly Item[]): Item => items[random(items.length)]!;
  return Array.from({ length: count }, (_, index) => {
    const resource = pick([undefined, ...resources]);
    const scope = pick([undefined, ...scopes]);
    const kind = random(12);
    return {
      // Some share their nanosecond, and some are at the edges of minutes.
      unixNano:
        endUnixNano - (random(4) === 0 ? BigInt(random(60)) * 60_000_000_000n : BigInt(random(3_600_000)) * 1_000_000n),
      recordId: BigInt(index + 1) * 7_919_000_000_007n,
      project: pick(["default", "other"]),
      service: pick(["checkout", "", "cart's"]),
      severityNumber: pick([0, 0, 3, 7, 9, 13, 17, 21, 24]),
      severityText: pick(["", "ERROR", "Info"]),
      body: kind === 0 ? { kind: "array", text: list } : kind === 1 ? { kind: "map", text: map } : pick(lines),
      eventName: pick(["", "needle.event", "app.start"]),
      traceId: pick(["", "0af7651916cd43dd8448eb211c80319c"]),
      spanId: pick(["", "b7ad6b7169203331"]),
      attributes: pick(attributes),
      ...(resource === undefined ? {} : { resource }),
      ...(scope === undefined ? {} : { scope }),
    };
  });
}

const levelWords = ["trace", "debug", "info", "warn", "error", "fatal"];

function levelWord({ severityNumber = 0, severityText = "" }: LogRecord): string {
  if (severityNumber > 0) return levelWords[Math.ceil(severityNumber / 4) - 1]!;
  if (severityText === "") return "unknown";
  return severityText === "ERROR" ? "error" : "info";
}

function lineOf({ body = "", eventName = "" }: LogRecord): string {
  if (body === "") return eventName;
  if (typeof body === "string") return body;
  return body.kind === "array" ? '["say \\"needle\\"","5"]' : '{"why":"needle\\n"}';
}

const resourceLabels: Readonly<Record<string, string>> = {
  "k8s.pod.name": "k8s_pod_name",
  "cloud.region": "cloud_region",
};

function labelsOf(record: LogRecord): Record<string, string> {
  const { project = "default", resource, service = "" } = record;
  const labels: Record<string, string> = { level: levelWord(record) };
  for (const [name, value] of Object.entries(resource?.attributes ?? {})) {
    // The service has a column.
    const label = resource?.isPushed === true && name !== "service.name" ? name : resourceLabels[name];
    if (label !== undefined && value !== "") labels[label] = value as string;
  }
  return {
    ...labels,
    detected_level: levelWord(record),
    service_name: service === "" ? "unknown_service" : service,
    project_name: project,
  };
}

function metadataOf(record: LogRecord): Record<string, string> {
  const {
    attributes: own = {},
    eventName = "",
    resource,
    scope,
    severityText = "",
    spanId = "",
    traceId = "",
  } = record;
  const metadata: Record<string, string> = {};
  if (resource?.attributes["host.name"] !== undefined)
    metadata["host_name"] = resource.attributes["host.name"] as string;
  if (resource?.attributes["process.pid"] !== undefined) metadata["process_pid"] = "7";
  if (scope?.name === "library")
    Object.assign(metadata, { scope_kind: "http", scope_name: "library", scope_version: "1.0" });
  if (own["http.method"] === "GET") Object.assign(metadata, { http_method: "GET", http_status: "200" });
  if (own["http.method"] === "POST") Object.assign(metadata, { http_method: "twice", key_2xx: "yes" });
  if (own["nested"] !== undefined) metadata["nested_a_b"] = "3";
  if (own["tags"] !== undefined) metadata["tags"] = '["say \\"needle\\"",5]';
  if (own["user"] !== undefined) Object.assign(metadata, { user: "it's\\", trace_id: "from-attribute" });
  for (const [name, value] of Object.entries({
    severity_text: severityText,
    event_name: eventName,
    trace_id: traceId,
    span_id: spanId,
  })) {
    if (value !== "") metadata[name] = value;
  }
  return metadata;
}

export function expectedEntry(record: LogRecord): ExpectedEntry {
  const { recordId, unixNano } = record;
  return { unixNano, recordId, line: lineOf(record), labels: labelsOf(record), metadata: metadataOf(record) };
}

/** In the order of a query that reads forward. */
export function expectedEntries(records: readonly LogRecord[]): ExpectedEntry[] {
  return records
    .toSorted((left, right) => Number(left.unixNano - right.unixNano || left.recordId - right.recordId))
    .map(expectedEntry);
}
