/** What is on the wire whichever client is used: endpoints, headers, errors and the list of models. */
import assert from "node:assert/strict";
import { request } from "node:http";
import { text } from "node:stream/consumers";
import type { InterfaceCase } from "./interface-case.ts";
import type { Facts } from "./known-service.ts";
import { dataOf, errorOf, post } from "./raw-request.ts";

const chat = { model: "assistant", messages: [{ role: "user", content: "Hello?" }] };
const speech = { model: "flite", voice: "slt", input: "Hello." };

const endpoints = [
  "POST /v1/chat/completions",
  "POST /v1/completions",
  "POST /v1/responses",
  "POST /v1/responses/input_tokens",
  "POST /v1/responses/compact",
  "GET /v1/responses/{response_id}",
  "DELETE /v1/responses/{response_id}",
  "GET /v1/responses/{response_id}/input_items",
  "POST /v1/responses/{response_id}/cancel",
  "POST /v1/embeddings",
  "POST /v1/moderations",
  "POST /v1/messages",
  "POST /v1/messages/count_tokens",
  "POST /v1/audio/speech",
  "GET /v1/audio/voices",
  "POST /v1/audio/transcriptions",
  "POST /v1/audio/translations",
  "GET /v1/models",
  "GET /v1/models/{id}",
  "POST /observability/logs",
  "POST /observability/logs/histogram",
  "POST /observability/metrics",
  "GET /observability/metrics",
  "POST /observability/traces",
  "GET /observability/traces",
  "POST /observability/traces/histogram",
  "POST /observability/conversations",
  "GET /observability/projects",
  "DELETE /observability/samples",
  "GET /loki/api/v1/query_range",
  "GET /loki/api/v1/tail",
  "GET /ready",
  "GET /prometheus/api/v1/query",
  "GET /prometheus/api/v1/query_exemplars",
  "GET /prometheus/",
  "GET /tempo/api/search",
  "GET /tempo/api/v2/traces/{id}",
  "GET /tempo/api/v2/search/tags",
  "GET /tempo/ready",
  "POST /v1/logs",
  "POST /v1/metrics",
  "POST /v1/traces",
  "POST /authentication/validate",
  "POST /authentication/sessions",
  "GET /authentication/session",
  "DELETE /authentication/session",
  "POST /authentication/sign_in_codes",
  "GET /admin/v1/organizations",
  "GET /admin/v1/models",
  "GET /admin/v1/engines",
  "GET /admin/v1/server",
  "GET /healthz",
  "GET /readyz",
  "GET /metrics",
  "GET /openapi.json",
  "GET /docs",
];
const needNoKey = new Set([
  "/ready",
  "/prometheus/",
  "/tempo/ready",
  "/healthz",
  "/readyz",
  "/metrics",
  "/openapi.json",
  "/docs",
]);

const anchorOf = (endpoint: string): string =>
  endpoint
    .toLowerCase()
    .replaceAll(/[^a-z0-9_.]+/g, "-")
    .replace(/-$/, "");

