/** What the queries to the fuzzed server work on: series, log streams and traces of the attacking organization. */
import { setTimeout as sleep } from "node:timers/promises";

export async function sendData(url: string, key: string): Promise<void> {
  const send = async (path: string, body: object): Promise<void> => {
    const response = await fetch(`${url}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
  };
  const now = Date.now();
  await send("/v1/metrics", { resourceMetrics: [{ scopeMetrics: [{ metrics: metricsAt(now) }] }] });
  await send("/loki/api/v1/push", { streams: streamsAt(now) });
  await send("/v1/traces", { resourceSpans: [{ resource, scopeSpans: [{ spans: spansAt(now) }] }] });
  await sleep(100);
}

/** 200 series of a gauge, 20 of a histogram. */
function metricsAt(now: number): readonly object[] {
  const points = (count: number, more: (index: number) => object) =>
    Array.from({ length: count }, (_, index) => ({
      timeUnixNano: `${now - index * 1000}000000`,
      attributes: [
        { key: "l0", value: { stringValue: `a${index}` } },
        { key: "l1", value: { stringValue: `b${index % 7}` } },
      ],
      ...more(index),
    }));
  const histogram = { count: "3", sum: 1.5, bucketCounts: ["1", "1", "1"], explicitBounds: [0.1, 1] };
  return [
    { name: "fuzz_gauge", gauge: { dataPoints: points(200, (index) => ({ asDouble: index })) } },
    {
      name: "fuzz_requests",
      sum: {
        aggregationTemporality: 2,
        isMonotonic: true,
        dataPoints: points(50, (index) => ({ asInt: String(index) })),
      },
    },
    { name: "fuzz_seconds", histogram: { aggregationTemporality: 2, dataPoints: points(20, () => histogram) } },
  ];
}

const lines = [
  "level=info a=1 took=12ms size=5KB ip=10.0.0.1",
  '{"status":200,"took":"1.5s","size":"1MiB","b":{"c":[1]},"a":"é"}',
  "GET /x 200 timeout error",
  "",
  `a=${"a".repeat(3000)} ${"=".repeat(500)}`,
  "[".repeat(2000),
] as const;

/** 600 entries in two streams. */
function streamsAt(now: number): readonly object[] {
  const values = Array.from({ length: 300 }, (_, index) => [
    `${now - index * 1000}000000`,
    lines[index % lines.length]!,
    { trace_id: "ab".repeat(16), a: String(index % 7) },
  ]);
  return [
    { stream: { app: "a", service_name: "fuzz", level: "info" }, values },
    { stream: { app: "b", service_name: "fuzz" }, values },
  ];
}

const resource = { attributes: [{ key: "service.name", value: { stringValue: "shop" } }] };

/** 20 traces, each with a root and nine children. */
function spansAt(now: number): readonly object[] {
  return Array.from({ length: 200 }, (_, index) => {
    const trace = Math.floor(index / 10);
    const id = (number: number): string => (number + 1).toString(16).padStart(16, "0");
    return {
      traceId: trace === 0 ? "ab".repeat(16) : (trace + 1).toString(16).padStart(32, "0"),
      spanId: id(index),
      ...(index % 10 === 0 ? {} : { parentSpanId: id(trace * 10 + Math.floor(((index % 10) - 1) / 2)) }),
      name: ["GET", "SELECT", "call"][index % 3],
      kind: 1 + (index % 5),
      startTimeUnixNano: `${now - trace * 1000 - 500 + index}000000`,
      endTimeUnixNano: `${now - trace * 1000 - 490 + 2 * index}000000`,
      status: { code: index % 3 },
      attributes: [
        { key: "code", value: { intValue: String(200 + index) } },
        { key: "user", value: { stringValue: index % 2 === 0 ? "ada" : "bob" } },
        { key: "ratio", value: { doubleValue: index / 8 } },
      ],
    };
  });
}
