/** Who may see and change budgets, how many there are, and what keeps what was used. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startScriptedUpstream } from "../../packages/server/test/support/scripted-upstream.ts";
import { beforeTests } from "../support/hooks.ts";
import { startServer, type RunningServer } from "../support/running-server.ts";
import { BudgetTenant, type Key } from "./budget-tenant.ts";

const completion = {
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 1,
  model: "m",
  choices: [{ index: 0, message: { role: "assistant", content: "Yes." }, finish_reason: "stop" }],
  usage: { prompt_tokens: 100, completion_tokens: 100, total_tokens: 200 },
};
const chat = { model: "m", messages: [{ role: "user", content: "Hello?" }], max_tokens: 100 };
const cost = 0.002;

describe("a budget", () => {
  let server: RunningServer;
  beforeTests(async (stack) => {
    const upstream = stack.use(await startScriptedUpstream((exchange) => exchange.answer(completion)));
    server = stack.use(
      await startServer(`
engines: { gpu: { type: openai_compatible, base_url: "${upstream.url}/v1", models: [m] } }
telemetry: { token_prices: { m: { input: 10, output: 10 } } }
`),
    );
  });

  async function admin(secret: string, method: string, path: string, body?: object) {
    const response = await fetch(`${server.url}/admin/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const { error, ...answer } = (await response.json()) as Key & {
      error?: { message: string };
      data: readonly { name: string }[];
    };
    return { status: response.status, message: error?.message ?? "", answer };
  }

  test("of a key goes on when the key is rotated", async () => {
    const tenant = await BudgetTenant.create(server);
    const key = await tenant.key();
    const own = await tenant.budget({ name: "own", amount: 1.5 * cost, subject: "key", value: key.id });
    const each = await tenant.budget({ name: "each", amount: 1, subject: "key" });
    assert.equal(await tenant.status(key, "/v1/chat/completions", chat), 200);
    const { answer: rotated } = await admin(server.operatorKey, "POST", `/keys/${key.id}/rotate`, {});
    assert.notEqual(rotated.id, key.id);
    assert.equal(await tenant.status(rotated, "/v1/chat/completions", chat), 429);
    assert.equal(await tenant.status(rotated, "/v1/chat/completions", { ...chat, max_tokens: 1 }), 200);
    assert.equal((await tenant.show(own)).used, 2 * cost);
    const { values } = await tenant.show(each);
    assert.deepEqual(
      values?.map(({ used, value }) => [value, used]),
      [[key.id, 2 * cost]],
    );
  });

  test("that never starts again tells no time to wait", async () => {
    const tenant = await BudgetTenant.create(server);
    const key = await tenant.key();
    await tenant.budget({ name: "trial", amount: cost, period: "total" });
    assert.equal(await tenant.status(key, "/v1/chat/completions", chat), 200);
    const response = await tenant.call(key, "/v1/chat/completions", chat);
    assert.equal(response.headers.get("retry-after"), null);
    const { error } = (await response.json()) as { error: { code: string; message: string } };
    assert.equal(error.code, "insufficient_quota");
    assert.equal(
      error.message,
      'The budget "trial" is used up: 0.002 USD of 0.002 USD. It does not start again automatically.',
    );
  });

  test("is seen with spend_read, changed with admin, and that of an operator only by operators", async () => {
    const tenant = await BudgetTenant.create(server);
    const [caller, reader, owner] = await Promise.all(
      [["inference"], ["spend_read"], ["admin"]].map((permissions) => tenant.key({ permissions })),
    );
    const { id } = await tenant.budget({ name: "of the operator", amount: 1 });
    const created = await admin(owner!.secret, "POST", "/budgets", { name: "own", amount: 1 });
    assert.equal(created.status, 201);
    for (const [key, listed, changedOwn, changed] of [
      [caller!, 403, 403, 403],
      [reader!, 200, 403, 403],
      [owner!, 200, 200, 403],
    ] as const) {
      assert.equal((await admin(key.secret, "GET", "/budgets")).status, listed);
      assert.equal((await admin(key.secret, "GET", `/budgets/${id}`)).status, listed);
      assert.equal(
        (await admin(key.secret, "PATCH", `/budgets/${created.answer.id}`, { amount: 2 })).status,
        changedOwn,
      );
      assert.equal((await admin(key.secret, "PATCH", `/budgets/${id}`, { amount: 2 })).status, changed);
      assert.equal((await admin(key.secret, "DELETE", `/budgets/${id}`)).status, changed);
    }
    const { answer } = await admin(reader!.secret, "GET", "/budgets");
    assert.deepEqual(new Set(answer.data.map(({ name }) => name)), new Set(["of the operator", "own"]));
    assert.equal((await admin(server.operatorKey, "PATCH", `/budgets/${id}`, { amount: 2 })).status, 200);
  });

  test("is one of at most 100 of its organization", async () => {
    const tenant = await BudgetTenant.create(server);
    for (let count = 0; count < 100; count++) await tenant.budget({ name: `budget ${count}`, amount: 1 });
    await assert.rejects(tenant.budget({ name: "one more", amount: 1 }), /100/);
    const other = await BudgetTenant.create(server);
    await other.budget({ name: "first", amount: 1 });
  });
});