/** A GET with a body, which `fetch` does not send. */
function getWithBody({ url, key }: Facts, path: string, body: string): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${key}`,
      "content-type": "application/json",
      "content-length": body.length,
    };
    const sent = request(`${url}${path}`, { method: "GET", headers }, (response) => {
      text(response).then((received) => resolve({ status: response.statusCode!, text: received }), reject);
    });
    sent.once("error", reject).end(body);
  });
}

export const wireCases: readonly InterfaceCase[] = [
  {
    name: "every endpoint of the page is served and in the contract, and those that need a key refuse without one",
    shows: endpoints.map((endpoint) => `endpoints/${anchorOf(endpoint)}`),
    withoutClient: true,
    async run({ facts }) {
      const contract = (await (await fetch(`${facts.url}/openapi.json`)).json()) as {
        paths: Record<string, Record<string, unknown>>;
      };
      for (const endpoint of endpoints) {
        const [method, path] = endpoint.split(" ") as [string, string];
        assert.ok(contract.paths[path]?.[method.toLowerCase()] !== undefined, endpoint);
        const { status } = await fetch(`${facts.url}${path.replace(/\{\w+\}/, "assistant")}`, { method });
        // Signing in needs a body instead.
        assert.equal(status, needNoKey.has(path) ? 200 : path === "/authentication/sessions" ? 400 : 401, endpoint);
      }
    },
  },
  {
    name: "a response without a key or with a wrong one is 401 and names the scheme",
    shows: ["authentication-and-tenants/missing-or-wrong-key"],
    withoutClient: true,
    async run({ facts }) {
      for (const headers of [{}, { authorization: "Bearer sk-nobody" }, { authorization: "Basic c2stbm9ib2R5" }]) {
        const response = await fetch(`${facts.url}/v1/models`, { headers });
        assert.deepEqual([response.status, response.headers.get("www-authenticate")], [401, "Bearer"]);
        const { type, code } = await errorOf(response);
        assert.deepEqual([type, code], ["authentication_error", "invalid_api_key"]);
      }
    },
  },
  {
    name: "a key is accepted as the password of Basic authentication, with any user name",
    shows: ["authentication-and-tenants/basic-authentication"],
    withoutClient: true,
    async run({ facts }) {
      for (const user of ["grafana", ""]) {
        const authorization = `Basic ${Buffer.from(`${user}:${facts.key}`).toString("base64")}`;
        for (const path of ["/v1/models", "/prometheus/api/v1/query?query=vector(1)"])
          assert.equal((await fetch(`${facts.url}${path}`, { headers: { authorization } })).status, 200, path);
      }
    },
  },
  {
    name: "an account header names the key's organization or is refused, and unknown headers are accepted",
    shows: ["authentication-and-tenants/account-header", "authentication-and-tenants/other-headers"],
    withoutClient: true,
    async run({ facts }) {
      const others = { sdk_version: "1.25.0", "x-stainless-lang": "python", "x-unknown": "anything" };
      const own = await post(facts, "/v1/chat/completions", chat, { "x-account": facts.organizationName, ...others });
      assert.equal(own.status, 200);
      const foreign = await post(facts, "/v1/chat/completions", chat, { "x-account": "somebody else" });
      assert.deepEqual([foreign.status, (await errorOf(foreign)).code], [403, "organization_mismatch"]);
    },
  },
  {
    name: "a key shows its name, organization, project and permissions",
    shows: ["authentication-and-tenants/key-identity"],
    withoutClient: true,
    async run({ facts }) {
      const response = await post(facts, "/authentication/validate", {});
      const { organization_id, key_id, ...identity } = (await response.json()) as Record<string, unknown>;
      assert.match(String(organization_id), /^org_/);
      assert.match(String(key_id), /^key_/);
      assert.deepEqual(identity, {
        organization: "default",
        project: null,
        key_name: "first key",
        operator: false,
        // Those of the key, and what they include.
        permissions: ["inference", "models_read", "telemetry_write", "telemetry_read", "content_read", "spend_read"],
        role: null,
        person_id: null,
      });
    },
  },
  {
    name: "a key opens a session for the server's own pages, which ends by signing out",
    shows: [
      "authentication-and-tenants/session",
      "authentication-and-tenants/session-and-key",
      "authentication-and-tenants/session-and-origin",
      "authentication-and-tenants/sign-in-code",
    ],
    withoutClient: true,
    async run({ facts }) {
      const { code } = (await (await post(facts, "/authentication/sign_in_codes", {})).json()) as { code: string };
      const signIn = (body: object): Promise<Response> => post(facts, "/authentication/sessions", body);
      const byKey = await signIn({ key: facts.key });
      const byCode = await signIn({ code });
      assert.deepEqual([byKey.status, byCode.status], [201, 201]);
      const again = await signIn({ code });
      assert.deepEqual([again.status, (await errorOf(again)).code], [401, "invalid_sign_in_code"]);
      const setCookie = byKey.headers.get("set-cookie")!;
      assert.match(setCookie, /; HttpOnly; SameSite=Strict$/);
      const cookie = setCookie.split(";", 1)[0]!;
      const ask = (method: string, path: string, headers: Record<string, string>): Promise<Response> =>
        fetch(`${facts.url}${path}`, { method, headers: { cookie, ...headers } });
      const own = { "sec-fetch-site": "same-origin" };
      const who = (await (await ask("GET", "/authentication/session", own)).json()) as Record<string, unknown>;
      assert.deepEqual([who["organization"], who["key_name"], who["operator"]], ["default", "first key", false]);
      for (const headers of [{ "sec-fetch-site": "same-site" }, { origin: "http://127.0.0.1:1" }, {}] as const) {
        const forged = await ask("DELETE", "/authentication/session", headers);
        assert.deepEqual([forged.status, (await errorOf(forged)).code], [403, "cross_origin"]);
      }
      const withKey = await ask("GET", "/v1/models", { authorization: "Bearer sk-nobody" });
      assert.deepEqual([withKey.status, (await errorOf(withKey)).code], [401, "invalid_api_key"]);
      assert.equal((await ask("DELETE", "/authentication/session", own)).status, 200);
      const ended = await ask("GET", "/v1/models", own);
      assert.deepEqual([ended.status, (await errorOf(ended)).code], [401, "invalid_session"]);
    },
  },
  {
    name: "a query reads the project that x-project names, unless it names one itself",
    shows: ["telemetry-queries/scope", "authentication-and-tenants/project-header"],
    withoutClient: true,
    async run({ facts }) {
      const projects = async (body: object, headers: Record<string, string>): Promise<string[]> => {
        const response = await post(facts, "/observability/logs", { limit: 5000, ...body }, headers);
        const { data } = (await response.json()) as { data: { result: { stream: Record<string, string> }[] } };
        return [...new Set(data.result.map(({ stream }) => stream["project_name"]!))];
      };
      assert.deepEqual(await projects({}, { "x-project": "shop" }), ["shop"]);
      assert.deepEqual(await projects({ project_name: "many" }, { "x-project": "shop" }), ["many"]);
      const query = `/prometheus/api/v1/query?${new URLSearchParams({
        query: "group by (project_name) (count_over_time(inference_requests_total[1h]))",
      }).toString()}`;
      const authorization = `Bearer ${facts.key}`;
      const response = await fetch(facts.url + query, { headers: { authorization, "x-project": "desk" } });
      const { data } = (await response.json()) as { data: { result: { metric: unknown }[] } };
      assert.deepEqual(
        data.result.map(({ metric }) => metric),
        [{ project_name: "desk" }],
      );
    },
  },
  {
    name: "a call is recorded in the project that x-project names, or in default",
    shows: ["authentication-and-tenants/project-header"],
    async run({ client, facts, mode }) {
      // Each mode has its own project, so that neither sees the other's calls.
      const project = `front-desk-${mode}`;
      const id = async (headers: Record<string, string>): Promise<string> => {
        const user = `${mode} ${JSON.stringify(headers)}`;
        const response = await post(facts, "/v1/chat/completions", { ...chat, user }, headers);
        return response.headers.get("x-request-id")!;
      };
      const [named, unnamed] = [await id({ "x-project": project }), await id({})];
      const isRecorded = async (project_name: string, request: string): Promise<boolean> => {
        const { spans } = await client.traces.query({ trace: "inference_traces", project_name, limit: 1000 });
        return JSON.stringify(spans).includes(request);
      };
      while (!(await isRecorded(project, named)) || !(await isRecorded("default", unnamed))) {
        // Spans of calls are stored in batches, within a second.
      }
      assert.equal(await isRecorded("default", named), false);
    },
  },
  {
    name: "an error has OpenAI's object, the field, the value seen and what is allowed; every response has a request ID",
    shows: ["errors/error-object", "errors/message-and-param", "errors/request-id"],
    withoutClient: true,
    async run({ facts }) {
      const wrong = await post(facts, "/v1/chat/completions", { ...chat, temperature: 3 });
      const error = await errorOf(wrong);
      assert.deepEqual(Object.keys(error).sort(), ["code", "message", "param", "type"]);
      assert.deepEqual(
        [wrong.status, error.type, error.param, error.code],
        [400, "invalid_request_error", "temperature", null],
      );
      assert.match(error.message, /3.*\b0 to 2\b/);
      const right = await post(facts, "/v1/chat/completions", chat);
      for (const response of [wrong, right]) assert.ok(response.headers.get("x-request-id"), `${response.status}`);
    },
  },
  {
    name: "errors under /prometheus have Prometheus' form, unknown paths and methods included",
    shows: ["errors/errors-of-prometheus-api"],
    withoutClient: true,
    async run({ facts }) {
      const headers = { authorization: `Bearer ${facts.key}` };
      for (const [method, path, status, errorType] of [
        ["GET", "/prometheus/api/v1/query?query=sum(", 400, "bad_data"],
        ["GET", "/prometheus/api/v1/targets", 404, "not_found"],
        ["DELETE", "/prometheus/api/v1/query", 405, "bad_data"],
      ] as const) {
        const response = await fetch(`${facts.url}${path}`, { method, headers });
        const { error, ...rest } = (await response.json()) as Record<string, unknown>;
        assert.deepEqual([response.status, typeof error, rest], [status, "string", { status: "error", errorType }]);
      }
    },
  },
  {
    name: "an unknown model is 404, an unknown path is 404, an unknown voice is 400",
    shows: ["errors/unknown-model"],
    withoutClient: true,
    async run({ facts }) {
      const model = await post(facts, "/v1/chat/completions", { ...chat, model: "no-such-model" });
      assert.deepEqual([model.status, (await errorOf(model)).code], [404, "model_not_found"]);
      const path = await post(facts, "/v1/no-such-path", {});
      assert.deepEqual([path.status, (await errorOf(path)).code], [404, "not_found"]);
      const voice = await post(facts, "/v1/audio/speech", { ...speech, voice: "nobody" });
      assert.deepEqual([voice.status, (await errorOf(voice)).param], [400, "voice"]);
    },
  },
  {
    name: "a call whose own time limit expires gets 408",
    shows: ["errors/request-timeout", "speech-requests/timeout"],
    withoutClient: true,
    async run({ facts }) {
      const long = { ...speech, input: "This is a sentence. ".repeat(4000), timeout: 0.001 };
      const response = await post(facts, "/v1/audio/speech", long);
      assert.deepEqual([response.status, (await errorOf(response)).type], [408, "timeout_error"]);
    },
  },
  {
    name: "a stream that fails never looks complete",
    shows: [
      "errors/failed-stream-of-server-sent-events",
      "errors/failed-stream-of-json-lines",
      "errors/failed-stream-of-audio",
    ],
    withoutClient: true,
    async run({ facts }) {
      const broken = await post(facts, "/v1/chat/completions", { ...chat, stream: true, user: "breaks off" });
      assert.equal(broken.status, 200);
      const events = await dataOf(broken);
      assert.deepEqual(Object.keys(JSON.parse(events.at(-1)!) as object), ["error"]);
      assert.ok(events.length > 1 && !events.includes("[DONE]"));
      const spoken = {
        model: "speaker",
        voice: "alloy",
        input: `${"This is said. ".repeat(100)}This breaks off.`,
        stream: true,
      };
      const withBoundaries = await post(facts, "/v1/audio/speech", { ...spoken, enable_word_boundary: true });
      const lines = (await withBoundaries.text()).trimEnd().split("\n");
      const last = JSON.parse(lines.at(-1)!) as { type: string; error: object };
      assert.deepEqual([withBoundaries.status, last.type, typeof last.error], [200, "error", "object"]);
      const audio = await post(facts, "/v1/audio/speech", { ...spoken, response_format: "pcm" });
      assert.equal(audio.status, 200);
      await assert.rejects(audio.arrayBuffer());
    },
  },
  {
    name: "models have the fields of OpenAI and of older clients, and the list accepts a body",
    shows: ["models/model-object", "models/request-body"],
    withoutClient: true,
    async run({ facts }) {
      const { status, text: received } = await getWithBody(facts, "/v1/models", "{}");
      const { data } = JSON.parse(received) as { data: Record<string, unknown>[] };
      assert.ok(status === 200 && data.length > 3);
      for (const model of data) {
        assert.deepEqual(Object.keys(model).sort(), [
          "capabilities",
          "created",
          "engine",
          "id",
          "object",
          "owned_by",
          "parent",
          "permission",
          "root",
          "state",
          "state_reason",
        ]);
        assert.ok(["ready", "not_loaded"].includes(String(model["state"])) && model["state_reason"] === null);
        assert.ok(model["object"] === "model" && Array.isArray(model["permission"]));
      }
    },
  },
  {
    name: "parameters of a telemetry query may be in the query string, and the body wins",
    shows: ["telemetry-queries/query-string"],
    withoutClient: true,
    async run({ facts }) {
      const count = async (query: string, body: object): Promise<number> => {
        const response = await post(facts, `/observability/logs?${query}`, body);
        const { data } = (await response.json()) as { data: { result: { values: unknown[] }[] } };
        return data.result.flatMap(({ values }) => values).length;
      };
      assert.equal(await count("project_name=many&limit=7", {}), 7);
      assert.equal(await count("project_name=many&limit=7", { limit: 3 }), 3);
    },
  },
];
