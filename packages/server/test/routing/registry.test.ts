/** Which model an ID refers to, who may call it, and which models are listed. */
import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { describe, test } from "node:test";
import { createLogger } from "../../src/logger.ts";
import { AppError } from "../../src/errors.ts";
import { everyone, routingFixture, scripted, type Fixture, type SomeConfig } from "./routing-fixture.ts";
import { chatCall } from "./scripted-engine.ts";

const elsewhere = { ...scripted(), base_url: "http://127.0.0.1:9/v1" } as ReturnType<typeof scripted>;

async function answers(routing: Fixture, id: string): Promise<[engine: string, model: string, shown: string]> {
  const call = chatCall();
  const completion = await routing.chat(id).complete(call);
  const attempt = call.attempts.at(-1)!;
  return [attempt.engine, attempt.model, completion.model];
}

/** Engines that list these models from the start. */
async function withModels(listed: Record<string, readonly string[]>, some: SomeConfig = {}): Promise<Fixture> {
  return routingFixture(
    { engines: Object.keys(listed), ...some },
    { prepare: (engine) => (engine.models = listed[engine.name] ?? []) },
  );
}

function listedIds(routing: Fixture, allowedModels?: readonly string[]): string[] {
  return routing.registry.list({ allowedModels }).map(({ id }) => id);
}

describe("the list of models", () => {
  test("lists chat models first, for clients that use the first", async () => {
    await using routing = await routingFixture(
      { engines: ["a-voice", "chats"], models: { m: { targets: [{ engine: "chats" }] } } },
      {
        prepare: (engine) => {
          engine.models = engine.name === "chats" ? ["talk"] : ["a-voice"];
          if (engine.name !== "chats") Object.assign(engine, { chat: undefined });
        },
      },
    );
    assert.deepEqual(listedIds(routing), ["m", "talk", "a-voice"]);
  });
});

describe("a model ID", () => {
  test("refers to a configured model before an alias' target, a discovered model and an engine's name", async () => {
    await using routing = await withModels(
      { a: ["m", "a/m"], b: [] },
      {
        models: {
          m: { targets: [{ engine: "b", model: "other" }] },
          "a/m": { targets: [{ engine: "b", model: "third" }] },
        },
      },
    );
    assert.deepEqual(await answers(routing, "m"), ["b", "other", "m"]);
    assert.deepEqual(await answers(routing, "a/m"), ["b", "third", "a/m"]);
  });

  test("may be an alias, over several steps, and answers carry the model's own ID", async () => {
    await using routing = await withModels(
      { a: [] },
      { models: { m: { targets: [{ engine: "a" }] } }, aliases: { fast: "m", default: "fast" } },
    );
    assert.deepEqual(await answers(routing, "default"), ["a", "m-upstream", "m"]);
  });

  test("may be one that an engine lists, if only one engine does", async () => {
    await using routing = await withModels({ a: ["x", "both"], b: ["org/y", "both"] });
    assert.deepEqual(await answers(routing, "x"), ["a", "x", "x"]);
    assert.deepEqual(await answers(routing, "org/y"), ["b", "org/y", "org/y"]);
    assert.throws(() => routing.chat("both"), { code: "model_not_found" });
    assert.deepEqual(listedIds(routing), ["a/both", "b/both", "org/y", "x"]);
  });

  test("may name any engine and any of its models, listed or not, with slashes", async () => {
    await using routing = await withModels({ a: ["x"], b: [] });
    assert.deepEqual(await answers(routing, "a/x"), ["a", "x", "a/x"]);
    assert.deepEqual(await answers(routing, "b/org/new"), ["b", "org/new", "b/org/new"]);
  });

  test("that names an engine belongs to that engine, whatever another engine lists", async () => {
    await using routing = await withModels({ openai: [], router: ["openai/gpt"] });
    assert.deepEqual(await answers(routing, "openai/gpt"), ["openai", "gpt", "openai/gpt"]);
    assert.deepEqual(listedIds(routing), ["router/openai/gpt"]);
  });

  test("of a configured engine precedes the same ID of a discovered one", async () => {
    await using routing = await withModels(
      { mine: ["x"], found: ["x"] },
      {
        engines: { mine: scripted() },
        implicitEngines: { found: { settings: elsewhere, optional: false } },
      },
    );
    assert.deepEqual(await answers(routing, "x"), ["mine", "x", "x"]);
    assert.deepEqual(await answers(routing, "found/x"), ["found", "x", "found/x"]);
  });

  test("of a discovered engine is not listed twice when the same vendor is configured", async () => {
    await using routing = await withModels(
      { mine: ["x"], found: ["x"] },
      { engines: { mine: scripted(1) }, implicitEngines: { found: { settings: scripted(2), optional: false } } },
    );
    assert.deepEqual(listedIds(routing), ["x"]);
    assert.deepEqual(await answers(routing, "found/x"), ["found", "x", "found/x"]);
  });

  test("that an engine is known not to have is unknown, and the engine's message is not passed on", async () => {
    await using routing = await withModels({ a: ["x"] });
    routing.engine("a").absent = ["gone"];
    assert.throws(() => routing.chat("a/gone"), {
      code: "model_not_found",
      message: 'The model "a/gone" does not exist. GET /v1/models lists the available models.',
    });
  });

  test("that several engines have must be named with its engine", async () => {
    await using routing = await withModels({ a: ["x", "x-large"], b: ["x"] });
    assert.throws(() => routing.chat("x"), {
      code: "model_not_found",
      message: 'Several engines have the model "x". Name one of them: "a/x" or "b/x".',
    });
    assert.throws(() => routing.registry.chat("x", { allowedModels: ["a/x"] }), { code: "model_not_allowed" });
  });

  test("that is unknown gets a suggestion", async () => {
    await using routing = await withModels({ a: ["gpt-large", "gpt-small"] });
    assert.throws(() => routing.chat("gpt-lrage"), {
      code: "model_not_found",
      param: "model",
      message: 'The model "gpt-lrage" does not exist. Did you mean "gpt-large"?',
    });
  });
});

