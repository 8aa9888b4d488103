/** The list of models and each model, over HTTP. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import OpenAI, { NotFoundError } from "openai";
import { request } from "undici";
import { catalogRoutes } from "../../src/catalog/routes.ts";
import { routingFixture, type Fixture } from "../routing/routing-fixture.ts";
import { startTestHttp, testSecret } from "../support/test-http.ts";
import { testKey } from "../support/test-key.ts";
import { beforeTests } from "../../../../test/support/hooks.ts";

describe("the models", () => {
  let routing: Fixture;
  let http: Awaited<ReturnType<typeof startTestHttp>>;

  beforeTests(async (stack) => {
    routing = await routingFixture(
      {
        engines: ["a"],
        models: { chat: { targets: [{ engine: "a" }] }, "team/private": { targets: [{ engine: "a" }] } },
        aliases: { fast: "chat" },
      },
      { prepare: (engine) => (engine.models = ["org/found"]) },
    );
    stack.defer(() => routing.registry.close());
    http = await startTestHttp({
      routes: catalogRoutes(routing.registry),
      checkKey: (secret) =>
        testKey(
          secret === testSecret ? {} : { allowedModels: ["chat"], permissions: new Set(["inference", "models_read"]) },
        ),
    });
    stack.defer(() => http.close());
  });

  async function get(path: string, options: { secret?: string; body?: string } = {}) {
    const { statusCode, body } = await request(`${http.url}${path}`, {
      method: "GET",
      headers: { authorization: `Bearer ${options.secret ?? testSecret}`, "content-type": "application/json" },
      ...(options.body === undefined ? {} : { body: options.body }),
    });
    return { status: statusCode, json: (await body.json()) as Record<string, unknown> };
  }

  test("can be filtered by what they support", async () => {
    const ids = async (capability: string): Promise<unknown> => {
      const { json } = await get(`/v1/models?capability=${capability}`);
      return (json["data"] as { id: string }[]).map(({ id }) => id);
    };
    assert.deepEqual([await ids("chat"), await ids("speech")], [["chat", "fast", "org/found", "team/private"], []]);
    const { status, json } = await get("/v1/models?capability=dance");
    const { message, param } = json["error"] as { message: string; param: string };
    assert.deepEqual([status, param], [400, "capability"]);
    assert.match(message, /"dance"; expected one of chat, speech, transcription/);
  });

  test("are listed with every member that strict clients require, even if the request has a body", async () => {
    const { status, json } = await get("/v1/models", { body: "{}" });
    assert.equal(status, 200);
    const model = (id: string, root: string, created: number) => ({
      id,
      object: "model",
      created,
      owned_by: "a",
      root,
      parent: null,
      permission: [],
      capabilities: ["chat"],
      engine: "a",
      state: "ready",
      state_reason: null,
    });
    assert.deepEqual(json, {
      object: "list",
      data: [
        model("chat", "chat", 0),
        model("fast", "chat", 0),
        model("org/found", "org/found", 1_700_000_000),
        model("team/private", "team/private", 0),
      ],
    });
  });

  test("are read by OpenAI's client, including one with a slash in its name", async () => {
    const client = new OpenAI({ apiKey: testSecret, baseURL: `${http.url}/v1`, maxRetries: 0 });
    const ids: string[] = [];
    for await (const { id } of client.models.list()) ids.push(id);
    assert.deepEqual(ids, ["chat", "fast", "org/found", "team/private"]);
    assert.equal((await client.models.retrieve("team/private")).id, "team/private");
    await assert.rejects(client.models.retrieve("absent"), NotFoundError);
  });

  test("can be retrieved with a literal slash, with %2F, and by engine and model", async () => {
    for (const path of ["team/private", "team%2Fprivate"]) {
      const { json } = await get(`/v1/models/${path}`);
      assert.equal(json["id"], "team/private");
    }
    assert.equal((await get("/v1/models/a/org/found")).json["id"], "a/org/found");
  });

  test("outside an organization's allow-list are not shown to it", async () => {
    const { json } = await get("/v1/models", { secret: "restricted" });
    assert.deepEqual(
      (json["data"] as { id: string }[]).map(({ id }) => id),
      ["chat", "fast"],
    );
    const refused = await get("/v1/models/team/private", { secret: "restricted" });
    assert.equal(refused.status, 403);
    assert.equal((refused.json["error"] as { code: string }).code, "model_not_allowed");
  });
});
