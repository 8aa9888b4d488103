/** `sounding key show` and `sounding org show` report the usage that a running server counts. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { runSounding } from "../packages/cli/test/run-sounding.ts";
import {
  startScriptedUpstream,
  type ScriptedExchange,
  type ScriptedUpstream,
} from "../packages/server/test/support/scripted-upstream.ts";
import { startServer, type RunningServer } from "./support/running-server.ts";
import { beforeTests } from "./support/hooks.ts";

interface Row {
  readonly limit: string;
  readonly applies_to: string;
  readonly value: number | null;
  readonly used: number | null;
  readonly remaining: number | null;
  readonly resets_at: number | null;
}

describe("limits with their usage", { timeout: 60_000 }, () => {
  let upstream: ScriptedUpstream;
  let server: RunningServer;
  /** Answers when it is called. */
  let waiting: ScriptedExchange | undefined;
  const arrivals = new EventTarget();

  beforeTests(async (stack) => {
    upstream = await startScriptedUpstream((exchange) => {
      waiting = exchange;
      arrivals.dispatchEvent(new Event("arrival"));
    });
    stack.defer(() => upstream.close());
    server = stack.use(
      await startServer(`
limits: { key: { tokens_per_minute: 200 }, organization: { tokens_per_month: 500 } }
engines:
  first: { type: openai_compatible, base_url: "${upstream.url}/v1", models: [m] }
models:
  one: { targets: [{ engine: first, model: m }] }
`),
    );
  });

  const answer = {
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1,
    model: "m",
    choices: [{ index: 0, message: { role: "assistant", content: "Yes." }, finish_reason: "stop" }],
    usage: { prompt_tokens: 30, completion_tokens: 12, total_tokens: 42 },
  };

  async function sounding(...words: string[]): Promise<string> {
    const env = { SOUNDING_ADMIN_KEY: server.operatorKey, SOUNDING_BASE_URL: server.url };
    const { code, stdout, stderr } = await runSounding(words, { env });
    assert.deepEqual([code, stderr], [0, ""]);
    return stdout;
  }

  async function usageOf(...words: string[]): Promise<(limit: string, appliesTo?: string) => Row> {
    const { usage } = JSON.parse(await sounding(...words, "--json")) as { usage: Row[] };
    return (limit, appliesTo = "inference") =>
      usage.find((each) => each.limit === limit && each.applies_to === appliesTo)!;
  }

  test("are counted while a call runs and after it, by key and by organization", async () => {
    await sounding("key", "update", "first key", "--requests-per-minute", "1", "--concurrent-requests", "2");
    const arrival = once(arrivals, "arrival");
    const call = server.call("/v1/chat/completions", {
      model: "one",
      messages: [{ role: "user", content: "Well?" }],
      max_completion_tokens: 190,
    });
    await arrival;
    const during = await usageOf("key", "show", "first key");
    const { value, used, remaining } = during("concurrent_requests");
    assert.deepEqual([value, used, remaining], [2, 1, 1]);
    assert.equal(during("concurrent_requests", "queries").used, 0);
    assert.ok(during("tokens_per_minute").used! > 42, "the estimate is reserved");
    waiting!.answer(answer);
    assert.equal((await call).status, 200);

    const ofKey = await usageOf("key", "show", "first key");
    assert.equal(ofKey("concurrent_requests").used, 0);
    const requests = ofKey("requests_per_minute");
    assert.deepEqual([requests.value, requests.used, requests.remaining], [1, 1, 0]);
    assert.ok(requests.resets_at! * 1000 > Date.now() && requests.resets_at! * 1000 <= Date.now() + 61_000);
    assert.ok(ofKey("tokens_per_minute").used! <= 42, "the real usage replaces the estimate");
    assert.deepEqual([ofKey("tokens_per_month").value, ofKey("tokens_per_month").used], [null, 42]);
    assert.equal(ofKey("compute_seconds_per_minute", "queries").used, null);

    const month = (await usageOf("org", "show", "default"))("tokens_per_month");
    const now = new Date();
    assert.deepEqual(month, {
      limit: "tokens_per_month",
      applies_to: "inference",
      value: 500,
      used: 42,
      remaining: 458,
      resets_at: Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1) / 1000,
    });
    const table = await sounding("org", "show", "default", "--utc");
    assert.match(table, /^LIMIT +APPLIES TO +VALUE +USED +REMAINING +RESET$/m);
    assert.match(table, /^tokens per month +inference +500 +42 +458 +\d{4}-\d\d-01 00:00:00Z$/m);
    assert.match(table, /^concurrent requests +queries +none +0 +- +-$/m);
  });

  test("go on when the key is rotated: the new key has no more than the old one had left", async () => {
    const { secret } = JSON.parse(await sounding("key", "rotate", "first key", "--json")) as { secret: string };
    const ofKey = await usageOf("key", "show", "first key");
    assert.equal(ofKey("tokens_per_month").used, 42);
    assert.equal(ofKey("requests_per_minute").remaining, 0);
    const refused = await fetch(`${server.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "one", messages: [{ role: "user", content: "Well?" }] }),
    });
    assert.equal(refused.status, 429);
    assert.match(await refused.text(), /is limited to 1 requests per minute/);
  });

  test("are those of the month alone without a server, with the configuration's limits", async () => {
    const config = join(server.dataDirectory, "local.yaml");
    const storage = `storage: { data_dir: ${JSON.stringify(server.dataDirectory)} }`;
    await writeFile(
      config,
      `${storage}\nlimits: { organization: { tokens_per_month: 500, requests_per_minute: 7 } }\n`,
    );
    const { code, stdout, stderr } = await runSounding(["org", "show", "default", "--config", config]);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^tokens per month +inference +500 +\d+ +\d+ /m);
    assert.match(stdout, /^requests per minute +inference +7 +unknown +- +-$/m);
    assert.match(stderr, /^Only the tokens of the month are known without a running server\./);
  });
});
