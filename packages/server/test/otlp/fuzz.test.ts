/** Bytes that are not a valid request: a 400 and no row, or the rows that an independent decoder finds too; never a crash. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { parseContentKey } from "../../src/encryption/content-cipher.ts";
import { createTelemetryCipher } from "../../src/encryption/telemetry-cipher.ts";
import { AppError } from "../../src/errors.ts";
import type { SignalName } from "../../src/telemetry/otlp/signals.ts";
import { logRequest, metricRequest, spanRequest } from "./example-requests.ts";
import { ingestFixture, nowNano } from "./ingest-fixture.ts";
import { decode, encode } from "./oracle.ts";
import { propertyRuns } from "../../../../test/support/property-runs.ts";

const nano = String(nowNano);
const attributes = [
  { key: "a", value: { stringValue: "text" } },
  { key: "input.value", value: { stringValue: "content" } },
  {
    key: "b",
    value: {
      arrayValue: {
        values: [{ intValue: "-1" }, { kvlistValue: { values: [{ key: "k", value: { doubleValue: 1.5 } }] } }],
      },
    },
  },
];
const samples: Record<SignalName, { type: string; bytes: Uint8Array }> = {
  traces: sample(
    "ExportTraceServiceRequest",
    spanRequest(
      {
        startTimeUnixNano: nano,
        endTimeUnixNano: nano,
        attributes,
        events: [{ timeUnixNano: nano, name: "e", attributes }],
        links: [{ traceId: Buffer.alloc(16, 3).toString("base64"), attributes }],
        status: { code: 2, message: "m" },
      },
      { attributes },
    ),
  ),
  logs: sample(
    "ExportLogsServiceRequest",
    logRequest({ timeUnixNano: nano, attributes, body: attributes[1]!.value }, { attributes }),
  ),
  metrics: sample("ExportMetricsServiceRequest", {
    resourceMetrics: [
      {
        scopeMetrics: [
          {
            metrics: [
              {
                name: "h",
                histogram: {
                  dataPoints: [
                    { timeUnixNano: nano, attributes, count: 3, sum: 1, bucketCounts: [1, 2], explicitBounds: [1] },
                  ],
                },
              },
              {
                name: "x",
                exponentialHistogram: {
                  dataPoints: [{ timeUnixNano: nano, scale: -3, positive: { offset: 1, bucketCounts: [1, 300] } }],
                },
              },
              ...(
                metricRequest({ timeUnixNano: nano }) as {
                  resourceMetrics: { scopeMetrics: { metrics: object[] }[] }[];
                }
              ).resourceMetrics[0]!.scopeMetrics[0]!.metrics,
            ],
          },
        ],
      },
    ],
  }),
};

function sample(type: string, request: object) {
  return { type, bytes: encode(type, request) };
}

const { seal } = createTelemetryCipher([parseContentKey("0".repeat(64))!]);

/**
 * Whether the bytes were accepted, with encryption as without; anything but a 400 or a result fails the test. Every stored block must be
 * readable.
 */
async function isTaken(
  signal: SignalName,
  bytes: Uint8Array,
  encoding: "protobuf" | "json" = "protobuf",
): Promise<boolean> {
  const isSealed = await isTakenBy(ingestFixture({ seal }), { signal, bytes, encoding });
  const isPlain = await isTakenBy(ingestFixture(), { signal, bytes, encoding });
  assert.equal(isSealed, isPlain, "encryption changes what is accepted");
  return isPlain;
}

interface Sent {
  readonly signal: SignalName;
  readonly bytes: Uint8Array;
  readonly encoding: "protobuf" | "json";
}

async function isTakenBy(
  { send, store }: ReturnType<typeof ingestFixture>,
  { bytes, encoding, signal }: Sent,
): Promise<boolean> {
  try {
    await send(signal, bytes, encoding);
  } catch (error) {
    assert.ok(error instanceof AppError && error.status === 400, String(error instanceof Error ? error.stack : error));
    assert.deepEqual(store.batches, []);
    return false;
  }
  for (const { table } of store.batches) store.rows(table);
  return true;
}

