/** Large JSON bodies in the worker: one that exceeds its limits fails alone. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLogger } from "../../src/logger.ts";
import { createJsonConverter } from "../../src/telemetry/otlp/json-converter.ts";
import { traceSignal } from "../../src/telemetry/otlp/signals.ts";
import { spanRequest } from "./example-requests.ts";
import { decode } from "./oracle.ts";
import { toOtlpJson } from "./sent-and-stored.ts";

/** A body above the size that is converted at once. */
function largeBody(): Uint8Array {
  return Buffer.from(JSON.stringify(toOtlpJson(spanRequest({ name: "x".repeat(200_000) }))));
}

test("a body that would exhaust the worker's memory is refused before it is parsed, and the next one is read", async () => {
  const converter = createJsonConverter(silentLogger, { heapMiB: 24 });
  try {
    for (const many of [
      `{"unknown":[${"{},".repeat(2_000_000)}{}]}`,
      `{"unknown":[${"0,".repeat(80_000)}1234567890123456789]}`,
    ]) {
      await assert.rejects(async () => converter.convert(Buffer.from(many), traceSignal, "a"), {
        code: "payload_too_large",
      });
    }
    const converted = await converter.convert(largeBody(), traceSignal, "a");
    const { resourceSpans } = decode("ExportTraceServiceRequest", converted) as { resourceSpans: unknown[] };
    assert.equal(resourceSpans.length, 1);
  } finally {
    await converter.close();
  }
});

test("many concurrent bodies are all converted", async () => {
  const converter = createJsonConverter(silentLogger);
  try {
    const all = await Promise.all(
      Array.from({ length: 5 }, async () => converter.convert(largeBody(), traceSignal, "a")),
    );
    assert.equal(new Set(all.map(({ length }) => length)).size, 1);
  } finally {
    await converter.close();
  }
});

test("organizations take turns, so a flood by one does not delay the others by its full length", async () => {
  const converter = createJsonConverter(silentLogger);
  try {
    const done: string[] = [];
    const convert = async (organizationId: string): Promise<void> => {
      await converter.convert(largeBody(), traceSignal, organizationId);
      done.push(organizationId);
    };
    await Promise.all([...Array.from({ length: 8 }, () => convert("flood")), convert("other")]);
    assert.ok(done.indexOf("other") <= 2, done.join(" "));
  } finally {
    await converter.close();
  }
});

test("a body that needs too much CPU time is refused, and the next one is read by another worker", async () => {
  const converter = createJsonConverter(silentLogger, { longestCpuMs: 1 });
  const patient = createJsonConverter(silentLogger);
  try {
    const text = JSON.stringify({ resourceSpans: Array.from({ length: 3_000_000 }, () => ({ schemaUrl: "a" })) });
    await assert.rejects(async () => converter.convert(Buffer.from(text), traceSignal, "a"), {
      code: "payload_too_large",
    });
    await assert.rejects(async () => converter.convert(Buffer.from(text), traceSignal, "a"), {
      code: "payload_too_large",
    });
    assert.ok((await patient.convert(largeBody(), traceSignal, "a")).length > 0);
  } finally {
    await Promise.all([converter.close(), patient.close()]);
  }
});
