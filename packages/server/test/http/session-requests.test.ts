/** Which requests a session's cookie authenticates: those of the server's own pages, and none that send a key. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { operation } from "../../src/api/operation.ts";
import { AppError } from "../../src/errors.ts";
import type { Sessions } from "../../src/http/authenticate-session.ts";
import { FailedKeys } from "../../src/http/failed-keys.ts";
import { route } from "../../src/http/route.ts";
import { createSessionCookie } from "../../src/http/session-cookie.ts";
import { startTestHttp, testSecret } from "../support/test-http.ts";
import { testKey } from "../support/test-key.ts";

const define = (method: "GET" | "POST" | "DELETE") =>
  route(
    operation({
      id: method,
      method,
      path: "/v1/item",
      tag: "Test",
      summary: "Show the key",
      permission: "inference",
      answer: { type: "application/json", description: "The key." },
    }),
    ({ scope, session }) => ({ kind: "json", value: { key: scope.key.keyId, session: session?.sessionId ?? null } }),
  );
const routes = [define("GET"), define("POST"), define("DELETE")];

const sessions: Sessions & { checks: number } = {
  cookie: createSessionCookie("test"),
  checks: 0,
  check(secret) {
    this.checks += 1;
    if (secret === "ended") throw new AppError("invalid_session", "This API key has been revoked.");
    if (secret !== "right") return undefined;
    return {
      sessionId: "sess_1",
      key: testKey({ keyId: "key_of_session" }),
      operatorKey: undefined,
      expiresAt: 4_000_000_000,
    };
  },
};
const cookie = "a=1; sounding_session_test=right; b=2";

describe("a request with a session's cookie", () => {
  test("is served only if it comes from one of the server's own pages", async () => {
    await using server = await startTestHttp({ routes, sessions });
    const { host, port } = new URL(server.url);
    const own = `http://${host}`;
    const otherPort = `http://127.0.0.1:${Number(port) + 1}`;
    const cases: [headers: Record<string, string>, changing: number, reading: number][] = [
      [{ "sec-fetch-site": "same-origin", origin: own }, 200, 200],
      [{ "sec-fetch-site": "same-origin" }, 200, 200],
      [{ origin: own }, 200, 200],
      // The user entered the address; pages cannot do that with another method.
      [{ "sec-fetch-site": "none" }, 403, 200],
      [{}, 403, 200],
      [{ "sec-fetch-site": "same-site", origin: otherPort }, 403, 403],
      [{ "sec-fetch-site": "same-site" }, 403, 403],
      [{ "sec-fetch-site": "cross-site", origin: own }, 403, 403],
      [{ "sec-fetch-site": "unknown" }, 403, 403],
      [{ origin: otherPort }, 403, 403],
      [{ origin: `${own}.evil.example` }, 403, 403],
      [{ origin: "null" }, 403, 403],
      [{ origin: "https://app.example.com" }, 403, 403],
    ];
    for (const [headers, changing, reading] of cases) {
      for (const [method, expected] of [
        ["POST", changing],
        ["DELETE", changing],
        ["GET", reading],
        ["HEAD", reading],
      ] as const) {
        const response = await fetch(`${server.url}/v1/item`, { method, headers: { ...headers, cookie } });
        assert.equal(response.status, expected, `${method} ${JSON.stringify(headers)}`);
        if (expected === 403 && method !== "HEAD")
          assert.equal(((await response.json()) as { error: { code: string } }).error.code, "cross_origin");
      }
    }
  });

  test("is refused for other origins even if they are in cors_origins, which never allows credentials", async () => {
    const origin = "https://app.example.com";
    for (const allowed of [origin, "*"]) {
      await using server = await startTestHttp({ routes, sessions, settings: { cors_origins: [allowed] } });
      for (const method of ["GET", "POST"]) {
        const response = await fetch(`${server.url}/v1/item`, { method, headers: { cookie, origin } });
        assert.equal(response.status, 403);
        assert.equal(response.headers.get("access-control-allow-credentials"), null);
      }
      const preflight = await fetch(`${server.url}/v1/item`, { method: "OPTIONS", headers: { cookie, origin } });
      assert.equal(preflight.headers.get("access-control-allow-credentials"), null);
      const withKey = await fetch(`${server.url}/v1/item`, {
        method: "POST",
        headers: { cookie, origin, authorization: `Bearer ${testSecret}` },
      });
      assert.deepEqual(await withKey.json(), { key: "key_test", session: null });
    }
  });

  test("and a key uses the key, without looking at the cookie", async () => {
    await using server = await startTestHttp({ routes, sessions });
    const before = sessions.checks;
    const ask = async (headers: Record<string, string>) => {
      const response = await fetch(`${server.url}/v1/item`, { headers: { cookie, ...headers } });
      return [response.status, ((await response.json()) as { key?: string }).key];
    };
    assert.deepEqual(await ask({ authorization: `Bearer ${testSecret}` }), [200, "key_test"]);
    assert.deepEqual(await ask({ "api-key": testSecret }), [200, "key_test"]);
    assert.deepEqual(await ask({ authorization: "Bearer sk-wrong" }), [401, undefined]);
    assert.equal(sessions.checks, before);
    assert.deepEqual(await ask({}), [200, "key_of_session"]);
  });

  test("of another server is like a request without a key", async () => {
    await using server = await startTestHttp({ routes, sessions });
    for (const other of ["sounding_session_other=right", "xsounding_session_test=right", "sounding_session_test="]) {
      const response = await fetch(`${server.url}/v1/item`, { headers: { cookie: other } });
      const { error } = (await response.json()) as { error: { code: string } };
      assert.deepEqual([response.status, error.code], [401, "invalid_api_key"]);
    }
  });

  test("counts as a wrong key if the session never existed, but not if it has ended", async () => {
    await using server = await startTestHttp({ routes, sessions, failedKeys: new FailedKeys(2, () => 0) });
    const ask = async (secret: string) =>
      (await fetch(`${server.url}/v1/item`, { headers: { cookie: `sounding_session_test=${secret}` } })).status;
    for (let index = 0; index < 3; index += 1) assert.equal(await ask("ended"), 401);
    assert.deepEqual([await ask("a"), await ask("b"), await ask("c")], [401, 401, 429]);
    assert.deepEqual([await ask("ended"), await ask("right")], [401, 200]);
  });
});