describe("an allow-list", () => {
  const some: SomeConfig = {
    models: {
      "gpt-large": { targets: [{ engine: "a" }] },
      "gpt-small": { targets: [{ engine: "a" }] },
      secret: { targets: [{ engine: "a" }] },
    },
    aliases: { fast: "gpt-small", hush: "secret" },
  };

  test("hides models outside it", async () => {
    await using routing = await withModels({ a: ["found"] }, some);
    assert.deepEqual(listedIds(routing), ["fast", "found", "gpt-large", "gpt-small", "hush", "secret"]);
    assert.deepEqual(listedIds(routing, ["gpt-*", "found"]), ["fast", "found", "gpt-large", "gpt-small"]);
    assert.deepEqual(listedIds(routing, ["*"]).length, 6);
    assert.deepEqual(listedIds(routing, []), []);
  });

  test("gives the same answer for existing and missing models", async () => {
    await using routing = await withModels({ a: [] }, some);
    const access = { allowedModels: ["gpt-*"] };
    const messageFor = (id: string): string => {
      for (const ask of [() => routing.chat(id, access), () => routing.registry.describe(id, access)]) {
        assert.throws(ask, { code: "model_not_allowed" });
      }
      try {
        routing.chat(id, access);
        return "";
      } catch (error) {
        return (error as AppError).message.replace(id, "ID");
      }
    };
    assert.equal(messageFor("secret"), messageFor("absent"));
    assert.equal(messageFor("hush"), messageFor("absent"));
    assert.throws(() => routing.chat("gpt-huge", access), { code: "model_not_found" });
  });

  test("never suggests models outside it", async () => {
    await using routing = await withModels({ a: [] }, some);
    const check = (error: unknown): boolean => error instanceof AppError && !error.message.includes('"secret"');
    assert.throws(() => routing.chat("secrets", { allowedModels: ["secrets", "gpt-*"] }), check);
    assert.throws(() => routing.chat("secre", { allowedModels: ["gpt-*"] }), check);
  });

  test("may name an alias or the model behind it", async () => {
    await using routing = await withModels({ a: [] }, some);
    await routing.chat("fast", { allowedModels: ["gpt-small"] }).complete(chatCall());
    await routing.chat("hush", { allowedModels: ["hush"] }).complete(chatCall());
    assert.throws(() => routing.chat("secret", { allowedModels: ["hush"] }), { code: "model_not_allowed" });
  });
});

