/** A server with Tempo's HTTP API over an embedded store, which takes spans as OTLP/JSON, and keys of several organizations. */
import { AppError } from "../../src/errors.ts";
import { silentLogger } from "../../src/logger.ts";
import { tempoRoutes } from "../../src/query/tempo-api/tempo-routes.ts";
import { createOtlp } from "../../src/telemetry/otlp/otlp.ts";
import { openTestStore, type TestStoreOptions } from "../store/test-store.ts";
import { startTestHttp } from "../support/test-http.ts";
import { testKey } from "../support/test-key.ts";
import { noReportedCosts } from "../support/test-costs.ts";

export interface TempoAnswer {
  readonly status: number;
  readonly type: string;
  readonly text: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- answers of tests are looked into freely
  readonly json: any;
  readonly bytes: Buffer;
}

/** A key `sk-org_a` belongs to `org_a`; `sk-org_a:billing` is bound to that organization's project `billing`. */
export async function startTempoServer(options: TestStoreOptions = {}) {
  const opened = await openTestStore(options);
  const otlp = createOtlp({
    costs: noReportedCosts,
    store: opened.store,
    settingsOf: () => Promise.resolve({ retention_days: 30, record_content: false }),
    logger: silentLogger,
    settings: { max_body_bytes: 67_108_864, max_pending_body_bytes: 268_435_456 },
  });
  const http = await startTestHttp({
    routes: [...tempoRoutes({ store: opened.store, version: "0.0.0" }), ...otlp.routes],
    checkKey: (secret) => {
      const [organizationId, projectName] = secret.replace(/^sk-/, "").split(":");
      if (!secret.startsWith("sk-")) throw new AppError("invalid_api_key", "The API key is not known.");
      return testKey({ organizationId: organizationId!, projectName });
    },
  });
  return {
    url: http.url,
    store: opened.store,
    logged: http.logged,
    async get(path: string, { accept, key = "org_a" }: { accept?: string; key?: string } = {}): Promise<TempoAnswer> {
      const headers = { authorization: `Bearer sk-${key}`, ...(accept === undefined ? {} : { accept }) };
      const response = await fetch(`${http.url}/tempo${path}`, { headers });
      const bytes = Buffer.from(await response.arrayBuffer());
      const type = response.headers.get("content-type") ?? "";
      const text = bytes.toString("utf8");
      return {
        status: response.status,
        type,
        text,
        bytes,
        json: type.startsWith("application/json") ? JSON.parse(text) : undefined,
      };
    },
    async send(resourceSpans: readonly object[], { key = "org_a", project = "default" } = {}): Promise<void> {
      const response = await fetch(`${http.url}/v1/traces`, {
        method: "POST",
        headers: {
          authorization: `Bearer sk-${key}`,
          "content-type": "application/json",
          ...(key.includes(":") ? {} : { "x-project": project }),
        },
        body: JSON.stringify({ resourceSpans }),
      });
      const text = await response.text();
      if (response.status !== 200 || text !== "{}") throw new Error(`${response.status} ${text}`);
    },
    async [Symbol.asyncDispose]() {
      await http.close();
      await otlp.close();
      await opened[Symbol.asyncDispose]();
    },
  };
}

export type TempoServer = Awaited<ReturnType<typeof startTempoServer>>;
