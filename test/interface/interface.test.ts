/** The server and both clients keep the promises of docs/reference/interface.md: every promise has a case, and every case passes. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, describe, test } from "node:test";
import { runnersFor } from "../../packages/client/test/both-modes.ts";
import { needs } from "../support/needs.ts";
import { allCases } from "./all-cases.ts";
import { startKnownService } from "./known-service.ts";
import { readPromises } from "./promises.ts";

const service = await startKnownService();
after(() => service[Symbol.asyncDispose]());
const { facts } = service;
const runners = await runnersFor(new URL("./all-cases.ts", import.meta.url), { ...facts, facts });

describe("every case of docs/reference/interface.md", { timeout: 1_200_000 }, () => {
  for (const { name, needsRecognizer, withoutClient } of allCases) {
    const skip = needsRecognizer === true && needs("pocketsphinx");
    for (const { mode, run } of withoutClient ? runners.slice(0, 1) : runners) {
      test(`${name} (${withoutClient ? "no" : mode} client)`, { skip }, async () =>
        assert.equal(await run(name), undefined),
      );
    }
  }
});

describe("the promises of docs/reference/interface.md", async () => {
  const promises = readPromises(await readFile(new URL("../../docs/reference/interface.md", import.meta.url), "utf8"));
  const cited = new Set(allCases.flatMap(({ shows }) => shows));

  test("have at least one case each", () => {
    assert.deepEqual([...promises].filter((name) => !cited.has(name)).sort(), []);
  });

  test("are the only ones that cases cite", () => {
    assert.deepEqual([...cited].filter((name) => !promises.has(name)).sort(), []);
  });

  test("are cited by every case, and cases have different names", () => {
    const names = allCases.map(({ name }) => name);
    assert.deepEqual(
      allCases.filter(({ name, shows }, index) => shows.length === 0 || names.indexOf(name) !== index),
      [],
    );
  });
});

describe("reading promises from a page", () => {
  test("finds rows and named list items under their section's anchor", () => {
    const page =
      "# Title\n\n- not one\n\n## Log queries\n\n- **Time window.** An integer.\n\n| field | rule |\n| --- | --- |\n| `time_window` | text |\n";
    assert.deepEqual([...readPromises(page)], ["log-queries/time-window", "log-queries/time_window"]);
  });

  for (const [name, section] of [
    ["a list item without a name", "- A promise."],
    ["a row whose first cell is not code", "| field |\n| --- |\n| limit |"],
    ["a name used twice", "- **One.** This.\n- **One.** That."],
    ["a section without promises", "Nothing."],
  ] as const) {
    test(`refuses ${name}`, () => assert.throws(() => readPromises(`## Section\n\n${section}\n`)));
  }
});
