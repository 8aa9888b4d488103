/** Ingests an export request: decodes it, appends its rows, and resolves once they are durable. docs/adr/0020-telemetry-ingest-and-journal.md */
import type { TelemetryCipher } from "../../encryption/telemetry-cipher.ts";
import type { ReportedCosts } from "../../pricing/reported-costs.ts";
import type { Batch, Store } from "../../store/store.ts";
import type { Scope } from "../../tenant.ts";
import type { Encoding, ExportResult } from "./export-result.ts";
import { CallSpans } from "./call-spans.ts";
import { decodeExport } from "./decode-export.ts";
import { ResourceScopeReader, type RedactorOf, type SettingsOf } from "./resource-scopes.ts";
import { ExportBuilder } from "./export-builder.ts";
import type { JsonConverter } from "./json-converter.ts";
import type { Signal } from "./signals.ts";
import { sealFor } from "../rows/seal-content.ts";

/** The part of the store that takes rows. */
export type RowStore = Pick<Store, "append" | "isKnown">;

export interface IngestParts {
  readonly store: RowStore;
  readonly settingsOf: SettingsOf;
  readonly converter: JsonConverter;
  readonly costs: ReportedCosts;
  readonly redactorOf?: RedactorOf | undefined;
  /** Encrypts content; absent: it is stored as it is. */
  readonly seal?: TelemetryCipher["seal"];
  /** UNIX milliseconds. */
  readonly now?: () => number;
}

/** One request, decompressed. */
export interface ExportRequest {
  readonly scope: Scope;
  readonly signal: Signal;
  readonly encoding: Encoding;
  readonly bytes: Uint8Array;
}

/**
 * Resolves once every row is durable.
 * @throws AppError invalid_request or invalid_json if the request cannot be decoded, then nothing is stored; rate_limited or
 *   overloaded if the store cannot accept the rows now
 */
export type Ingest = (request: ExportRequest) => Promise<ExportResult>;

export function createIngest(parts: IngestParts): Ingest {
  const { store, settingsOf, converter, costs, redactorOf, seal, now = Date.now } = parts;
  const callSpans = new CallSpans();
  return async ({ scope, signal, encoding, bytes }) => {
    const { organizationId } = scope;
    const builder = new ExportBuilder({
      organizationId,
      payer: scope.key,
      nowMs: now(),
      store,
      callSpans,
      costs,
      seal: sealFor(seal, organizationId),
    });
    const groups = new ResourceScopeReader({ scope, settingsOf, redactorOf, builder });
    const protobuf = encoding === "json" ? await converter.convert(bytes, signal, organizationId) : bytes;
    await decodeExport(protobuf, signal, { builder, groups });
    await appendAll(store, builder.finish());
    const { accepted, exemplars, rejected } = builder;
    return { accepted, rejected, exemplars, message: builder.rejection(signal.items) };
  };
}

/** Rows of one request that are queued at a time, so that a large request does not exceed the queue's limit. */
const waveBytes = 8_388_608;

async function appendAll(store: RowStore, batches: readonly Batch[]): Promise<void> {
  let wave: Promise<void>[] = [];
  let bytes = 0;
  for (const batch of batches) {
    if (bytes + batch.block.length > waveBytes && wave.length > 0) {
      await Promise.all(wave);
      wave = [];
      bytes = 0;
    }
    wave.push(store.append(batch));
    bytes += batch.block.length;
  }
  await Promise.all(wave);
}
