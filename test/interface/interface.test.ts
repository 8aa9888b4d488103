/** That the service does what its interface says: every case with both clients, and a case for every requirement. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { Worker } from "node:worker_threads";
import { AsyncSounding, type ClientOptions } from "@sounding/client";
import { allCases } from "./all-cases.ts";
import { startKnownService, type KnownService } from "./known-service.ts";
import { requirements } from "./requirements.ts";

describe("every case of the interface", { timeout: 1_200_000 }, () => {
  let service: KnownService;
  let thread: Worker;
  before(async () => {
    service = await startKnownService();
    thread = new Worker(new URL("./synchronous-cases.ts", import.meta.url), { workerData: service.facts });
  });
  after(async () => {
    await thread.terminate();
    await service[Symbol.asyncDispose]();
  });

  for (const { name, run, needsRecogniser } of allCases) {
    const isMissing = (): boolean => needsRecogniser === true && !service.facts.hasRecogniser;
    test(`${name} (asynchronous client)`, async (context) => {
      if (isMissing()) return context.skip("PocketSphinx is not installed");
      const { facts } = service;
      const make = (options: ClientOptions): AsyncSounding =>
        new AsyncSounding({ apiKey: facts.key, baseUrl: facts.url, maxRetries: 0, ...options });
      await run({ mode: "asynchronous", client: make({}), make, facts });
    });
    test(`${name} (synchronous client)`, async (context) => {
      if (isMissing()) return context.skip("PocketSphinx is not installed");
      const answered = once(thread, "message");
      thread.postMessage(name);
      const [failure] = (await answered) as [string | undefined];
      assert.equal(failure, undefined, failure);
    });
  }
});

describe("the requirements", () => {
  test("each have a case that shows them", () => {
    const shown = new Set<string>(allCases.flatMap(({ shows }) => shows));
    assert.deepEqual(
      Object.keys(requirements).filter((name) => !shown.has(name)),
      [],
    );
  });

  test("are told apart by the names of their cases", () => {
    const names = allCases.map(({ name }) => name);
    assert.deepEqual(
      names.filter((name, index) => names.indexOf(name) !== index),
      [],
    );
  });

  const specification = new URL("../../../shared/spec/interface.md", import.meta.url);
  test("stand in the interface word by word", { skip: !existsSync(specification) }, () => {
    const text = readFileSync(specification, "utf8");
    for (const [name, sentence] of Object.entries(requirements)) assert.ok(text.includes(sentence), name);
  });
});