function canDecode(type: string, bytes: Uint8Array): boolean {
  try {
    decode(type, bytes);
    return true;
  } catch {
    return false;
  }
}

for (const signal of ["traces", "logs", "metrics"] as const) {
  describe(`${signal}:`, () => {
    const { type, bytes } = samples[signal];

    test("a request cut at any byte is refused unless it is a whole message", async () => {
      for (let length = 0; length < bytes.length; length += 1) {
        const cut = bytes.subarray(0, length);
        assert.equal(await isTaken(signal, cut), canDecode(type, cut), `cut at ${length}`);
      }
    });

    test("a request with any byte changed is answered, and an invalid one is refused", async () => {
      const change = fc.record({
        at: fc.nat(bytes.length - 1),
        byte: fc.nat(255),
        second: fc.nat(bytes.length - 1),
        other: fc.nat(255),
      });
      await fc.assert(
        fc.asyncProperty(change, async ({ at, byte, second, other }) => {
          const changed = Uint8Array.from(bytes);
          changed[at] = byte;
          changed[second] = other;
          await isTaken(signal, changed);
        }),
        { numRuns: propertyRuns(1500) },
      );
    });

    test("random bytes are answered", async () => {
      await fc.assert(
        fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (random) => {
          await isTaken(signal, random);
        }),
        { numRuns: propertyRuns(1500) },
      );
    });

    test("random JSON is answered", async () => {
      await fc.assert(
        fc.asyncProperty(fc.json(), async (text) => {
          const inside = `{"resource${type.includes("Trace") ? "Spans" : type.includes("Logs") ? "Logs" : "Metrics"}":${text}}`;
          await isTaken(signal, Buffer.from(text), "json");
          await isTaken(signal, Buffer.from(inside), "json");
        }),
        { numRuns: propertyRuns(300) },
      );
    });
  });
}

describe("the wire", () => {
  const known = samples.traces.bytes;
  const withUnknown = (extra: number[]) => Buffer.concat([known, Buffer.from(extra)]);

  test("may carry unknown fields of every kind, including groups", async () => {
    // Field 100: a varint, 64 bits, bytes, a group that contains a varint, 32 bits.
    for (const extra of [
      [0xa0, 0x06, 0x01],
      [0xa1, 0x06, 1, 2, 3, 4, 5, 6, 7, 8],
      [0xa2, 0x06, 0x02, 1, 2],
      [0xa3, 0x06, 0x08, 0x01, 0xa4, 0x06],
      [0xa5, 0x06, 1, 2, 3, 4],
    ]) {
      assert.equal(await isTaken("traces", withUnknown(extra)), true);
    }
  });

  test("may not carry invalid fields", async () => {
    for (const [extra, what] of [
      [[0x07], "wire type 7"],
      [[0xa4, 0x06], "the end of a group that did not begin"],
      [[0xa3, 0x06, 0x08, 0x01], "a group without an end"],
      [[0x02, 0x00], "field number 0"],
      [[0x0a, 0xff, 0xff, 0xff, 0xff, 0x7f], "a length beyond the message"],
      [Array.from({ length: 11 }, () => 0xff), "a varint of 11 bytes"],
      [Array.from({ length: 100 }, () => [0xa3, 0x06]).flat(), "groups nested without end"],
    ] as const) {
      assert.equal(await isTaken("traces", withUnknown([...extra])), false, what);
    }
  });

  test("may carry text that is not UTF-8, which is replaced", async () => {
    const { send, store } = ingestFixture();
    const bytes = Buffer.from(
      encode("ExportTraceServiceRequest", spanRequest({ startTimeUnixNano: nano, name: "abcXYZdef" })),
    );
    bytes[bytes.indexOf("XYZ")] = 0xff;
    await send("traces", bytes);
    assert.equal(store.rows("spans")[0]?.["name"], "abc\u{FFFD}YZdef");
  });
});
