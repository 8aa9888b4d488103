/** Composes the routes that receive telemetry, for `app.ts`. */
import type { Route } from "./http/route.ts";
import { lokiPushRoutes } from "./telemetry/loki-push/routes.ts";
import { remoteWriteRoutes } from "./telemetry/remote-write/routes.ts";
import { sampleRoutes } from "./telemetry/samples/routes.ts";
import type { Store } from "./store/store.ts";
import type { Otlp } from "./telemetry/otlp/otlp.ts";

export function ingestRoutes(otlp: Pick<Otlp, "routes" | "ingest" | "limits">, store: Store): Route[] {
  return [
    ...otlp.routes,
    ...lokiPushRoutes(otlp.ingest, otlp.limits),
    ...remoteWriteRoutes(otlp.ingest, otlp.limits),
    ...sampleRoutes(store),
  ];
}
