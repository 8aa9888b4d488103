/** Telemetry for the console's benchmark, sent as an SDK would: one large trace, many log records. */
import { randomBytes } from "node:crypto";

interface Target {
  readonly url: string;
  readonly key: string;
}

const services = ["web", "orders", "payments", "retrieval", "agent", "gateway"];

/** Sends one trace and returns its ID. Each span has up to four children. */
export async function sendLargeTrace(target: Target, spanCount: number): Promise<string> {
  const traceId = randomBytes(16).toString("hex");
  const ids = Array.from({ length: spanCount }, () => randomBytes(8).toString("hex"));
  const startMs = Date.now() - 60_000;
  const spans = ids.map((spanId, index) => {
    const parent = Math.floor((index - 1) / 4);
    const depth = Math.floor(Math.log(index * 3 + 1) / Math.log(4));
    const start = startMs + (index / spanCount) * 20_000 + depth;
    const end = Math.max(start + 1, startMs + 30_000 - (index / spanCount) * 9_000 - depth);
    return {
      traceId,
      spanId,
      ...(index === 0 ? {} : { parentSpanId: ids[parent] }),
      name: `operation ${index % 97}`,
      kind: 1,
      startTimeUnixNano: nanoseconds(start),
      endTimeUnixNano: nanoseconds(end),
      attributes: [{ key: "item.index", value: { intValue: String(index) } }],
      ...(index % 211 === 210 ? { status: { code: 2, message: "out of stock" } } : {}),
    };
  });
  const resourceSpans = services.map((service, position) => ({
    resource: { attributes: [{ key: "service.name", value: { stringValue: service } }] },
    scopeSpans: [{ spans: spans.filter((_, index) => index % services.length === position) }],
  }));
  await send(target, "v1/traces", { resourceSpans });
  return traceId;
}

/** Sends log records of the last hour, in requests of 5,000. */
export async function sendLogs(
  target: Target,
  count: number,
  { fromMs = Date.now() - 3_500_000, lengthMs = 3_400_000, name = "request" } = {},
): Promise<void> {
  const severities = [5, 9, 9, 9, 13, 17];
  for (let first = 0; first < count; first += 5_000) {
    const size = Math.min(5_000, count - first);
    const logRecords = Array.from({ length: size }, (_, offset) => {
      const index = first + offset;
      return {
        timeUnixNano: nanoseconds(fromMs + (index / count) * lengthMs),
        severityNumber: severities[index % severities.length],
        body: { stringValue: `${name} ${index} to /orders/${index % 1000} took ${index % 313} ms` },
        attributes: [{ key: "http.route", value: { stringValue: "/orders/{id}" } }],
      };
    });
    const resource = {
      attributes: [{ key: "service.name", value: { stringValue: services[(first / 5_000) % services.length] } }],
    };
    await send(target, "v1/logs", { resourceLogs: [{ resource, scopeLogs: [{ logRecords }] }] });
  }
}

async function send({ url, key }: Target, path: string, message: object): Promise<void> {
  const response = await fetch(`${url}/${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(message),
  });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
}

function nanoseconds(ms: number): string {
  return `${Math.floor(ms)}${String(Math.floor((ms % 1) * 1_000_000)).padStart(6, "0")}`;
}
