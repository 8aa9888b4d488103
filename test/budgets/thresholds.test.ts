/** Thresholds of budgets: each is sent once to the receivers of alerts of its organization, and of no other. */
import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { startScriptedUpstream } from "../../packages/server/test/support/scripted-upstream.ts";
import { startServer, untilTelemetryReady } from "../support/running-server.ts";
import { BudgetTenant } from "./budget-tenant.ts";

interface Payload {
  readonly alerts: readonly {
    readonly status: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations: { readonly summary: string };
  }[];
}

const completion = {
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 1,
  model: "m",
  choices: [{ index: 0, message: { role: "assistant", content: "Yes." }, finish_reason: "stop" }],
  usage: { prompt_tokens: 50, completion_tokens: 50, total_tokens: 100 },
};

test("a threshold is sent to webhooks once, with the budget and what is used of it", { timeout: 60_000 }, async () => {
  await using upstream = await startScriptedUpstream((exchange) => exchange.answer(completion));
  await using receiver = await startScriptedUpstream((exchange) => exchange.answer({}));
  await using server = await startServer(`
engines: { gpu: { type: openai_compatible, base_url: "${upstream.url}/v1", models: [m] } }
telemetry: { token_prices: { m: { input: 10, output: 10 } } }
alerts:
  receivers:
    hook: { type: webhook, url: "${receiver.url}/alerts", secret: whsec_${Buffer.alloc(24).toString("base64")} }
    other: { type: webhook, url: "${receiver.url}/other", secret: whsec_${Buffer.alloc(24).toString("base64")}, organizations: [nobody] }
`);
  const tenant = await BudgetTenant.create(server);
  const key = await tenant.key();
  await tenant.budget({ name: "users", amount: 0.002, subject: "user", enforced: false, thresholds: [50, 100, 150] });
  const chat = { model: "m", messages: [{ role: "user", content: "Hello?" }], max_tokens: 50, user: "alice" };
  const sent = () =>
    receiver.exchanges
      .map(({ body, path }) => ({ path, payload: JSON.parse(body.toString()) as Payload }))
      .flatMap(({ path, payload }) => payload.alerts.map((alert) => ({ path, ...alert })));
  for (const [calls, alerts] of [
    [1, 1],
    [1, 2],
    [2, 3],
  ] as const) {
    for (let call = 0; call < calls; call++) assert.equal(await tenant.status(key, "/v1/chat/completions", chat), 200);
    await receiver.until(() => sent().length >= alerts, `${alerts} alerts`);
  }
  assert.deepEqual(
    sent().map(({ labels, path, status }) => [
      path,
      status,
      labels["budget"],
      labels["value"],
      labels["threshold"],
      labels["severity"],
    ]),
    [
      ["/alerts", "firing", "users", "alice", "50", "warning"],
      ["/alerts", "firing", "users", "alice", "100", "critical"],
      ["/alerts", "firing", "users", "alice", "150", "critical"],
    ],
  );
  const { annotations, labels } = sent()[0]!;
  assert.equal(annotations.summary, 'The budget "users" of "alice" has reached 50 %: 0.001 of 0.002 USD are used.');
  assert.equal(labels["alertname"], "BudgetThreshold");
  assert.match(labels["period"]!, /^month \d{4}-\d{2}-01$/);
});

test("a threshold is a warning in the server's log, once", async () => {
  await using upstream = await startScriptedUpstream((exchange) => exchange.answer(completion));
  const log = new PassThrough();
  let text = "";
  log.on("data", (piece: Buffer) => (text += piece.toString()));
  {
    await using server = await startServer(
      `
engines: { gpu: { type: openai_compatible, base_url: "${upstream.url}/v1", models: [m] } }
telemetry: { token_prices: { m: { input: 10, output: 10 } } }
`,
      { log },
    );
    const tenant = await BudgetTenant.create(server);
    const key = await tenant.key();
    await tenant.budget({ name: "all", amount: 0.002, enforced: false, thresholds: [50, 100] });
    const chat = { model: "m", messages: [{ role: "user", content: "Hello?" }], max_tokens: 50 };
    for (let call = 0; call < 4; call++) assert.equal(await tenant.status(key, "/v1/chat/completions", chat), 200);
  }
  const lines = text
    .split("\n")
    .filter((line) => line.includes("a budget reached a threshold"))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  // Calls end before their costs are written, so that a threshold may be reported with those of later calls.
  assert.deepEqual(
    lines.map(({ amount, budget, currency, level, threshold }) => ({ amount, budget, currency, level, threshold })),
    [50, 100].map((threshold) => ({ amount: 0.002, budget: "all", currency: "USD", level: "warn", threshold })),
  );
});

test(
  "what is used of a budget is a metric of its organization, which alert rules can use",
  { timeout: 120_000 },
  async () => {
    await using upstream = await startScriptedUpstream((exchange) => exchange.answer(completion));
    await using server = await startServer(
      `
engines: { gpu: { type: openai_compatible, base_url: "${upstream.url}/v1", models: [m] } }
telemetry: { token_prices: { m: { input: 10, output: 10 } } }
`,
      { telemetry: true },
    );
    await untilTelemetryReady(server);
    const tenant = await BudgetTenant.create(server);
    const key = await tenant.key();
    await tenant.budget({ name: "all", amount: 0.004, thresholds: [25] });
    const chat = { model: "m", messages: [{ role: "user", content: "Hello?" }], max_tokens: 50 };
    assert.equal(await tenant.status(key, "/v1/chat/completions", chat), 200);
    const query = new URLSearchParams({ query: "sounding_budget_used / sounding_budget_amount > 0.2" });
    let result: readonly { readonly metric: Readonly<Record<string, string>>; readonly value: [number, string] }[] = [];
    while (result.length === 0) {
      const response = await fetch(`${server.url}/prometheus/api/v1/query?${query.toString()}`, {
        headers: { authorization: `Bearer ${key.secret}` },
      });
      ({ result } = ((await response.json()) as { data: { result: typeof result } }).data);
    }
    assert.equal(result[0]!.value[1], "0.25");
    assert.equal(result[0]!.metric["budget"], "all");
  },
);
