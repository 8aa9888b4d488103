/** The measured process: serves the APIs of Prometheus, Loki and Tempo over a folder. The key `sk-NAME` belongs to `NAME`. */
import { AppError } from "../../packages/server/src/errors.ts";
import { lokiRoutes } from "../../packages/server/src/query/loki-api/loki-routes.ts";
import { prometheusRoutes } from "../../packages/server/src/query/prometheus-api/prometheus-routes.ts";
import { tempoRoutes } from "../../packages/server/src/query/tempo-api/tempo-routes.ts";
import { openTestStore } from "../../packages/server/test/store/test-store.ts";
import { startTestHttp } from "../../packages/server/test/support/test-http.ts";
import { testKey } from "../../packages/server/test/support/test-key.ts";

const { store, [Symbol.asyncDispose]: closeStore } = await openTestStore({ directory: process.argv[2]! });
const parts = { store, version: "0.0.0" };
const http = await startTestHttp({
  routes: [...prometheusRoutes(parts), ...lokiRoutes(parts), ...tempoRoutes(parts)],
  checkKey: (secret) => {
    if (!secret.startsWith("sk-")) throw new AppError("invalid_api_key", "The API key is not known.");
    return testKey({ organizationId: secret.slice(3) });
  },
});

// The parent has measured everything, or has failed.
process.on("disconnect", () => void http.close().then(closeStore));
process.send!({ url: http.url });
