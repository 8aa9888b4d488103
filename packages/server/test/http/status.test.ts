/** Endpoints without authentication are cheap: metrics are rendered in slices and shared, documents are serialized once. */
import assert from "node:assert/strict";
import { setImmediate as nextLoopTurn } from "node:timers/promises";
import { describe, test } from "node:test";
import { Registry, Gauge } from "prom-client";
import { operations } from "../../src/api/index.ts";
import { toOpenApi } from "../../src/api/openapi.ts";
import { createMetrics } from "../../src/status/metrics.ts";
import { statusRoutes } from "../../src/status/routes.ts";
import { createScrape, renderRegistry } from "../../src/status/scrape.ts";
import { finishedChat, finishedSpeech, finishedTranscription } from "../support/finished-calls.ts";
import { startTestHttp } from "../support/test-http.ts";

describe("the metrics of the process", () => {
  test("of a thousand models are rendered in several iterations of the event loop", async () => {
    const metrics = createMetrics("0");
    for (let index = 0; index < 1000; index++) {
      const model = `engine/model-${index}`;
      const call = { model, stream: true };
      const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
      metrics.observeCall(finishedChat({ ...call, firstChunkMs: 1, usage }));
      metrics.observeCall(finishedSpeech({ ...call, firstAudioMs: 1, audioSeconds: 1 }));
      metrics.observeCall(finishedTranscription({ ...call, firstTextMs: 1, audioSeconds: 1, realTimeFactor: 1 }));
    }
    let turns = 0;
    const scraping = { isOver: false };
    const count = (async () => {
      while (!scraping.isOver) {
        await nextLoopTurn();
        turns += 1;
      }
    })();
    const { text } = await metrics.scrape();
    scraping.isOver = true;
    await count;
    assert.ok(text.length > 1_000_000 && text.endsWith("\n"));
    assert.ok(turns >= 8, `${turns} turns`);
  });

  test("are rendered once for concurrent scrapes, and cached for nine times as long as that took", async () => {
    let renderings = 0;
    let nowMs = 0;
    const registry = new Registry();
    const gauge: Gauge = new Gauge({
      name: "renderings",
      help: "How often it was rendered.",
      registers: [registry],
      collect: () => {
        gauge.set((renderings += 1));
        nowMs += 100;
      },
    });
    const scrape = createScrape(
      () => renderRegistry(registry),
      () => nowMs,
    );
    const answers = await Promise.all(Array.from({ length: 50 }, scrape));
    assert.ok(
      answers.every(
        ({ text }) => text === "# HELP renderings How often it was rendered.\n# TYPE renderings gauge\nrenderings 1\n",
      ),
    );
    nowMs += 899;
    await scrape();
    assert.equal(renderings, 1);
    nowMs += 1;
    assert.match((await scrape()).text, /^renderings 2$/m);
  });
});

test("the contract and its page are serialized once", async () => {
  let serialized = 0;
  const document = toOpenApi(operations, "0");
  const counted = Object.assign(Object.create({ toJSON: () => ((serialized += 1), document) }) as object, document);
  const routes = statusRoutes({
    metrics: createMetrics("0"),
    document: counted,
    docs: true,
    readiness: async () => ({}),
    informational: async () => ({}),
    disabled: {},
  });
  await using server = await startTestHttp({ routes });
  for (let asked = 0; asked < 3; asked++) {
    const response = await fetch(`${server.url}/openapi.json`);
    assert.equal(response.headers.get("content-type"), "application/json");
    assert.deepEqual(await response.json(), JSON.parse(JSON.stringify(document)));
    const page = await fetch(`${server.url}/docs`);
    assert.match(page.headers.get("content-type")!, /^text\/html/);
    assert.match(await page.text(), /<html/);
  }
  assert.equal(serialized, 1);
});
