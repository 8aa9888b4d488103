/** Every response of a real server has the headers that protect browsers, whatever kind it is. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { beforeTests } from "./support/hooks.ts";
import { startServer, type RunningServer } from "./support/running-server.ts";

let server: RunningServer;
beforeTests(async (stack) => {
  server = stack.use(await startServer());
});

async function headersOf(path: string, init: RequestInit = {}): Promise<Headers> {
  const response = await fetch(`${server.url}${path}`, init);
  await response.arrayBuffer();
  return response.headers;
}

test("no response is taken for another type, shown in a frame of another site, or tells its address to one", async () => {
  const key = { authorization: `Bearer ${server.key}` };
  const stream = {
    model: "sounding-trial",
    stream: true,
    max_tokens: 2,
    messages: [{ role: "user", content: "Hello!" }],
  };
  const page = await (await fetch(`${server.url}/console/`)).text();
  const asset = /assets\/[^"]+\.js/.exec(page)![0];
  const all = {
    json: await headersOf("/v1/models", { headers: key }),
    stream: await headersOf("/v1/chat/completions", {
      method: "POST",
      headers: { ...key, "content-type": "application/json" },
      body: JSON.stringify(stream),
    }),
    "without a key": await headersOf("/v1/models"),
    "unknown path": await headersOf("/none"),
    "method that the path has not": await headersOf("/v1/models", { method: "DELETE", headers: key }),
    text: await headersOf("/metrics"),
    document: await headersOf("/openapi.json"),
    "page of the API": await headersOf("/docs"),
    console: await headersOf("/console/"),
    "script of the console": await headersOf(`/console/${asset}`),
    "page of an error": await headersOf("/sign-in/none"),
  };
  for (const [what, headers] of Object.entries(all)) {
    assert.equal(headers.get("x-content-type-options"), "nosniff", what);
    assert.equal(headers.get("referrer-policy"), "no-referrer", what);
    assert.match(headers.get("content-security-policy") ?? "", /default-src 'none'.*frame-ancestors 'none'/, what);
    assert.ok(headers.has("content-type") && headers.has("cache-control"), what);
    for (const name of ["server", "x-powered-by"]) assert.ok(!headers.has(name), what);
  }
});

test("browsers keep no copy of what needs a key", async () => {
  const headers = { authorization: `Bearer ${server.operatorKey}` };
  for (const path of ["/v1/models", "/admin/v1/keys", "/authentication/sessions", "/admin/v1/audit", "/none"])
    assert.equal((await headersOf(path, { headers })).get("cache-control"), "no-store", path);
});
