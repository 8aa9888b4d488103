/** Budgets in money: what they reserve, count and refuse, in every API whose calls have a price. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { describe, test } from "node:test";
import {
  startScriptedUpstream,
  type ScriptedExchange,
  type ScriptedUpstream,
} from "../../packages/server/test/support/scripted-upstream.ts";
import { estimateTokens } from "../../packages/server/src/estimate-tokens.ts";
import { formOf, toneFile } from "../../packages/server/test/support/test-transcription.ts";
import { beforeTests } from "../support/hooks.ts";
import { startServer, type RunningServer } from "../support/running-server.ts";
import { BudgetTenant } from "./budget-tenant.ts";

const messages = [{ role: "user", content: "Hello?" }];
const usage = { prompt_tokens: 100, completion_tokens: 100, total_tokens: 200 };
const head = { id: "chatcmpl-1", created: 1, model: "m" };
const chunk = (members: object): object => ({ ...head, object: "chat.completion.chunk", choices: [], ...members });
const completion = {
  ...head,
  object: "chat.completion",
  choices: [{ index: 0, message: { role: "assistant", content: "Yes." }, finish_reason: "stop" }],
  usage,
};
/** A cent for a thousand tokens: a call of `m` costs 0.002. */
const chat = { model: "m", messages, max_tokens: 100 };
const cost = 0.002;

interface ErrorAnswer {
  readonly error: { readonly code: string; readonly message: string };
}

