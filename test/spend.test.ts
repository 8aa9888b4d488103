/** What calls cost, added up: over HTTP and by the client, for an organization, its projects and operators. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { AsyncSounding, PermissionDeniedError, type Spend } from "@sounding/client";
import { startScriptedUpstream } from "../packages/server/test/support/scripted-upstream.ts";
import { beforeTests } from "./support/hooks.ts";
import { startServer, untilTelemetryReady, type RunningServer } from "./support/running-server.ts";

const usage = { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 };
const messages = [{ role: "user" as const, content: "Hello?" }];

interface Tenant {
  readonly id: string;
  readonly key: string;
  readonly keyId: string;
  readonly client: AsyncSounding;
}

let server: RunningServer;
let ours: Tenant;
let theirs: Tenant;

beforeTests(async (stack) => {
  const upstream = stack.use(
    await startScriptedUpstream((exchange) => {
      const { model } = exchange.json as { model: string };
      if (model === "broken") exchange.answer({ error: { message: "no" } }, 400);
      else {
        exchange.answer({
          id: `chatcmpl-${exchange.index}`,
          object: "chat.completion",
          created: 1,
          model,
          choices: [{ index: 0, message: { role: "assistant", content: "Yes." }, finish_reason: "stop" }],
          usage,
        });
      }
    }),
  );
  server = stack.use(
    await startServer(
      `engines: { gpu: { type: openai_compatible, base_url: "${upstream.url}/v1", models: [large, small, free, broken] } }
telemetry: { currency: EUR, token_prices: { large: { input: 2.5, output: 10 }, small: { input: 0.000001, output: 0 }, broken: { input: 1, output: 1 } } }
`,
      { telemetry: true },
    ),
  );
  await untilTelemetryReady(server);
  [ours, theirs] = (await Promise.all(["ours", "theirs"].map(createTenant))) as [Tenant, Tenant];
  const calls: [Tenant, object, Record<string, string>][] = [
    [ours, { model: "large", user: "ada", metadata: { team: "search", session_id: "s-1" } }, { "x-project": "web" }],
    [ours, { model: "large", user: "bob", metadata: { team: "chat", nested: { a: 1 } } }, { "x-project": "web" }],
    [ours, { model: "large", safety_identifier: "ada" }, {}],
    [ours, { model: "small" }, {}],
    [ours, { model: "free", user: "ada" }, {}],
    [ours, { model: "broken" }, {}],
    [theirs, { model: "large", user: "ada" }, { "x-tags": "team=search" }],
  ];
  await Promise.all(
    calls.map(async ([tenant, body, headers]) => {
      const response = await send("/v1/chat/completions", tenant.key, { messages, ...body }, headers);
      assert.equal(response.status, (body as { model: string }).model === "broken" ? 400 : 200, await response.text());
    }),
  );
  // The spans of calls are written a moment later.
  while (callsOf(await ours.client.spend.query()) < 6 || callsOf(await theirs.client.spend.query()) < 1);
});

function callsOf({ totals }: Spend): number {
  return totals.reduce((sum, { calls }) => sum + calls, 0);
}

async function send(path: string, key: string, body?: object, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${server.url}${path}`, {
    ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
  });
}

async function create<Created>(path: string, body: object): Promise<Created> {
  return (await (await send(`/admin/v1/${path}`, server.operatorKey, body)).json()) as Created;
}

async function createTenant(name: string): Promise<Tenant> {
  const { id } = await create<{ id: string }>("organizations", { name });
  const { id: keyId, secret } = await create<{ id: string; secret: string }>("keys", {
    name: "app",
    organization_id: id,
  });
  const client = new AsyncSounding({ apiKey: secret, baseUrl: server.url, maxRetries: 0 });
  return { id, key: secret, keyId, client };
}

function asText(left: unknown, right: unknown): number {
  return String(left) < String(right) ? -1 : 1;
}

/** The values of the groups, with their cost. */
function costs({ by, data }: Spend): unknown[] {
  return data.map(({ cost, group }) => [...by.map((name) => group[name]), cost]).sort(asText);
}

