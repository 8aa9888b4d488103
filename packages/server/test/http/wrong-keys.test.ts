/** Clients that guess keys, and clients that send a key where an ID belongs. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { operation } from "../../src/api/operation.ts";
import { FailedKeys } from "../../src/http/failed-keys.ts";
import { route } from "../../src/http/route.ts";
import { startTestHttp, testSecret } from "../support/test-http.ts";

const ping = route(
  operation({
    id: "ping",
    method: "GET",
    path: "/v1/ping",
    tag: "Test",
    summary: "Ping",
    permission: "any",
    answer: { type: "application/json", description: "Nothing." },
  }),
  () => ({ kind: "json", value: {} }),
);

describe("wrong keys", () => {
  test("from one address are throttled, while a correct key works from there, and wrong ones from elsewhere get a 401", async () => {
    let nowMs = 0;
    await using server = await startTestHttp({
      routes: [ping],
      settings: { trusted_proxies: ["127.0.0.1"] },
      failedKeys: new FailedKeys(10, () => nowMs),
    });
    const ask = (secret: string, client: string) =>
      fetch(`${server.url}/v1/ping`, { headers: { authorization: `Bearer ${secret}`, "x-forwarded-for": client } });
    for (let attempt = 0; attempt < 10; attempt += 1)
      assert.equal((await ask(`sk-${attempt}`, "10.0.0.1")).status, 401);
    const refused = await ask("sk-wrong", "10.0.0.1");
    assert.equal(refused.status, 429);
    assert.equal(refused.headers.get("retry-after"), "6");
    assert.match(await refused.text(), /More than 10 requests per minute from this address had an incorrect API key/);
    assert.equal((await ask(testSecret, "10.0.0.1")).status, 200);
    assert.equal((await ask("sk-wrong", "10.0.0.2")).status, 401);
    nowMs += 6_000;
    assert.equal((await ask("sk-wrong", "10.0.0.1")).status, 401);
    assert.equal((await ask("sk-wrong", "10.0.0.1")).status, 429);
  });

  test("of one IPv6 network count together, and many addresses take bounded memory", () => {
    const failed = new FailedKeys(1, () => 0);
    failed.count("2001:db8::1");
    assert.throws(() => failed.count("2001:db8:0:0:ffff::2"), { code: "rate_limited" });
    failed.count("2001:db8:0:1::1");
    failed.count("::ffff:10.0.0.1");
    assert.throws(() => failed.count("10.0.0.1"), { code: "rate_limited" });
    for (let index = 0; index < 10_000; index += 1) failed.count(`client ${index}`);
    // Forgotten.
    failed.count("10.0.0.1");
  });
});

test("a key that is sent as request ID gets a new ID and is not logged", async () => {
  await using server = await startTestHttp({ routes: [ping] });
  const secret = `sk-${"aB3_".repeat(11)}`.slice(0, 46);
  for (const given of [secret, `req_${secret}`]) {
    const response = await fetch(`${server.url}/v1/ping`, {
      headers: { authorization: `Bearer ${testSecret}`, "x-request-id": given },
    });
    assert.match(response.headers.get("x-request-id") ?? "", /^req_[0-9a-f-]{36}$/);
  }
  const ordinary = "task-6f1c0c58-81c1-4c3c-9a7c-0c5a0a8a4f55";
  const kept = await fetch(`${server.url}/v1/ping`, {
    headers: { authorization: `Bearer ${testSecret}`, "x-request-id": ordinary },
  });
  assert.equal(kept.headers.get("x-request-id"), ordinary);
  assert.doesNotMatch(JSON.stringify(server.logged), /aB3_aB3_aB3_/);
});
