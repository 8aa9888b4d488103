/** The operator's view of models and engines, over HTTP, with an upstream that fails. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { getRoutedModel, listEngines, listRoutedModels } from "../packages/server/src/api/admin-models.ts";
import { satisfies } from "../packages/server/src/api/validate.ts";
import { startScriptedUpstream, type ScriptedUpstream } from "../packages/server/test/support/scripted-upstream.ts";
import { startServer, type RunningServer } from "./support/running-server.ts";
import { beforeEachTest, beforeTests } from "./support/hooks.ts";

const completion = {
  id: "chatcmpl-0123456789abcdef",
  object: "chat.completion",
  created: 1,
  model: "small",
  choices: [{ index: 0, message: { role: "assistant", content: "Yes." }, finish_reason: "stop" }],
};
const chat = { model: "large", messages: [{ role: "user", content: "Hello?" }] };

interface Target {
  readonly engine: string;
  readonly circuit: string;
  readonly retry_at: number | null;
  readonly calls_in_flight: number;
  readonly last_error: { readonly code: string; readonly message: string; readonly at: number } | null;
  readonly recent: { readonly calls: number; readonly errors: readonly { code: string; count: number }[] };
  readonly [member: string]: unknown;
}

interface Routed {
  readonly id: string;
  readonly state: string;
  readonly targets: readonly Target[];
  readonly [member: string]: unknown;
}

describe("the targets of models", () => {
  let server: RunningServer;
  let upstream: ScriptedUpstream;

  beforeTests(async (stack) => {
    upstream = await startScriptedUpstream(() => undefined);
    stack.defer(() => upstream.close());
  });

  beforeEachTest(async (stack) => {
    upstream.script = (exchange) => exchange.answer({ error: { message: "Out of memory." } }, 500);
    server = stack.use(
      await startServer(`
engines:
  gpu: { type: openai_compatible, base_url: "${upstream.url}/v1", models: [small] }
  broken: { type: openai_compatible, base_url: "${upstream.url}/broken" }
models:
  large:
    targets: [{ engine: gpu, model: small, weight: 3, max_concurrent: 8 }]
    fallbacks: [reserve]
    retries: { attempts: 0 }
  reserve: { targets: [{ engine: gpu, model: other }], hidden: true, retries: { attempts: 0 } }
aliases: { default: large }
routing: { failure_threshold: 2, open_ms: 600000 }
`),
    );
  });

  async function operatorGet<Body>(path: string): Promise<Body> {
    const response = await server.call(path, undefined, { authorization: `Bearer ${server.operatorKey}` });
    assert.equal(response.status, 200, path);
    return (await response.json()) as Body;
  }

  test("show the circuit that repeated failures opened, and the newest error", async () => {
    const before = await operatorGet<Routed>("/admin/v1/models/large");
    assert.deepEqual(before, {
      object: "routed_model",
      id: "large",
      aliases: ["default"],
      configured: true,
      hidden: false,
      capabilities: before["capabilities"],
      state: "ready",
      state_reason: null,
      targets: [
        {
          engine: "gpu",
          model: "small",
          weight: 3,
          share: 1,
          max_concurrent: 8,
          calls_in_flight: 0,
          circuit: "closed",
          retry_at: null,
          paused_until: null,
          last_error: null,
          recent: { window_seconds: 900, calls: 0, errors: [], latency_ms: null },
        },
      ],
      fallbacks: ["reserve"],
      retries: { attempts: 0, backoff_ms: 200, max_backoff_ms: 5000 },
    });
    for (let call = 0; call < 2; call++) assert.equal((await server.call("/v1/chat/completions", chat)).status, 502);
    const { state, targets } = await operatorGet<Routed>("/admin/v1/models/default");
    const target = targets[0]!;
    assert.deepEqual([state, target.circuit], ["unavailable", "open"]);
    assert.deepEqual([target.recent.calls, target.recent.errors], [2, [{ code: "upstream_failed", count: 2 }]]);
    assert.match(target.last_error!.message, /HTTP status 500/);
    const inTenMinutes = Date.now() / 1000 + 600;
    assert.ok(
      Math.abs(target.retry_at! - inTenMinutes) < 60 && Math.abs(target.last_error!.at + 600 - inTenMinutes) < 60,
    );
  });

  test("show calls in flight, then their latency", async () => {
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    upstream.script = async (exchange) => {
      await held;
      exchange.answer(completion);
    };
    const target = async (): Promise<Target> => (await operatorGet<Routed>("/admin/v1/models/large")).targets[0]!;
    const seen = upstream.exchanges.length;
    const answered = server.call("/v1/chat/completions", chat);
    await upstream.until(() => upstream.exchanges.length > seen, "the call at the upstream");
    assert.equal((await target()).calls_in_flight, 1);
    release();
    assert.equal((await answered).status, 200);
    const { calls_in_flight, recent } = await target();
    assert.deepEqual([calls_in_flight, recent.calls, recent.errors], [0, 1, []]);
    assert.ok((recent as unknown as { latency_ms: { p50: number } }).latency_ms.p50 > 0);
  });

  test("are listed with hidden models, and so are engines that do not list their models", async () => {
    const models = await operatorGet<{ data: Routed[] }>("/admin/v1/models");
    assert.ok(satisfies(listRoutedModels.answer.schema!, models));
    assert.ok(satisfies(getRoutedModel.answer.schema!, models.data[0]));
    const configured = models.data.filter((model) => model["configured"]);
    assert.deepEqual(
      configured.map(({ id, hidden }) => [id, hidden]),
      [
        ["large", false],
        ["reserve", true],
      ],
    );
    assert.ok(models.data.some(({ id }) => id === "sounding-trial"));
    const engines = await operatorGet<{ data: { name: string; [member: string]: unknown }[] }>("/admin/v1/engines");
    assert.ok(satisfies(listEngines.answer.schema!, engines));
    const { error, ...broken } = engines.data.find(({ name }) => name === "broken")!;
    assert.deepEqual(broken, {
      object: "engine",
      name: "broken",
      type: "openai_compatible",
      configured: true,
      models: null,
    });
    assert.equal((error as { code: string }).code, "upstream_failed");
    assert.deepEqual(
      engines.data
        .filter(({ name }) => name === "gpu" || name === "trial")
        .map((engine) => [engine.name, engine["configured"], engine["models"]]),
      [
        ["gpu", true, 1],
        ["trial", false, 1],
      ],
    );
  });

  test("are shown to operator keys only", async () => {
    const created = await server.call(
      "/admin/v1/keys",
      { name: "admin", permissions: ["admin", "inference"] },
      { authorization: `Bearer ${server.operatorKey}` },
    );
    const { secret } = (await created.json()) as { secret: string };
    for (const path of ["/admin/v1/models", "/admin/v1/models/large", "/admin/v1/models/absent", "/admin/v1/engines"]) {
      for (const key of [secret, server.key]) {
        const response = await server.call(path, undefined, { authorization: `Bearer ${key}` });
        assert.equal(response.status, 403, path);
        assert.equal(((await response.json()) as { error: { code: string } }).error.code, "permission_denied");
      }
    }
    const operator = { authorization: `Bearer ${server.operatorKey}` };
    for (const id of ["absent", "gpu/absent"])
      assert.equal((await server.call(`/admin/v1/models/${id}`, undefined, operator)).status, 404, id);
  });
});