describe("spend", () => {
  const cost = "0.0035";

  test("is exact, with calls and tokens, and calls without a price are unknown", async () => {
    const { by, data, end, start, totals, ...others } = await ours.client.spend.query({ by: "model" });
    const counts = { cache_read_tokens: 0, cache_write_tokens: 0, currency: "EUR" };
    assert.deepEqual(others, { object: "spend", time_zone: "UTC", truncated: false });
    assert.deepEqual(by, ["model"]);
    assert.equal(Date.parse(end) - Date.parse(start), 30 * 86_400_000);
    const used = (calls: number) => ({ calls, input_tokens: 1000 * calls, output_tokens: 100 * calls, ...counts });
    assert.deepEqual(data, [
      { group: { model: "large" }, cost: "0.0105", unpriced_calls: 0, ...used(3) },
      // A billionth.
      { group: { model: "small" }, cost: "0.000000001", unpriced_calls: 0, ...used(1) },
      { group: { model: "broken" }, cost: "0", unpriced_calls: 0, ...used(0), calls: 1 },
      { group: { model: "free" }, cost: "0", unpriced_calls: 1, ...used(1) },
    ]);
    assert.deepEqual(totals, [{ cost: "0.010500001", unpriced_calls: 1, ...used(5), calls: 6 }]);
  });

  test("is grouped by engine, project, key, user, tag and day", async () => {
    const today = new Date().toISOString().slice(0, 10);
    const priced = { model: "large" };
    for (const [by, expected] of [
      ["engine", [["gpu", "0.0105"]]],
      [
        "project",
        [
          ["default", cost],
          ["web", "0.007"],
        ],
      ],
      ["key", [[ours.keyId, "0.0105"]]],
      [
        "user",
        [
          ["ada", "0.007"],
          ["bob", cost],
        ],
      ],
      [
        "tag:team",
        [
          ["chat", cost],
          ["search", cost],
          [null, cost],
        ],
      ],
      ["tag:nested", [[null, "0.0105"]]],
      ["tag:session_id", [[null, "0.0105"]]],
      ["day", [[today, "0.0105"]]],
      ["organization", [[ours.id, "0.0105"]]],
      [
        "user,tag:team",
        [
          ["ada", "search", cost],
          ["ada", null, cost],
          ["bob", "chat", cost],
        ],
      ],
    ] as const) {
      assert.deepEqual(costs(await ours.client.spend.query({ by, ...priced })), expected.toSorted(asText), by);
    }
    const [group] = (await ours.client.spend.query({ by: ["organization", "key"], ...priced })).data;
    assert.deepEqual([group?.key_name, group?.organization_name], ["app", "ours"]);
  });

  test("is filtered by the same, also by what calls lack", async () => {
    const calls = async (query: object): Promise<number> => callsOf(await ours.client.spend.query(query));
    assert.equal(await calls({ user_id: "ada" }), 3);
    assert.equal(await calls({ user_id: "" }), 2);
    assert.equal(await calls({ tags: { team: "search" } }), 1);
    assert.equal(await calls({ tags: { team: "" }, model: "large" }), 1);
    assert.equal(await calls({ project_name: "web", engine: "gpu" }), 2);
    assert.equal(await calls({ key_id: ours.keyId }), 6);
    assert.equal(await calls({ key_id: theirs.keyId }), 0);
    assert.equal(await calls({ engine: "other" }), 0);
    assert.equal(await calls({ start: "2026-01-01", end: "2026-02-01" }), 0);
  });

  test("of a zone begins at its midnight", async () => {
    const range = { start: "2026-03-29", end: "2026-03-30", time_zone: "Europe/Berlin", by: "day" };
    const { end, start } = await ours.client.spend.query(range);
    assert.deepEqual([start, end], ["2026-03-28T23:00:00.000Z", "2026-03-29T22:00:00.000Z"]);
  });

  test("of a key that is bound to a project is that project's", async () => {
    const project = await create<{ id: string }>("projects", { name: "web", organization_id: ours.id });
    const bound = { name: "bound", organization_id: ours.id, project_id: project.id };
    const { secret } = await create<{ secret: string }>("keys", bound);
    const client = new AsyncSounding({ apiKey: secret, baseUrl: server.url, maxRetries: 0 });
    assert.equal(callsOf(await client.spend.query()), 2);
    await assert.rejects(client.spend.query({ project_name: "default" }), PermissionDeniedError);
  });

  test("of one organization is nobody else's", async () => {
    const { data, totals } = await theirs.client.spend.query({ by: "model,user,organization,key" });
    assert.equal(data.length, 1);
    assert.deepEqual(
      totals.map((each) => [each.calls, each.cost]),
      [[1, cost]],
    );
    await assert.rejects(theirs.client.spend.query({ organization_id: ours.id }), PermissionDeniedError);
    await assert.rejects(theirs.client.spend.queryOrganizations(), PermissionDeniedError);
  });

  test("of all organizations is an operator's, who may name one", async () => {
    const operator = new AsyncSounding({ apiKey: server.operatorKey, baseUrl: server.url, maxRetries: 0 });
    const all = await operator.spend.queryOrganizations({ by: "organization", model: "large" });
    assert.deepEqual(
      costs(all),
      [
        [ours.id, "0.0105"],
        [theirs.id, cost],
      ].sort(asText),
    );
    assert.deepEqual(
      all.data.map(({ organization_name: name }) => name),
      ["ours", "theirs"],
    );
    const merged = await operator.spend.queryOrganizations({ by: "user", tags: { team: "search" } });
    assert.deepEqual(costs(merged), [["ada", "0.007"]]);
    const limited = await operator.spend.queryOrganizations({ by: "organization", limit: 1 });
    assert.deepEqual([limited.data.length, limited.truncated, limited.totals[0]?.calls], [1, true, 7]);
    const named = await operator.spend.queryOrganizations({ organization_id: "theirs" });
    assert.equal(callsOf(named), 1);
    const response = await send("/admin/v1/spend?organization_id=nobody", server.operatorKey);
    assert.equal(response.status, 404);
  });

  test("is limited like other queries", async () => {
    const limits = { compute_seconds_per_minute: 1 };
    const { secret } = await create<{ secret: string }>("keys", { name: "slow", organization_id: ours.id, limits });
    let status = 200;
    while (status === 200) ({ status } = await send("/observability/spend?by=user,model,day", secret));
    assert.equal(status, 429);
  });

  test("refuses what it does not know, naming it", async () => {
    for (const [query, param, text] of [
      ["by=colour", "by", /"colour"; expected day, model, .* or tag:NAME/],
      ["by=model,model", "by", /each dimension once/],
      ["by=day,model,engine,project,user", "by", /at most 4/],
      ["by=tag:", "by", /tag:NAME/],
      ["time_zone=Mars/Olympus", "time_zone", /IANA/],
      ["start=2026-02-31", "start", /2026-02-31/],
      ["start=yesterday", "start", /RFC 3339/],
      ["start=2026-01-02&end=2026-01-01", "start", /before/],
      ["start=1990-01-01", "start", /at most 1100/],
      ["time_window=9000d", "time_window", /at most 1100/],
      ["limit=0", "limit", /limit/],
      ["tags=team", "tags", /tags/],
      ["tags=%7B%22team%22%3A5%7D", "tags", /team/],
      ["colour=red", "colour", /colour/],
    ] as const) {
      const response = await send(`/observability/spend?${query}`, ours.key);
      const { error } = (await response.json()) as { error: { param: string; message: string } };
      assert.equal(response.status, 400, query);
      assert.match(error.message, text);
      assert.ok(error.param.startsWith(param), `${query}: ${error.param}`);
    }
  });
});
