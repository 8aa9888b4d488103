/** Finds the newest traces when there are too many spans for one pass. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { searchTraces } from "../src/query/traces/search-traces.ts";
import { createTracePresets } from "../src/query/traces/trace-presets.ts";
import { appendSpans, type SpanRow } from "./metrics/telemetry-rows.ts";
import { openTestStore, scopeOf, type TestStore } from "./store/test-store.ts";
import { beforeTests } from "../../../test/support/hooks.ts";

const nowMs = Date.now();
const durationMs = 100;

/** 20 000 spans of 2 000 traces over two hours, four of them at each time; one trace in a hundred failed, and an old one. */
const rows = Array.from({ length: 20_000 }, (_, index): SpanRow => ({
  endMs: nowMs - Math.floor(index / 4) * 1440,
  durationMs,
  traceId: traceId(Math.floor(index / 10)),
  operation: index % 10 === 0 ? "invoke_agent" : "chat",
  project: "busy",
  ...(index % 1000 === 7 ? { errorType: "boom" } : {}),
}));
const oldFailure = { endMs: nowMs - 20 * 3_600_000, traceId: traceId(9999), errorType: "boom", project: "busy" };
const elsewhere = { endMs: nowMs - 1000, traceId: traceId(8888), project: "quiet" };

function traceId(number: number): string {
  return number.toString(16).padStart(32, "a");
}

let opened: TestStore;
beforeTests(async (stack) => {
  opened = stack.use(await openTestStore());
  await appendSpans(opened.store, "org_a", [...rows, oldFailure, elsewhere]);
});

const presets = createTracePresets({ slowTraceMs: 1000, configured: {} });

async function newest(
  preset: string,
  { limit, project, hours = 24 }: { limit: number; project?: string; hours?: number },
): Promise<string[]> {
  const nowUnixNano = BigInt(nowMs) * 1_000_000n;
  const { traces } = await searchTraces(opened.store.open(scopeOf("org_a")), {
    matches: { in: () => presets.find(preset).condition, readsDetails: false },
    project,
    limit,
    nowUnixNano,
    range: { fromUnixNano: nowUnixNano - BigInt(hours) * 3_600_000_000_000n, toUnixNano: nowUnixNano },
    detail: false,
    costOf: () => null,
    signal: AbortSignal.timeout(60_000),
  });
  return traces.map(({ traceID }) => traceID);
}

/** The same computed from the rows: IDs by the start of the newest matching span. */
function expected(isMeant: (row: SpanRow) => boolean, limit: number): Set<string> {
  return new Set([...new Set(rows.filter(isMeant).map((row) => row.traceId!))].slice(0, limit));
}

const all = (): boolean => true;
const failed = ({ errorType }: SpanRow): boolean => errorType !== undefined;

describe("of more spans than one pass examines", () => {
  for (const project of ["busy", undefined]) {
    const where = project === undefined ? "the organization" : "a project";
    const others = project === undefined ? [traceId(8888)] : [];

    for (const limit of [1, 100, 1000]) {
      test(`the newest ${limit} traces of ${where} are found`, async () => {
        const found = new Set(await newest("all_traces", { limit, ...(project && { project }) }));
        assert.equal(found.size, limit);
        // Among traces whose newest spans begin at the same time, any may be the last.
        const possible = new Set([...others, ...expected(all, limit + 1)]);
        assert.deepEqual(
          [...found].filter((id) => !possible.has(id)),
          [],
        );
        const sure = expected(all, Math.max(0, limit - 1 - others.length));
        assert.deepEqual(
          [...sure].filter((id) => !found.has(id)),
          [],
        );
      });
    }

    test(`failures of ${where} are found however sparse they are, including the oldest`, async () => {
      const found = new Set(await newest("error_traces", { limit: 100, ...(project && { project }) }));
      assert.deepEqual([...found].sort(), [...expected(failed, 100), oldFailure.traceId].sort());
    });

    test(`failures of ${where} that ended before the window are not found`, async () => {
      const found = await newest("error_traces", { limit: 100, hours: 3, ...(project && { project }) });
      assert.deepEqual(found.toSorted(), [...expected(failed, 100)].sort());
    });
  }

  test("a project without spans has no traces", async () => {
    assert.deepEqual(await newest("all_traces", { limit: 10, project: "empty" }), []);
  });

  test("a search without matches finds nothing among other spans", async () => {
    assert.deepEqual(await newest("inference_traces", { limit: 10, project: "quiet" }), [traceId(8888)]);
    assert.deepEqual(await newest("agent_traces", { limit: 10, project: "quiet" }), []);
  });
});
