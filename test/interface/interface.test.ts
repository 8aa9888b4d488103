/** That the service does what its interface says: every case with both clients, and a case for every requirement. */
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { after, describe, test } from "node:test";
import { runnersFor } from "../../packages/client/test/both-modes.ts";
import { allCases } from "./all-cases.ts";
import { startKnownService } from "./known-service.ts";
import { requirements } from "./requirements.ts";

const service = await startKnownService();
after(() => service[Symbol.asyncDispose]());
const { facts } = service;
const runners = await runnersFor(new URL("./all-cases.ts", import.meta.url), { ...facts, facts });

describe("every case of the interface", { timeout: 1_200_000 }, () => {
  for (const { name, needsRecogniser } of allCases) {
    const skip = needsRecogniser === true && !facts.hasRecogniser ? "PocketSphinx is not installed" : false;
    for (const { mode, run } of runners) {
      test(`${name} (${mode} client)`, { skip }, async () => assert.equal(await run(name), undefined));
    }
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
