/** Large JSON bodies in the worker: one that is too much for it fails alone. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLogger } from "../../src/logger.ts";
import { createJsonConverter } from "../../src/telemetry/otlp/json-converter.ts";
import { traceSignal } from "../../src/telemetry/otlp/signals.ts";
import { spanRequest } from "./example-requests.ts";
import { decode } from "./oracle.ts";
import { toOtlpJson } from "./sent-and-stored.ts";

/** A body of more than the size that is converted at once. */
function largeBody(): Uint8Array {
  return Buffer.from(JSON.stringify(toOtlpJson(spanRequest({ name: "x".repeat(200_000) }))));
}

test("a body that would exhaust the worker's memory is refused before it is parsed, and the next one is read", async () => {
  const converter = createJsonConverter(silentLogger, 24);
  try {
    for (const many of [
      `{"unknown":[${"{},".repeat(2_000_000)}{}]}`,
      `{"unknown":[${"0,".repeat(80_000)}1234567890123456789]}`,
    ]) {
      await assert.rejects(async () => converter.convert(Buffer.from(many), traceSignal), {
        code: "payload_too_large",
      });
    }
    const converted = await converter.convert(largeBody(), traceSignal);
    const { resourceSpans } = decode("ExportTraceServiceRequest", converted) as { resourceSpans: unknown[] };
    assert.equal(resourceSpans.length, 1);
  } finally {
    await converter.close();
  }
});

test("many bodies at once are all converted", async () => {
  const converter = createJsonConverter(silentLogger);
  try {
    const all = await Promise.all(Array.from({ length: 5 }, async () => converter.convert(largeBody(), traceSignal)));
    assert.equal(new Set(all.map(({ length }) => length)).size, 1);
  } finally {
    await converter.close();
  }
});
