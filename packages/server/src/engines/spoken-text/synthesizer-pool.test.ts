/** Speakers that hang. */
import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { silentLogger } from "../../logger.ts";
import { createSynthesizerPool } from "./synthesizer-pool.ts";

test("a speaker that hangs on a phrase is replaced: the phrase fails, the next one is spoken", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const ended: string[] = [];
  let started = 0;
  const pool = createSynthesizerPool<string, string>({
    most: 1,
    what: "A test",
    logger: silentLogger,
    async start() {
      const name = `speaker ${++started}`;
      const { promise, resolve } = Promise.withResolvers<unknown>();
      return {
        ended: promise,
        speak: (phrase) => (phrase === "stuck" ? new Promise<string>(() => {}) : Promise.resolve(`${name}: ${phrase}`)),
        async end() {
          ended.push(name);
          resolve(undefined);
        },
      };
    },
  });
  const turn = { first: true, signal: new AbortController().signal };
  try {
    const stuck = assert.rejects(pool.speak("stuck", turn), { code: "upstream_failed" });
    const next = pool.speak("next", turn);
    for (let count = 0; count < 10; count++) await Promise.resolve();
    mock.timers.tick(60_000);
    await stuck;
    assert.equal(await next, "speaker 2: next");
    assert.deepEqual(ended, ["speaker 1"]);
  } finally {
    mock.timers.reset();
    await pool.close();
  }
});
