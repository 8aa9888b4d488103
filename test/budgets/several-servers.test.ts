/** Two servers with one Postgres spend one budget: what one has spent, the other refuses, also after a server has stopped. */
import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { startApp } from "../../packages/server/src/app.ts";
import { loadConfig } from "../../packages/server/src/config/load-config.ts";
import { createLogger } from "../../packages/server/src/logger.ts";
import { startScriptedUpstream, type ScriptedUpstream } from "../../packages/server/test/support/scripted-upstream.ts";
import { startPostgres, type PostgresServer } from "../../packages/server/test/tenancy/postgres-server.ts";
import { beforeTests } from "../support/hooks.ts";
import { needs } from "../support/needs.ts";
import { BudgetTenant } from "./budget-tenant.ts";

const operatorKey = `sk-${"b".repeat(40)}`;
const cost = 0.002;
const completion = {
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 1,
  model: "m",
  choices: [{ index: 0, message: { role: "assistant", content: "Yes." }, finish_reason: "stop" }],
  usage: { prompt_tokens: 100, completion_tokens: 100, total_tokens: 200 },
};
const chat = { model: "m", messages: [{ role: "user", content: "Hello?" }], max_tokens: 100 };

describe("servers with one database", { skip: needs("postgresql") }, () => {
  let postgres: PostgresServer;
  let upstream: ScriptedUpstream;
  beforeTests(async (stack) => {
    postgres = stack.use(await startPostgres());
    upstream = await startScriptedUpstream((exchange) => exchange.answer(completion));
    stack.defer(() => upstream.close());
  });

  test("spend one budget, and count each call once", async () => {
    const url = await postgres.newDatabase();
    await using stopping = new AsyncDisposableStack();
    const first = stopping.use(await start(url));
    await using second = await start(url);
    const tenant = await BudgetTenant.create(first);
    const key = await tenant.key();
    const budget = await tenant.budget({ name: "shared", amount: 10 * cost });
    const tenants = [tenant, tenant.at(second)] as const;
    // The other server learns of the key and the budget within seconds.
    while ((await tenants[1].status(key, "/v1/chat/completions", { ...chat, model: "unpriced" })) !== 429);
    let [admitted, quota] = [0, 0];
    for (let call = 0; quota < 2; call++) {
      const status = await tenants[call % 2]!.status(key, "/v1/chat/completions", chat);
      if (status === 200) admitted += 1;
      else if ((await tenant.show(budget)).used > 9 * cost) quota += 1;
    }
    let { used } = await tenants[1].show(budget);
    // Servers write every two seconds.
    while (used < admitted * cost - 1e-9) ({ used } = await tenants[1].show(budget));
    assert.ok(admitted <= 10 && admitted >= 9, `${admitted} calls`);
    assert.ok(Math.abs(used - admitted * cost) < 1e-9, `${used} for ${admitted} calls`);
    await stopping.disposeAsync();
    await using third = await start(url);
    const last = tenant.at(third);
    assert.equal((await last.show(budget)).used, used);
    assert.equal(await last.status(key, "/v1/chat/completions", chat), 429);
    await last.update(budget, { amount: 11 * cost });
    // Another server may have taken a part in advance, which it gives back within seconds.
    while ((await last.status(key, "/v1/chat/completions", { ...chat, max_tokens: 1 })) !== 200);
  });

  async function start(databaseUrl: string) {
    const directory = await mkdtemp(join(tmpdir(), "sounding-test-"));
    const path = join(directory, "sounding.yaml");
    await writeFile(
      path,
      `
engines: { gpu: { type: openai_compatible, base_url: "${upstream.url}/v1", models: [m, unpriced] } }
telemetry: { token_prices: { m: { input: 10, output: 10 } } }
storage: { database_url: ${JSON.stringify(databaseUrl)}, admin_key: ${operatorKey} }
`,
    );
    const overrides = {
      server: { port: 0 },
      storage: { data_dir: join(directory, "data") },
      telemetry: { enabled: false },
    };
    const { config } = await loadConfig({ path, env: {}, overrides });
    const app = await startApp({ config: config!, logger: createLogger("silent"), version: "0.0.0-test" });
    return {
      url: `http://127.0.0.1:${app.port}`,
      operatorKey,
      async [Symbol.asyncDispose]() {
        await app.close();
        await rm(directory, { recursive: true, force: true });
      },
    };
  }
});
