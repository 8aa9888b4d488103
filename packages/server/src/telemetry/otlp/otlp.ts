/** Assembles the OTLP ingest: the routes of OTLP/HTTP, and what they share with OTLP/gRPC. */
import type { TelemetryCipher } from "../../encryption/telemetry-cipher.ts";
import type { Route } from "../../http/route.ts";
import type { Logger } from "../../logger.ts";
import { MemoryBudget } from "../../memory-budget.ts";
import type { ReportedCosts } from "../../pricing/reported-costs.ts";
import type { RedactorOf, SettingsOf } from "./resource-scopes.ts";
import { createIngest, type Ingest, type RowStore } from "./ingest.ts";
import { createJsonConverter } from "./json-converter.ts";
import { type BodyLimits, otlpRoutes } from "./routes.ts";

export interface OtlpParts {
  readonly store: RowStore;
  readonly settingsOf: SettingsOf;
  readonly costs: ReportedCosts;
  readonly redactorOf?: RedactorOf | undefined;
  /** Encrypts content; absent: it is stored as it is. */
  readonly cipher?: Pick<TelemetryCipher, "seal">;
  readonly logger: Logger;
  readonly settings: { readonly max_body_bytes: number; readonly max_pending_body_bytes: number };
}

export interface Otlp {
  readonly routes: readonly Route[];
  readonly ingest: Ingest;
  readonly limits: BodyLimits;
  close(): Promise<void>;
}

export function createOtlp({ store, settingsOf, costs, redactorOf, cipher, logger, settings }: OtlpParts): Otlp {
  const converter = createJsonConverter(logger);
  const ingest = createIngest({ store, settingsOf, converter, costs, redactorOf, seal: cipher?.seal });
  const limits: BodyLimits = {
    bodyLimitBytes: settings.max_body_bytes,
    memory: new MemoryBudget(settings.max_pending_body_bytes),
  };
  return { routes: otlpRoutes(ingest, limits), ingest, limits, close: () => converter.close() };
}
