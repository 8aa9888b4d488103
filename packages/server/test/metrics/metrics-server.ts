/** A server with the operations on metrics over an embedded store, and a key for each of a few organizations. */
import { createMetricPresets, type MetricPresets } from "../../src/query/metrics/presets/metric-presets.ts";
import { metricsRoutes } from "../../src/query/metrics/routes.ts";
import { prometheusRoutes } from "../../src/query/prometheus-api/prometheus-routes.ts";
import { AppError } from "../../src/errors.ts";
import { openTestStore } from "../store/test-store.ts";
import { startTestHttp } from "../support/test-http.ts";
import { testKey } from "../support/test-key.ts";

export interface QueryAnswer {
  readonly status: number;
  // oxlint-disable-next-line typescript/no-explicit-any -- answers of tests are looked into freely
  readonly body: any;
}

/** A key `sk-org_a` belongs to `org_a`; `sk-org_a:billing` is bound to that organization's project `billing`. */
export async function startMetricsServer(
  options: Partial<Parameters<typeof createMetricPresets>[0]> & { presets?: MetricPresets } = {},
) {
  const opened = await openTestStore();
  const presets = options.presets ?? createMetricPresets({ ratesOf: () => ({}), configured: {}, ...options });
  const http = await startTestHttp({
    routes: [
      ...metricsRoutes({ store: opened.store, presets }),
      ...prometheusRoutes({ store: opened.store, version: "0.0.0" }),
    ],
    checkKey: (secret) => {
      const [organizationId, projectName] = secret.replace(/^sk-/, "").split(":");
      if (!secret.startsWith("sk-")) throw new AppError("invalid_api_key", "The API key is not known.");
      return testKey({ organizationId: organizationId!, projectName });
    },
  });
  const call = async (path: string, init: RequestInit, key: string): Promise<QueryAnswer> => {
    const headers = { authorization: `Bearer sk-${key}`, ...(init.headers as Record<string, string> | undefined) };
    const response = await fetch(`${http.url}${path}`, { ...init, headers });
    return { status: response.status, body: await response.json() };
  };
  return {
    url: http.url,
    store: opened.store,
    logged: http.logged,
    preset: (parameters: Record<string, unknown>, key = "org_a") =>
      call(
        "/observability/metrics",
        { method: "POST", body: JSON.stringify(parameters), headers: { "content-type": "application/json" } },
        key,
      ),
    get: (path: string, key = "org_a") => call(path, {}, key),
    post: (path: string, form: string, key = "org_a") =>
      call(path, { method: "POST", body: form, headers: { "content-type": "application/x-www-form-urlencoded" } }, key),
    async [Symbol.asyncDispose]() {
      await http.close();
      await opened[Symbol.asyncDispose]();
    },
  };
}

export type MetricsServer = Awaited<ReturnType<typeof startMetricsServer>>;
