/** Small requests of each signal, in protobufjs' object form. */

/** The current time, as tests over HTTP use it. */
export function presentNano(): string {
  return String(BigInt(Date.now()) * 1_000_000n);
}

export function spanRequest(changes: object = {}, resource: object = {}): object {
  const span = {
    traceId: Buffer.alloc(16, 1).toString("base64"),
    spanId: Buffer.alloc(8, 2).toString("base64"),
    name: "chat",
    startTimeUnixNano: presentNano(),
    endTimeUnixNano: presentNano(),
    ...changes,
  };
  return { resourceSpans: [{ resource, scopeSpans: [{ spans: [span] }] }] };
}

export function logRequest(changes: object = {}, resource: object = {}): object {
  const record = { timeUnixNano: presentNano(), severityNumber: 9, body: { stringValue: "hello" }, ...changes };
  return { resourceLogs: [{ resource, scopeLogs: [{ logRecords: [record] }] }] };
}

export function metricRequest(point: object = {}, resource: object = {}): object {
  const dataPoints = [{ timeUnixNano: presentNano(), asInt: 1, ...point }];
  return {
    resourceMetrics: [{ resource, scopeMetrics: [{ metrics: [{ name: "requests", gauge: { dataPoints } }] }] }],
  };
}

export function attribute(key: string, stringValue: string): object {
  return { key, value: { stringValue } };
}