describe("budgets", () => {
  let server: RunningServer;
  let upstream: ScriptedUpstream;
  /** Calls of the model `slow`, which wait. */
  const arrivals = new EventTarget();
  let waiting: ScriptedExchange;

  beforeTests(async (stack) => {
    upstream = await startScriptedUpstream(answer);
    stack.defer(() => upstream.close());
    server = stack.use(
      await startServer(`
engines:
  gpu:
    type: openai_compatible
    base_url: "${upstream.url}/v1"
    models: [m, slow, cheap, broken, unpriced, free, embedder, speaker, hearer]
    capabilities: { embedder: [embeddings], speaker: [speech], hearer: [transcription] }
  native: { type: openai_compatible, base_url: "${upstream.url}/v1", models: [compactor], wires: [responses] }
aliases: { nickname: gpu/m }
models:
  long: { targets: [{ engine: gpu, model: m }] }
  falling: { targets: [{ engine: gpu, model: broken }], fallbacks: [costly], retries: { attempts: 0 } }
  costly: { targets: [{ engine: gpu, model: m }] }
guardrails:
  judge: { type: moderation, base_url: "${upstream.url}/v1", model: judge, categories: { violence: { action: block } }, models: [never] }
limits: { budget_output_tokens: 10, max_output_tokens: { long: 200, gpu/slow: 300 } }
telemetry:
  token_prices:
    gpu/m: { input: 10, output: 10 }
    gpu/slow: { input: 10, output: 10 }
    gpu/cheap: { input: 0.01, output: 0.01 }
    gpu/broken: { input: 1, output: 1 }
    gpu/free: { input: 0, output: 0 }
    embedder: { input: 10, output: 0 }
    gpu/embedder: { input: 10, output: 0 }
    gpu/speaker: { characters: 100 }
    gpu/hearer: { audio_minute: 0.06 }
    judge: { request: 0.002 }
    native/compactor: { input: 10, output: 10 }
`),
    );
  });

  async function answer(exchange: ScriptedExchange): Promise<void> {
    if (exchange.path.endsWith("/compact")) {
      const used = { input_tokens: 100, output_tokens: 100, total_tokens: 200 };
      return exchange.answer({ id: "resp_1", object: "response.compaction", output: [], usage: used });
    }
    if (exchange.path.endsWith("/embeddings")) {
      const data = [{ object: "embedding", index: 0, embedding: [1, 0] }];
      return exchange.answer({
        object: "list",
        data,
        model: "embedder",
        usage: { prompt_tokens: 200, total_tokens: 200 },
      });
    }
    if (exchange.path.endsWith("/speech")) {
      exchange.begin(200, { "content-type": "audio/pcm" });
      await exchange.send(Buffer.alloc(4_800));
      return exchange.end();
    }
    if (exchange.path.endsWith("/transcriptions")) {
      return exchange.answer({ text: "Yes.", usage: { type: "duration", seconds: 2 } });
    }
    if (exchange.path.endsWith("/moderations")) {
      return exchange.answer({ id: "modr-1", model: "judge", results: [{ categories: {}, category_scores: {} }] });
    }
    const { model, stream } = exchange.json as { model: string; stream?: boolean };
    if (model === "broken") return exchange.answer({ error: { message: "Broken." } }, 500);
    if (model === "slow") {
      exchange.beginEvents();
      await exchange.sendEvents(chunk({ choices: [{ index: 0, delta: { content: "x".repeat(400) } }] }));
      waiting = exchange;
      arrivals.dispatchEvent(new Event("arrival"));
      return;
    }
    if (stream !== true) return exchange.answer(completion);
    exchange.beginEvents();
    const content = chunk({ choices: [{ index: 0, delta: { content: "Yes." }, finish_reason: "stop" }] });
    await exchange.sendEvents(content, chunk({ usage }), "[DONE]");
    exchange.end();
  }

  async function refusal(response: Response): Promise<ErrorAnswer["error"]> {
    const { error } = (await response.json()) as ErrorAnswer;
    assert.equal(response.status, 429, error.message);
    return error;
  }

  test("refuse a stream when the dollar of its key is spent, and say when the budget starts again", async () => {
    const tenant = await BudgetTenant.create(server);
    const [key, other] = [await tenant.key(), await tenant.key()];
    const budget = await tenant.budget({
      name: "one dollar",
      amount: 0.007,
      subject: "key",
      value: key.id,
      period: "day",
    });
    const stream = { ...chat, stream: true };
    for (let call = 0; call < 3; call++) assert.equal(await tenant.status(key, "/v1/chat/completions", stream), 200);
    const response = await tenant.call(key, "/v1/chat/completions", stream);
    const { code, message } = await refusal(response);
    const { remaining, resets_at: resetsAt, reserved, used } = await tenant.show(budget);
    const again = new Date(resetsAt! * 1000).toISOString().replace(".000", "");
    assert.equal(code, "insufficient_quota");
    assert.equal(
      message,
      `The budget "one dollar" has 0.001 USD of 0.007 USD left, and this call may cost 0.00123 USD. It starts again at ${again}. A call that limits its output, such as by max_tokens, may cost less.`,
    );
    const seconds = Number(response.headers.get("retry-after"));
    assert.ok(Math.abs(Date.now() / 1000 + seconds - resetsAt!) < 60, `${seconds} s`);
    assert.deepEqual({ remaining, reserved, used }, { remaining: 0.001, reserved: 0, used: 3 * cost });
    // A call that fits goes on, and so do the calls of other keys.
    assert.equal(await tenant.status(key, "/v1/chat/completions", { ...chat, max_tokens: 1 }), 200);
    assert.equal(await tenant.status(other, "/v1/chat/completions", stream), 200);
    const { message: usedUp } = await refusal(
      await tenant.call(key, "/v1/chat/completions", { ...chat, max_tokens: 1 }),
    );
    assert.match(usedUp, /^The budget "one dollar" is used up: 0\.008 USD of 0\.007 USD\. It starts again at /);
    // More money, more calls.
    await tenant.update(budget, { amount: 1 });
    assert.equal(await tenant.status(key, "/v1/chat/completions", stream), 200);
    assert.equal((await tenant.show(budget)).used, 5 * cost);
  });

  const wires: readonly (readonly [string, unknown, RegExp])[] = [
    ["/v1/chat/completions", chat, /"code":"insufficient_quota"/],
    ["/v1/completions", { model: "m", prompt: "Hello?", max_tokens: 100 }, /"code":"insufficient_quota"/],
    ["/v1/responses", { model: "m", input: "Hello?", max_output_tokens: 100 }, /"code":"insufficient_quota"/],
    ["/v1/responses/compact", { model: "compactor", input: "Hello?" }, /"code":"insufficient_quota"/],
    ["/v1/messages", { model: "m", messages, max_tokens: 100 }, /"type":"error".*"type":"rate_limit_error"/],
    ["/v1/embeddings", { model: "embedder", input: "Hello?" }, /"code":"insufficient_quota"/],
    ["/v1/moderations", { model: "judge", input: "Hello?" }, /"code":"insufficient_quota"/],
    [
      "/v1/audio/speech",
      { model: "speaker", voice: "alloy", input: "x".repeat(20), response_format: "pcm" },
      /insufficient_quota/,
    ],
  ];
  for (const [path, body, shape] of wires) {
    test(`count and refuse calls of ${path}, in its own form`, async () => {
      const tenant = await BudgetTenant.create(server);
      const key = await tenant.key();
      const budget = await tenant.budget({ name: "all", amount: 2 * cost });
      // What is estimated before a call may be more than what it costs.
      await tenant.update(budget, { amount: 1 });
      const team = await tenant.budget({ name: "team", amount: 1, subject: "tag", tag: "team" });
      const headers = { "x-tags": "team=search%20%26%20ads, other=1" };
      assert.equal(await tenant.status(key, path, body, { headers }), 200);
      assert.equal((await tenant.show(budget)).used, cost);
      assert.deepEqual(
        (await tenant.show(team)).values?.map(({ used, value }) => [value, used]),
        [["search & ads", cost]],
      );
      await tenant.update(budget, { amount: cost });
      const refused = await tenant.call(key, path, body);
      assert.equal(refused.status, 429);
      assert.match(await refused.text(), shape);
      assert.equal((await tenant.show(budget)).used, cost);
    });
  }

  test("count and refuse transcriptions", async () => {
    const tenant = await BudgetTenant.create(server);
    const key = await tenant.key();
    const budget = await tenant.budget({ name: "all", amount: 1 });
    const team = await tenant.budget({ name: "team", amount: 1, subject: "tag", tag: "team", value: "search" });
    const form = () => formOf({ model: "hearer", response_format: "json", file: toneFile(1) });
    const headers = { "x-tags": "team=search" };
    assert.equal(await tenant.status(key, "/v1/audio/transcriptions", form(), { headers }), 200);
    for (const each of [budget, team]) assert.equal((await tenant.show(each)).used, cost);
    await tenant.update(budget, { amount: cost });
    const response = await tenant.call(key, "/v1/audio/transcriptions", form());
    assert.equal((await refusal(response)).code, "insufficient_quota");
  });

  test("count responses in the background", async () => {
    const tenant = await BudgetTenant.create(server);
    const key = await tenant.key();
    const budget = await tenant.budget({ name: "all", amount: 1 });
    const body = { model: "m", input: "Hello?", background: true, max_output_tokens: 100 };
    let response = (await (await tenant.call(key, "/v1/responses", body)).json()) as { id: string; status: string };
    while (response.status !== "completed") {
      const headers = { authorization: `Bearer ${key.secret}` };
      response = (await (
        await fetch(`${server.url}/v1/responses/${response.id}`, { headers })
      ).json()) as typeof response;
      assert.ok(["queued", "in_progress", "completed"].includes(response.status), response.status);
    }
    assert.equal((await tenant.show(budget)).used, cost);
  });

  test("reserve what a running call may cost, and charge a stream that its client leaves", async () => {
    const tenant = await BudgetTenant.create(server);
    const key = await tenant.key();
    const budget = await tenant.budget({ name: "all", amount: 0.003 });
    const arrival = once(arrivals, "arrival");
    const leaving = new AbortController();
    const body = { ...chat, model: "slow", stream: true };
    const response = await tenant.call(key, "/v1/chat/completions", body, { signal: leaving.signal });
    await arrival;
    const { reserved, used } = await tenant.show(budget);
    assert.ok(reserved > 0.001 && reserved < 0.002, `${reserved}`);
    assert.equal(used, 0);
    const refused = await tenant.call(key, "/v1/chat/completions", { ...chat, max_tokens: 190 });
    assert.equal(refused.headers.get("retry-after"), "1");
    const { code, message } = await refusal(refused);
    assert.equal(code, "rate_limit_exceeded");
    assert.match(message, /^Calls in progress may need the rest of the budget "all": 0 USD of 0.003 USD are used/);
    leaving.abort();
    await assert.rejects(response.text());
    await waiting.closed;
    const ended = await untilSettled(tenant, budget);
    // The prompt, and the hundred tokens that were received.
    assert.ok(ended.used > 0.001 && ended.used < 0.002, `${ended.used}`);
    assert.equal(await tenant.status(key, "/v1/chat/completions", chat), 200);
  });

  async function untilSettled(tenant: BudgetTenant, budget: { readonly id: string }) {
    for (;;) {
      const shown = await tenant.show(budget);
      if (shown.reserved === 0) return shown;
    }
  }

  test("reserve for the most expensive model that may answer, and charge the one that did", async () => {
    const tenant = await BudgetTenant.create(server);
    const key = await tenant.key();
    const budget = await tenant.budget({ name: "all", amount: 0.001 });
    const body = { ...chat, model: "falling" };
    // A tenth of it would suffice for the model that is broken.
    assert.match((await refusal(await tenant.call(key, "/v1/chat/completions", body))).message, /may cost 0\.0012/);
    await tenant.update(budget, { amount: 1 });
    assert.equal(await tenant.status(key, "/v1/chat/completions", body), 200);
    assert.equal((await tenant.show(budget)).used, cost);
  });

  for (const [model, members, most] of [
    ["m", {}, 10],
    ["long", {}, 200],
    ["slow", {}, 300],
    ["long", { max_tokens: 20 }, 20],
    ["long", { n: 2 }, 400],
  ] as const) {
    test(`reserve ${most} tokens of output for ${model} with ${JSON.stringify(members)}`, async () => {
      const tenant = await BudgetTenant.create(server);
      const key = await tenant.key();
      await tenant.budget({ name: "all", amount: 0.000_01 });
      const body = { model, messages, ...members };
      const { message } = await refusal(await tenant.call(key, "/v1/chat/completions", body));
      const reserved = Number(/may cost ([\d.]+)/.exec(message)?.[1]) * 1e5;
      const prompt = estimateTokens(JSON.stringify(body).length);
      assert.equal(Math.round(reserved) - prompt, most, message);
    });
  }

  test("refuse models without a price unless they are allowed, and never refuse free ones", async () => {
    const tenant = await BudgetTenant.create(server);
    const key = await tenant.key();
    const budget = await tenant.budget({ name: "all", amount: cost });
    const unpriced = { ...chat, model: "unpriced" };
    const { message } = await refusal(await tenant.call(key, "/v1/chat/completions", unpriced));
    assert.match(message, /^The model "unpriced" has no known price, so the budget "all" cannot count its calls/);
    await tenant.update(budget, { unpriced: "allow" });
    assert.equal(await tenant.status(key, "/v1/chat/completions", unpriced), 200);
    assert.equal(await tenant.status(key, "/v1/chat/completions", chat), 200);
    await tenant.update(budget, { unpriced: "refuse" });
    assert.equal((await tenant.show(budget)).remaining, 0);
    await refusal(await tenant.call(key, "/v1/chat/completions", chat));
    assert.equal(await tenant.status(key, "/v1/chat/completions", { ...chat, model: "free" }), 200);
  });

  test("that are nested all count and all apply", async () => {
    const tenant = await BudgetTenant.create(server);
    const project = await tenant.key();
    const key = await tenant.key();
    const whole = await tenant.budget({ name: "whole", amount: 3.5 * cost });
    const eachKey = await tenant.budget({ name: "each key", amount: 2.5 * cost, subject: "key" });
    for (let call = 0; call < 2; call++) assert.equal(await tenant.status(key, "/v1/chat/completions", chat), 200);
    assert.match((await refusal(await tenant.call(key, "/v1/chat/completions", chat))).message, /"each key"/);
    assert.equal(await tenant.status(project, "/v1/chat/completions", chat), 200);
    assert.match((await refusal(await tenant.call(project, "/v1/chat/completions", chat))).message, /"whole"/);
    const { remaining, used, values } = await tenant.show(eachKey);
    assert.deepEqual([used, remaining], [3 * cost, null]);
    assert.deepEqual(
      values?.map((each) => [each.value, each.used, each.remaining]),
      [
        [key.id, 2 * cost, 0.5 * cost],
        [project.id, cost, 1.5 * cost],
      ],
    );
    assert.equal((await tenant.show(whole)).used, 3 * cost);
  });

  test("for users, models, projects and tags count the calls that name them", async () => {
    const tenant = await BudgetTenant.create(server);
    const key = await tenant.key();
    const of = (name: string, members: object) => tenant.budget({ name, amount: 1, enforced: false, ...members });
    const budgets = {
      alice: await of("alice", { subject: "user", value: "alice" }),
      users: await of("users", { subject: "user" }),
      nickname: await of("nickname", { subject: "model", value: "nickname" }),
      model: await of("model", { subject: "model", value: "gpu/m" }),
      project: await of("project", { subject: "project", value: "shop" }),
      team: await of("team", { subject: "tag", tag: "team", value: "blue" }),
      teams: await of("teams", { subject: "tag", tag: "team" }),
    };
    const send = (body: object, headers: Record<string, string> = {}) =>
      tenant.status(key, "/v1/chat/completions", { ...chat, ...body }, { headers });
    for (const [body, headers] of [
      [{ user: "alice" }, {}],
      [{ safety_identifier: "alice" }, {}],
      [{ user: "bob", model: "nickname" }, { "x-project": "shop" }],
      [{ metadata: { team: "blue" } }, { "x-user-id": "carol" }],
      [{ metadata: { team: "red", other: "blue" }, model: "cheap" }, {}],
    ] as const) {
      assert.equal(await send(body, headers), 200);
    }
    const used = await Promise.all(
      Object.entries(budgets).map(async ([name, budget]) => {
        const shown = await tenant.show(budget);
        const values = shown.values?.map((each) => [each.value, each.used]);
        return [name, values === undefined ? shown.used : Object.fromEntries(values)];
      }),
    );
    assert.deepEqual(Object.fromEntries(used), {
      alice: 2 * cost,
      users: { alice: 2 * cost, bob: cost, carol: cost },
      nickname: cost,
      model: cost,
      project: cost,
      team: cost,
      teams: { blue: cost, red: 0.000_002 },
    });
  });

  test("of one tenant are another's business neither to see nor to change", async () => {
    const [tenant, other] = [await BudgetTenant.create(server), await BudgetTenant.create(server)];
    const [key, stranger] = [await tenant.key(), await other.key({ permissions: ["inference", "admin"] })];
    const budget = await tenant.budget({ name: "all", amount: cost });
    assert.equal(await other.status(stranger, "/v1/chat/completions", chat), 200);
    assert.equal((await tenant.show(budget)).used, 0);
    assert.equal(await tenant.status(key, "/v1/chat/completions", { ...chat, max_tokens: 1 }), 200);
    assert.equal(await other.status(stranger, "/v1/chat/completions", chat), 200);
    const headers = { authorization: `Bearer ${stranger.secret}`, "content-type": "application/json" };
    for (const method of ["GET", "PATCH", "DELETE"]) {
      const body = method === "PATCH" ? { body: JSON.stringify({ amount: 5 }) } : {};
      const response = await fetch(`${server.url}/admin/v1/budgets/${budget.id}`, { method, headers, ...body });
      assert.equal(response.status, 404, await response.text());
    }
    const list = await (await fetch(`${server.url}/admin/v1/budgets`, { headers })).json();
    assert.deepEqual((list as { data: unknown }).data, []);
  });

  test("say in a header, from then on, that a threshold was reached", async () => {
    const tenant = await BudgetTenant.create(server);
    const key = await tenant.key();
    await tenant.budget({ name: "Fünf Uhr", amount: 4 * cost, thresholds: [80, 50] });
    await tenant.budget({ name: "quiet", amount: 1, thresholds: [50] });
    const warnings: (string | null)[] = [];
    for (let call = 0; call < 3; call++) {
      const response = await tenant.call(key, "/v1/chat/completions", chat);
      await response.arrayBuffer();
      warnings.push(response.headers.get("x-budget-warning"));
    }
    assert.deepEqual(warnings, [null, null, "F%C3%BCnf%20Uhr;used=50;threshold=50"]);
  });

  test("are deleted with what they counted", async () => {
    const tenant = await BudgetTenant.create(server);
    const key = await tenant.key();
    const members = { name: "all", amount: cost };
    const budget = await tenant.budget(members);
    assert.equal(await tenant.status(key, "/v1/chat/completions", chat), 200);
    await refusal(await tenant.call(key, "/v1/chat/completions", chat));
    assert.equal((await tenant.delete(budget)).used, cost);
    assert.equal(await tenant.status(key, "/v1/chat/completions", chat), 200);
    assert.equal((await tenant.budget(members)).used, 0);
    assert.equal(await tenant.status(key, "/v1/chat/completions", chat), 200);
  });

  for (const [members, message] of [
    [{ amount: 0 }, /amount is 0; expected/],
    [{ amount: 1e-12 }, /amount is 1e-12; expected at least 0\.000000001/],
    [{ currency: "EUR" }, /currency is "EUR"; expected "USD"/],
    [{ time_zone: "Mars/Olympus" }, /time_zone is "Mars\/Olympus"; expected an IANA name/],
    [{ subject: "tag" }, /tag is missing/],
    [{ tag: "team" }, /tag is "team", but subject is "organization"/],
    [{ value: "x" }, /value is "x", but subject is "organization"/],
    [{ subject: "key", value: "key_0" }, /The key "key_0" does not exist in the organization/],
    [{ thresholds: [0] }, /thresholds\[0\] is 0/],
    [{ period: "year" }, /period is "year"; expected one of "day", "week", "month", "total"/],
  ] as const) {
    test(`refuse ${JSON.stringify(members)} by name`, async () => {
      const tenant = await BudgetTenant.create(server);
      await assert.rejects(tenant.budget({ name: "all", amount: 1, ...members }), message);
    });
  }
});
