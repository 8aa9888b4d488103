/** Clients that send their key as the password of HTTP Basic authentication, as Grafana and Prometheus do. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { operation } from "../../src/api/operation.ts";
import { AppError } from "../../src/errors.ts";
import { route } from "../../src/http/route.ts";
import { startTestHttp, testSecret } from "../support/test-http.ts";
import { testKey } from "../support/test-key.ts";
import { beforeTests } from "../../../../test/support/hooks.ts";

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
const secrets = new Set([testSecret, "with:colons::", "pässwörd", " with spaces "]);

let server: Awaited<ReturnType<typeof startTestHttp>>;
beforeTests(async (stack) => {
  server = await startTestHttp({
    routes: [ping],
    checkKey: (secret) => {
      if (!secrets.has(secret)) throw new AppError("invalid_api_key", "The API key is not known.");
      return testKey();
    },
  });
  stack.defer(() => server.close());
});

const ask = (authorization: string) => fetch(`${server.url}/v1/ping`, { headers: { authorization } });
const encode = (text: string): string => Buffer.from(text).toString("base64");

describe("a key as the password of Basic authentication", () => {
  for (const header of [
    `Basic ${encode(`grafana:${testSecret}`)}`,
    `basic   ${encode(`:${testSecret}`)}`,
    `BASIC ${encode(`jürgen:${testSecret}`)}`,
    `Basic ${encode("user:with:colons::")}`,
    `Basic ${encode("user:pässwörd")}`,
    `Basic ${encode("user: with spaces ")}`,
  ]) {
    test(`is accepted in ${header}`, async () => assert.equal((await ask(header)).status, 200));
  }

  const valid = encode(`u:${testSecret}`);
  for (const [problem, header, message] of [
    ["an unknown key", `Basic ${encode("user:sk-wrong")}`, /not known/],
    ["the key as the user name", `Basic ${encode(`${testSecret}:`)}`, /no password.*password of HTTP Basic/],
    ["the key without a user name", `Basic ${encode(testSecret)}`, /no password/],
    ["the key unencoded", `Basic user:${testSecret}`, /not base64/],
    ["the key as Bearer credentials", `Bearer ${valid}`, /not known/],
    ["missing padding", `Basic ${encode("user:secret").replace(/=+$/, "")}`, /not base64/],
    ["excess padding", `Basic ${valid}====`, /not base64/],
    ["bits after the last byte", "Basic OnB=", /not base64/],
    ["the alphabet of URLs", "Basic _-8=", /not base64/],
    ["bytes that are not UTF-8", `Basic ${Buffer.from([0x3a, 0xff, 0xfe]).toString("base64")}`, /UTF-8/],
    ["no credentials", "Basic", /expected form/],
    ["a parameter", `Basic ${valid}, charset=UTF-8`, /expected form/],
    ["10,000 characters", `Basic ${"A".repeat(10_000)}`, /no password/],
  ] as const) {
    test(`is refused with ${problem}, and the challenge stays Bearer`, async () => {
      const response = await ask(header);
      assert.deepEqual([response.status, response.headers.get("www-authenticate")], [401, "Bearer"]);
      const { error } = (await response.json()) as { error: { code: string; message: string } };
      assert.equal(error.code, "invalid_api_key");
      assert.match(error.message, message);
      assert.ok(!error.message.includes(testSecret) && !error.message.includes(valid));
    });
  }

  test("is never logged", async () => {
    const logged = JSON.stringify(server.logged);
    assert.match(logged, /invalid_api_key/);
    for (const secret of [testSecret, valid, encode(testSecret), encode("user:secret")])
      assert.ok(!logged.includes(secret), secret);
  });
});
