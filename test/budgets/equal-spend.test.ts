/** What budgets count is what spans, spend and metrics say, to the last billionth, however calls end. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { AsyncSounding } from "@sounding/client";
import { startScriptedUpstream } from "../../packages/server/test/support/scripted-upstream.ts";
import { startServer, untilTelemetryReady } from "../support/running-server.ts";
import { BudgetTenant } from "./budget-tenant.ts";

const head = { id: "chatcmpl-1", created: 1, model: "m" };
const users = ["ada", "bob", "carol"];
const calls = 48;

test("budgets, spend and metrics agree on calls that end in every way", { timeout: 120_000 }, async () => {
  let leave = (): void => {};
  await using upstream = await startScriptedUpstream(async (exchange) => {
    if (exchange.path.endsWith("/moderations")) {
      const { input } = exchange.json as { input: string[] };
      const results = input.map((text) => ({ categories: { violence: text.includes("bomb") }, category_scores: {} }));
      return exchange.answer({ id: "modr-1", model: "judge", results });
    }
    const { messages, model, stream } = exchange.json as {
      messages: { content: string }[];
      model: string;
      stream?: boolean;
    };
    // A third of a cent cannot be written with billionths: each call rounds.
    const size = Number(/\d+/.exec(messages[0]!.content)?.[0] ?? 0);
    const usage = { prompt_tokens: 97 + size, completion_tokens: 31 + size, total_tokens: 128 + 2 * size };
    const choice = { index: 0, finish_reason: "stop" };
    if (model === "broken") return exchange.answer({ error: { message: "Broken." } }, 500);
    if (stream !== true) {
      const choices = [{ ...choice, message: { role: "assistant", content: "Yes." } }];
      return exchange.answer({ ...head, object: "chat.completion", choices, usage });
    }
    const chunk = (members: object): object => ({ ...head, object: "chat.completion.chunk", choices: [], ...members });
    exchange.beginEvents();
    await exchange.sendEvents(chunk({ choices: [{ ...choice, delta: { content: "Yes." } }] }));
    if (messages[0]!.content.includes("leave")) return leave();
    await exchange.sendEvents(chunk({ usage }), "[DONE]");
    exchange.end();
  });
  await using server = await startServer(
    `
engines: { gpu: { type: openai_compatible, base_url: "${upstream.url}/v1", models: [m, broken, watched] } }
guardrails:
  judge: { type: moderation, base_url: "${upstream.url}/v1", model: judge, categories: { violence: { action: block } }, models: [watched] }
models:
  falling: { targets: [{ engine: gpu, model: broken }], fallbacks: [other], retries: { attempts: 0 } }
  other: { targets: [{ engine: gpu, model: m }] }
telemetry:
  token_prices:
    gpu/m: { input: 3.333333, output: 10.000007 }
    broken: { input: 1, output: 1 }
    watched: { currency: EUR, input: 2.5, output: 8.1 }
    judge: { request: 0.000123457 }
  exchange_rates: { EUR: 1.083 }
`,
    { telemetry: true },
  );
  await untilTelemetryReady(server);
  const tenant = await BudgetTenant.create(server);
  const key = await tenant.key({ permissions: ["inference", "spend_read", "telemetry_read"] });
  const whole = await tenant.budget({ name: "whole", amount: 100 });
  const each = await tenant.budget({ name: "each user", amount: 100, subject: "user", period: "total" });

  const kinds = ["batch", "stream", "leave", "falling", "refused", "failed", "watched", "messages"] as const;
  for (let index = 0; index < calls; index++) {
    const kind = kinds[index % kinds.length]!;
    const user = users[((index * 5) % 7) % users.length]!;
    const content = `${kind === "refused" ? "bomb" : kind} ${index * 13}`;
    const model =
      { falling: "falling", refused: "watched", watched: "watched", failed: "broken" }[kind as string] ?? "m";
    const body = { model, user, max_tokens: 2_000, messages: [{ role: "user", content }] };
    if (kind === "leave") {
      const leaving = new AbortController();
      const left = new Promise<void>((resolve) => {
        leave = resolve;
      });
      const stream = { ...body, stream: true };
      const response = await tenant.call(key, "/v1/chat/completions", stream, { signal: leaving.signal });
      await left;
      leaving.abort();
      await assert.rejects(response.text());
    } else if (kind === "messages") {
      const { user: _, ...message } = body;
      await tenant.status(key, "/v1/messages", { ...message, metadata: { user_id: user } });
    } else {
      await tenant.status(key, "/v1/chat/completions", { ...body, stream: kind === "stream" });
    }
  }

  let used = await tenant.show(whole);
  while (used.reserved > 0) used = await tenant.show(whole);
  const sounding = new AsyncSounding({ apiKey: key.secret, baseUrl: server.url });
  const read = () => sounding.spend.query({ by: ["user"] });
  let spend = await read();
  // The spans of calls are written a moment later.
  while ((spend.totals[0]?.calls ?? 0) < calls) spend = await read();
  const billionths = (amount: string | number): number => Math.round(Number(amount) * 1e9);
  assert.equal(billionths(spend.totals[0]!.cost), billionths(used.used));
  assert.ok(used.used > 0.01, `${used.used}`);
  const byUser = await tenant.show(each);
  assert.deepEqual(
    new Map(byUser.values!.map((value) => [value.value, billionths(value.used)])),
    new Map(spend.data.map(({ cost, group }) => [group["user"], billionths(cost)])),
  );
  const metrics = await (
    await fetch(`${server.url}/metrics`, { headers: { authorization: `Bearer ${server.operatorKey}` } })
  ).text();
  const counted = [...metrics.matchAll(/^sounding_call_cost_total\{[^}]*\} (\S+)$/gm)].map(([, value]) =>
    Number(value),
  );
  assert.equal(billionths(counted.reduce((sum, value) => sum + value, 0)), billionths(used.used));
});
