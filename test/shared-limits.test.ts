/** Servers that share their limits through Valkey, from the configuration to the response. */
import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { startApp } from "../packages/server/src/app.ts";
import { loadConfig } from "../packages/server/src/config/load-config.ts";
import { createLogger } from "../packages/server/src/logger.ts";
import { startPostgres, type PostgresServer } from "../packages/server/test/tenancy/postgres-server.ts";
import { startValkey, type ValkeyServer } from "../packages/server/test/limits/valkey-server.ts";
import { startServer } from "./support/running-server.ts";
import { beforeTests, useAll } from "./support/hooks.ts";
import { needs } from "./support/needs.ts";

const skip = needs("valkey", "postgresql");

describe("servers that share their limits", { skip }, () => {
  let valkey: ValkeyServer;
  let postgres: PostgresServer;
  beforeTests(async (stack) => {
    [valkey, postgres] = await useAll(stack, [startValkey(), startPostgres()]);
  });

  for (const backend of ["valkey", "postgres"] as const) {
    test(`count a key's requests together through ${backend}, report what is left, and whether the backend answers`, async () => {
      const adminKey = `sk-${"a".repeat(40)}`;
      const configuration = `
storage:
  database_url: ${await postgres.newDatabase()}
  admin_key: ${adminKey}
limits:
  key: { requests_per_minute: 3 }
  shared:
    backend: ${backend}
    valkey_url: ${valkey.url}
    timeout_ms: 30000
`;
      await using first = await startServer(configuration);
      await using second = await startAnother(configuration);
      const request = { method: "POST", headers: { authorization: `Bearer ${first.key}` } };
      const send = async ({ url }: { url: string }) =>
        fetch(`${url}/v1/traces`, {
          ...request,
          body: "{}",
          headers: { ...request.headers, "content-type": "application/json" },
        });
      const remaining: (string | null)[] = [];
      for (const server of [first, second, first]) {
        const response = await send(server);
        await response.arrayBuffer();
        remaining.push(response.headers.get("x-ratelimit-remaining-requests"));
      }
      assert.deepEqual(remaining, ["2", "1", "0"]);
      const refused = await send(second);
      assert.equal(refused.status, 429);
      assert.ok(Number(refused.headers.get("retry-after")) > 0);
      assert.match(
        ((await refused.json()) as { message: string }).message,
        /is limited to 3 telemetry exports per minute/,
      );
      const ready = (await (await fetch(`${second.url}/readyz`)).json()) as { checks: Record<string, string> };
      assert.equal(ready.checks["shared_limits"], "ok");
      const metrics = await (await fetch(`${second.url}/metrics`)).text();
      assert.match(metrics, /^sounding_shared_limits_reachable 1$/m);
      assert.match(metrics, /^sounding_shared_limit_exchanges_total\{outcome="ok"\} \d+$/m);
    });
  }
});

/** Another server, on a database whose first keys exist. */
async function startAnother(yaml: string): Promise<AsyncDisposable & { readonly url: string }> {
  const directory = await mkdtemp(join(tmpdir(), "sounding-test-"));
  const path = join(directory, "sounding.yaml");
  await writeFile(path, yaml);
  const overrides = {
    server: { port: 0 },
    storage: { data_dir: join(directory, "data") },
    telemetry: { enabled: false },
  };
  const { config } = await loadConfig({ path, env: {}, overrides });
  const app = await startApp({ config: config!, logger: createLogger("silent"), version: "0.0.0-test" });
  return {
    url: app.url,
    async [Symbol.asyncDispose]() {
      await app.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