test("listed models name their origin, and hidden models answer unlisted", async () => {
  await using routing = await withModels(
    { a: ["up"] },
    {
      models: {
        m: { targets: [{ engine: "a", model: "up" }], owned_by: "us" },
        shadow: { targets: [{ engine: "a" }], hidden: true },
      },
      aliases: { fast: "m" },
    },
  );
  assert.deepEqual(routing.registry.list(everyone), [
    { id: "fast", root: "m", created: 1_700_000_000, ownedBy: "us" },
    { id: "m", root: "m", created: 1_700_000_000, ownedBy: "us" },
    { id: "up", root: "up", created: 1_700_000_000, ownedBy: "a" },
  ]);
  await routing.chat("shadow").complete(chatCall());
  assert.equal(routing.registry.describe("shadow", everyone).id, "shadow");
  assert.equal(routing.registry.describe("a/up", everyone).root, "a/up");
  assert.throws(() => routing.registry.describe("a/unheard", everyone), { code: "model_not_found" });
});

describe("discovery", () => {
  test("does not delay the start, and adds its models when it finds them", async () => {
    let list = (): void => {};
    const listing = new Promise<void>((resolve) => (list = resolve));
    await using routing = await routingFixture(
      { engines: ["slow"] },
      {
        discoveryWaitMs: 5,
        prepare: (engine) => {
          engine.models = ["x"];
          engine.listing = () => listing;
        },
      },
    );
    assert.deepEqual(listedIds(routing), []);
    list();
    while (listedIds(routing).length === 0) await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(await answers(routing, "x"), ["slow", "x", "x"]);
  });

  test("never prevents the server from starting, whatever it finds", async () => {
    await using routing = await routingFixture(
      {
        engines: ["a"],
        models: { m: { targets: [{ engine: "a" }] } },
        implicitEngines: { odd: { settings: elsewhere, optional: false } },
      },
      {
        prepare: ({ name }) => {
          if (name === "odd") throw new AppError("invalid_request", "These settings cannot work.");
        },
      },
    );
    assert.deepEqual(await answers(routing, "m"), ["a", "m-upstream", "m"]);
    assert.throws(() => routing.chat("odd/x"), { code: "model_not_found" });
  });

  test("that fails is logged once, and removes no known model", async () => {
    const lines = new PassThrough({ encoding: "utf8" });
    await using routing = await routingFixture(
      { engines: ["a"], discovery: { refresh_interval_ms: 1 } },
      { logger: createLogger("info", { destination: lines }), prepare: (engine) => (engine.models = ["x"]) },
    );
    const askedOften = Promise.withResolvers<void>();
    let asked = 0;
    routing.engine("a").listing = async () => {
      if (++asked === 5) askedOften.resolve();
      throw new AppError("upstream_failed", "Nobody answers.");
    };
    await askedOften.promise;
    assert.deepEqual(listedIds(routing), ["x"]);
    const logged = String(lines.read())
      .split("\n")
      .filter((line) => line.includes("did not list"));
    assert.equal(logged.length, 1, logged.join("\n"));
  });

  test("removes the models of an optional engine when it no longer answers", async () => {
    let up = true;
    await using routing = await routingFixture(
      { implicitEngines: { ollama: { settings: scripted(), optional: true } }, discovery: { refresh_interval_ms: 1 } },
      {
        prepare: (engine) => {
          engine.models = ["tiny"];
          engine.listing = async () => {
            if (!up) throw new AppError("upstream_failed", "Nobody answers.");
          };
        },
      },
    );
    assert.deepEqual(await answers(routing, "ollama/tiny"), ["ollama", "tiny", "ollama/tiny"]);
    up = false;
    while (listedIds(routing).length > 0) await new Promise((resolve) => setTimeout(resolve, 1));
    assert.throws(() => routing.chat("ollama/tiny"), { code: "model_not_found", message: /Nobody answers\.$/ });
    up = true;
    while (listedIds(routing).length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  });

  test("that is off finds nothing, but engines can be named", async () => {
    await using routing = await withModels({ a: ["x"] }, { discovery: { enabled: false } });
    assert.deepEqual(listedIds(routing), []);
    assert.throws(() => routing.chat("x"), { code: "model_not_found" });
    assert.deepEqual(await answers(routing, "a/x"), ["a", "x", "a/x"]);
  });
});
