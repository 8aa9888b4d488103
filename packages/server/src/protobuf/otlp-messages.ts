/**
 * Defines the messages of OTLP 1.11.
 * https://github.com/open-telemetry/opentelemetry-proto/tree/v1.11.0/opentelemetry/proto
 */
import { message, MessageType } from "./message-type.ts";

/** `string_value_strindex` (8) and `key_strindex` belong to profiles; elsewhere they count as absent. */
export const anyValue = new MessageType("AnyValue", {
  stringValue: 1,
  boolValue: 2,
  intValue: 3,
  doubleValue: 4,
  arrayValue: 5,
  kvlistValue: 6,
  bytesValue: 7,
});
export const keyValue = message("KeyValue", { key: [1, "string"], value: [2, anyValue] });
export const arrayValue = message("ArrayValue", { values: [1, anyValue, "repeated"] });
export const keyValueList = message("KeyValueList", { values: [1, keyValue, "repeated"] });
anyValue.define({
  stringValue: ["string"],
  boolValue: ["bool"],
  intValue: ["int64"],
  doubleValue: ["double"],
  arrayValue: [arrayValue],
  kvlistValue: [keyValueList],
  bytesValue: ["bytes"],
});

export const resource = message("Resource", {
  attributes: [1, keyValue, "repeated"],
  droppedAttributesCount: [2, "uint32"],
});

export const scope = message("InstrumentationScope", {
  name: [1, "string"],
  version: [2, "string"],
  attributes: [3, keyValue, "repeated"],
  droppedAttributesCount: [4, "uint32"],
});

/** Field numbers of a request and its two levels of grouping, the same for every signal. */
export const exportFields = {
  request: { resourceGroups: 1 },
  resourceGroup: { resource: 1, scopeGroups: 2, schemaUrl: 3 },
  scopeGroup: { scope: 1, records: 2, schemaUrl: 3 },
} as const;

/** A signal's request and its two levels of grouping. */
function exportRequest(
  request: string,
  group: { resources: string; scopes: string; records: string },
  record: MessageType,
) {
  const numbers = exportFields;
  const scopeGroup = message(`Scope${capitalized(group.records)}`, {
    scope: [numbers.scopeGroup.scope, scope],
    [group.records]: [numbers.scopeGroup.records, record, "repeated"],
    schemaUrl: [numbers.scopeGroup.schemaUrl, "string"],
  });
  const resourceGroup = message(capitalized(group.resources), {
    resource: [numbers.resourceGroup.resource, resource],
    [group.scopes]: [numbers.resourceGroup.scopeGroups, scopeGroup, "repeated"],
    schemaUrl: [numbers.resourceGroup.schemaUrl, "string"],
  });
  return {
    request: message(request, { [group.resources]: [numbers.request.resourceGroups, resourceGroup, "repeated"] }),
    resourceGroup,
    scopeGroup,
    record,
  };
}

