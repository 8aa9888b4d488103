/**
 * Two organizations with series of the same names and other values in one store, behind Prometheus' API: every expression
 * of the conformance scripts has, byte for byte, the same response as without the other organization.
 */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { parseScript, type EvalCommand } from "../../../promql/test/support/script.ts";
import { startMetricsServer, type MetricsServer } from "./metrics-server.ts";
import { appendSeries, appendSpans, type SeriesRow } from "./telemetry-rows.ts";
import { beforeTests } from "../../../../test/support/hooks.ts";

/** Our own scripts, and those in the folder that `PROMQLTEST_SCRIPTS` names, such as Prometheus' own. */
const folders = [
  fileURLToPath(new URL("../../../promql/test/", import.meta.url)),
  process.env["PROMQLTEST_SCRIPTS"] ?? "",
];
const scripts = folders
  .filter((folder) => folder !== "")
  .flatMap((folder) => readdirSync(folder).map((name) => ({ name, path: join(folder, name) })))
  .filter(({ name }) => /\.test(?:\.txt)?$/.test(name))
  .map(({ name, path }) => ({ name, commands: parseScript(readFileSync(path, "utf8")) }));

/** The time that corresponds to the scripts' 0. */
const zeroMs = Math.floor(Date.now() / 60_000) * 60_000 - 6 * 3_600_000;
/** Most points loaded per series; the scripts' first minutes are enough for every answer to contain something. */
const mostPoints = 60;

/** The scripts' series as gauges: their names, their labels, and values that are `scale` times theirs. */
function seriesOf(scale: number): SeriesRow[] {
  const byKey = new Map<string, SeriesRow>();
  for (const { commands } of scripts) {
    for (const command of commands) {
      if (command.kind !== "load") continue;
      for (const { labels, samples } of command.series) {
        const { __name__: metric, ...attributes } = Object.fromEntries(pairsOf(labels.pairs));
        const points = samples
          .filter(({ histogram = null }) => histogram === null)
          .slice(0, mostPoints)
          .map(({ stale = false, timeMs, value }) => ({ timeMs: zeroMs + timeMs, value: value * scale, stale }));
        if (metric === undefined || points.length === 0 || byKey.has(labels.key)) continue;
        byKey.set(labels.key, { metric, type: "gauge", attributes, points });
      }
    }
  }
  return [...byKey.values()];
}

function pairsOf(pairs: readonly string[]): [string, string][] {
  return Array.from({ length: pairs.length / 2 }, (_, index) => [pairs[2 * index]!, pairs[2 * index + 1]!]);
}

function pathOf({ endMs, expression, isRange, startMs, stepMs }: EvalCommand): string {
  const seconds = (ms: number): string => String((zeroMs + ms) / 1000);
  const parameters: Record<string, string> = isRange
    ? { query: expression, start: seconds(startMs), end: seconds(endMs), step: String(stepMs / 1000) }
    : { query: expression, time: seconds(startMs) };
  return `/prometheus/api/v1/${isRange ? "query_range" : "query"}?${new URLSearchParams(parameters).toString()}`;
}

const paths = new Map(
  scripts.map(({ commands, name }) => [
    name,
    [...new Set(commands.filter((command) => command.kind === "eval").map(pathOf))],
  ]),
);

let server: MetricsServer;
/** By path, while the organization was alone in the store. */
const alone = new Map<string, string>();

beforeTests(async (stack) => {
  server = stack.use(await startMetricsServer());
  await appendSeries(server.store, "org_a", seriesOf(1));
  await eachPath([...paths.values()].flat(), async (path) => void alone.set(path, await answerTo(path, "org_a")));
  await appendSeries(server.store, "org_b", seriesOf(7));
  await appendSeries(server.store, "org_b", [
    { metric: "secret", type: "gauge", points: [{ timeMs: zeroMs, value: 1 }] },
  ]);
  await appendSpans(server.store, "org_b", [{ endMs: zeroMs + 60_000, model: "gpt" }]);
});

async function answerTo(path: string, key: string): Promise<string> {
  const response = await fetch(`${server.url}${path}`, { headers: { authorization: `Bearer sk-${key}` } });
  return `${response.status} ${await response.text()}`;
}

/** A few at a time. */
async function eachPath(all: readonly string[], visit: (path: string) => Promise<void>): Promise<void> {
  for (let at = 0; at < all.length; at += 6) await Promise.all(all.slice(at, at + 6).map(visit));
}

describe("another organization's series of the same names change no byte of an answer", () => {
  for (const [name, all] of paths) {
    test(name, () => eachPath(all, async (path) => assert.equal(await answerTo(path, "org_a"), alone.get(path), path)));
  }
});

test("most answers are not empty, and differ between the organizations", async () => {
  const filled = [...alone].filter(([, answer]) => answer.startsWith("200") && !answer.includes('"result":[]'));
  assert.ok(filled.length > alone.size / 2, `${filled.length} of ${alone.size}`);
  let different = 0;
  await eachPath(filled.map(([path]) => path).slice(0, 60), async (path) => {
    if ((await answerTo(path, "org_b")) !== alone.get(path)) different += 1;
  });
  assert.ok(different > 20, `${different} differ`);
});
