/**
 * The measured process: serves the metrics operations over an embedded store in a given folder, for one organization.
 * Its parent writes rows only through the store's own interface, and asks for the event loop's delay.
 */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { metricsRoutes } from "../../packages/server/src/query/metrics/routes.ts";
import { prometheusRoutes } from "../../packages/server/src/query/prometheus-api/prometheus-routes.ts";
import { createMetricPresets } from "../../packages/server/src/query/metrics/presets/metric-presets.ts";
import { openTestStore } from "../../packages/server/test/store/test-store.ts";
import { startTestHttp } from "../../packages/server/test/support/test-http.ts";
import { testKey } from "../../packages/server/test/support/test-key.ts";
import { organizationId, ratesOf } from "./queries.ts";

const { store, [Symbol.asyncDispose]: closeStore } = await openTestStore({ directory: process.argv[2]! });
const presets = createMetricPresets({ ratesOf, configured: {} });
const http = await startTestHttp({
  routes: [...metricsRoutes({ store, presets }), ...prometheusRoutes({ store, version: "0.0.0" })],
  checkKey: () => testKey({ organizationId }),
});
const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();

process.on("message", (message) => {
  if (message === "reset") delay.reset();
  else if (message === "delay") process.send!({ delayMs: delay.max / 1e6 });
  else
    void http
      .close()
      .then(closeStore)
      .then(() => process.disconnect());
});
process.send!({ url: http.url });