function capitalized(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

const event = message("Span.Event", {
  timeUnixNano: [1, "fixed64"],
  name: [2, "string"],
  attributes: [3, keyValue, "repeated"],
  droppedAttributesCount: [4, "uint32"],
});

const link = message("Span.Link", {
  traceId: [1, "id"],
  spanId: [2, "id"],
  traceState: [3, "string"],
  attributes: [4, keyValue, "repeated"],
  droppedAttributesCount: [5, "uint32"],
  flags: [6, "fixed32"],
});

const status = message("Status", { message: [2, "string"], code: [3, "enum"] });

export const span = message("Span", {
  traceId: [1, "id"],
  spanId: [2, "id"],
  traceState: [3, "string"],
  parentSpanId: [4, "id"],
  name: [5, "string"],
  kind: [6, "enum"],
  startTimeUnixNano: [7, "fixed64"],
  endTimeUnixNano: [8, "fixed64"],
  attributes: [9, keyValue, "repeated"],
  droppedAttributesCount: [10, "uint32"],
  events: [11, event, "repeated"],
  droppedEventsCount: [12, "uint32"],
  links: [13, link, "repeated"],
  droppedLinksCount: [14, "uint32"],
  status: [15, status],
  flags: [16, "fixed32"],
});
export const spanParts = { event, link, status };

export const logRecord = message("LogRecord", {
  timeUnixNano: [1, "fixed64"],
  severityNumber: [2, "enum"],
  severityText: [3, "string"],
  body: [5, anyValue],
  attributes: [6, keyValue, "repeated"],
  droppedAttributesCount: [7, "uint32"],
  flags: [8, "fixed32"],
  traceId: [9, "id"],
  spanId: [10, "id"],
  observedTimeUnixNano: [11, "fixed64"],
  eventName: [12, "string"],
});

const exemplar = message("Exemplar", {
  timeUnixNano: [2, "fixed64"],
  asDouble: [3, "double"],
  spanId: [4, "id"],
  traceId: [5, "id"],
  asInt: [6, "sfixed64"],
  filteredAttributes: [7, keyValue, "repeated"],
});

const numberPoint = message("NumberDataPoint", {
  startTimeUnixNano: [2, "fixed64"],
  timeUnixNano: [3, "fixed64"],
  asDouble: [4, "double"],
  exemplars: [5, exemplar, "repeated"],
  asInt: [6, "sfixed64"],
  attributes: [7, keyValue, "repeated"],
  flags: [8, "uint32"],
});

const histogramPoint = message("HistogramDataPoint", {
  startTimeUnixNano: [2, "fixed64"],
  timeUnixNano: [3, "fixed64"],
  count: [4, "fixed64"],
  sum: [5, "double"],
  bucketCounts: [6, "fixed64", "repeated"],
  explicitBounds: [7, "double", "repeated"],
  exemplars: [8, exemplar, "repeated"],
  attributes: [9, keyValue, "repeated"],
  flags: [10, "uint32"],
  min: [11, "double"],
  max: [12, "double"],
});

const buckets = message("ExponentialHistogramDataPoint.Buckets", {
  offset: [1, "sint32"],
  bucketCounts: [2, "uint64", "repeated"],
});

const exponentialPoint = message("ExponentialHistogramDataPoint", {
  attributes: [1, keyValue, "repeated"],
  startTimeUnixNano: [2, "fixed64"],
  timeUnixNano: [3, "fixed64"],
  count: [4, "fixed64"],
  sum: [5, "double"],
  scale: [6, "sint32"],
  zeroCount: [7, "fixed64"],
  positive: [8, buckets],
  negative: [9, buckets],
  flags: [10, "uint32"],
  exemplars: [11, exemplar, "repeated"],
  min: [12, "double"],
  max: [13, "double"],
  zeroThreshold: [14, "double"],
});

const valueAtQuantile = message("SummaryDataPoint.ValueAtQuantile", { quantile: [1, "double"], value: [2, "double"] });

const summaryPoint = message("SummaryDataPoint", {
  startTimeUnixNano: [2, "fixed64"],
  timeUnixNano: [3, "fixed64"],
  count: [4, "fixed64"],
  sum: [5, "double"],
  quantileValues: [6, valueAtQuantile, "repeated"],
  attributes: [7, keyValue, "repeated"],
  flags: [8, "uint32"],
});

/** The data of each kind of metric. Gauges and summaries have no temporality; only sums can be monotonic. */
function metricData(name: string, point: MessageType) {
  return message(name, {
    dataPoints: [1, point, "repeated"],
    aggregationTemporality: [2, "enum"],
    isMonotonic: [3, "bool"],
  });
}

export const metric = message("Metric", {
  name: [1, "string"],
  description: [2, "string"],
  unit: [3, "string"],
  gauge: [5, metricData("Gauge", numberPoint)],
  sum: [7, metricData("Sum", numberPoint)],
  histogram: [9, metricData("Histogram", histogramPoint)],
  exponentialHistogram: [10, metricData("ExponentialHistogram", exponentialPoint)],
  summary: [11, metricData("Summary", summaryPoint)],
});
export const metricParts = {
  data: metricData("Sum", numberPoint),
  numberPoint,
  histogramPoint,
  exponentialPoint,
  buckets,
  summaryPoint,
  valueAtQuantile,
  exemplar,
};

export const traceExport = exportRequest(
  "ExportTraceServiceRequest",
  { resources: "resourceSpans", scopes: "scopeSpans", records: "spans" },
  span,
);
export const logExport = exportRequest(
  "ExportLogsServiceRequest",
  { resources: "resourceLogs", scopes: "scopeLogs", records: "logRecords" },
  logRecord,
);
export const metricExport = exportRequest(
  "ExportMetricsServiceRequest",
  { resources: "resourceMetrics", scopes: "scopeMetrics", records: "metrics" },
  metric,
);
