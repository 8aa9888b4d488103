/** OTLP ingestion into a recording store, without HTTP. */
import { silentLogger } from "../../src/logger.ts";
import type { Encoding } from "../../src/telemetry/otlp/export-result.ts";
import { createIngest, type ExportRequest, type IngestParts } from "../../src/telemetry/otlp/ingest.ts";
import { createJsonConverter } from "../../src/telemetry/otlp/json-converter.ts";
import { type SignalName, signals } from "../../src/telemetry/otlp/signals.ts";
import { type CheckedKey, Scope } from "../../src/tenant.ts";
import { testKey } from "../support/test-key.ts";
import { RecordingStore } from "./recording-store.ts";
import { noReportedCosts } from "../support/test-costs.ts";

/** 2026-11-21T00:00:00Z, the present of these tests. */
export const nowMs = 1_795_219_200_000;
export const nowNano = BigInt(nowMs) * 1_000_000n;

/** @param options.project the header `x-project` */
export function ingestFixture(
  options: { key?: CheckedKey; project?: string | undefined } & Pick<IngestParts, "redactorOf" | "seal"> = {},
) {
  const { key = testKey(), project, redactorOf, seal } = options;
  const store = new RecordingStore();
  const converter = createJsonConverter(silentLogger);
  const settingsOf: Parameters<typeof createIngest>[0]["settingsOf"] = () => ({
    retention_days: 30,
    record_content: false,
  });
  const scope = Scope.fromKey(key, { project });
  const ingest = createIngest({
    store,
    settingsOf,
    converter,
    costs: noReportedCosts,
    redactorOf,
    seal,
    now: () => nowMs,
  });
  return {
    store,
    scope,
    send: (signal: SignalName, bytes: Uint8Array, encoding: Encoding = "protobuf") =>
      ingest({ scope, signal: signals[signal], encoding, bytes } satisfies ExportRequest),
    sendJson: (signal: SignalName, body: unknown) =>
      ingest({ scope, signal: signals[signal], encoding: "json", bytes: Buffer.from(JSON.stringify(body)) }),
    close: () => converter.close(),
  };
}
