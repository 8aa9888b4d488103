/** Large results of log and trace queries: statements stay short, the thread is not blocked, memory is charged as rows arrive. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { incrementalJson } from "../../src/http/incremental-json.ts";
import { lookUpResources } from "../../src/query/resource-lookup.ts";
import { countEntries } from "../../src/query/logs/count-entries.ts";
import { searchLogs } from "../../src/query/logs/search-logs.ts";
import { readSpanDetails, type StoredSpan } from "../../src/query/traces/spans.ts";
import type { Statement } from "../../src/store/statement.ts";
import type { TenantReader } from "../../src/store/store.ts";

const { signal } = new AbortController();

/** Answers statements about logs with the rows, others with none, and keeps the statements. */
function scriptedReader(rows: readonly object[] = []): { reader: TenantReader; statements: Statement[] } {
  const statements: Statement[] = [];
  const reader = {
    cache: { get: () => undefined, set: () => {} },
    query: async (statement: Statement) => {
      statements.push(statement);
      return statement.render().text.includes("FROM logs") ? rows : [];
    },
  } as unknown as TenantReader;
  return { reader, statements };
}

/** The length of the longest statement's parameters in a URL. */
function longestUrl(statements: readonly Statement[]): number {
  return Math.max(
    ...statements.map((statement) =>
      [...statement.render().parameters.values()].reduce((sum, value) => sum + encodeURIComponent(value).length, 0),
    ),
  );
}

const urlLimit = 900_000;
const digits = (index: number): string => String(index).padStart(16, "0");

describe("the statements of a query", () => {
  test("of a log histogram end when the caller disconnects", async () => {
    const leaving = new AbortController();
    const reader = {
      cache: { get: () => undefined, set: () => {} },
      query: (_statement: Statement, options: { signal: AbortSignal }) =>
        new Promise<never>((_resolve, reject) => {
          options.signal.addEventListener("abort", () => reject(new Error("cancelled")));
          leaving.abort();
        }),
    } as unknown as TenantReader;
    const range = { fromUnixNano: 0n, toUnixNano: 10n };
    await assert.rejects(
      countEntries(reader, { filter: {}, range, nowUnixNano: 10n, step: undefined, signal: leaving.signal }),
      /cancelled/,
    );
  });

  test("fit a URL when all of 100,000 spans have details", async () => {
    const { reader, statements } = scriptedReader();
    const spans = Array.from({ length: 100_000 }, (_, index) => ({
      trace_id: `${digits(index)}${digits(index)}`,
      span_id: digits(index),
      start_nano: String(index),
      has_details: 1,
    }));
    await readSpanDetails(reader, spans as unknown as StoredSpan[], signal);
    assert.ok(longestUrl(statements) < urlLimit, String(longestUrl(statements)));
  });

  test("fit a URL when 100,000 rows have a resource each", async () => {
    const { reader, statements } = scriptedReader();
    const rows = Array.from({ length: 100_000 }, (_, index) => ({
      resource_id: `1844${digits(index)}`,
      scope_id: `1844${digits(index)}`,
    }));
    await lookUpResources(reader, rows, { signal });
    assert.ok(longestUrl(statements) < urlLimit, String(longestUrl(statements)));
  });
});

describe("a large answer of logs", () => {
  const value = {
    kvlistValue: {
      values: Array.from({ length: 300 }, (_, index) => ({ key: `k${index}`, value: { stringValue: "x".repeat(50) } })),
    },
  };
  const body = JSON.stringify(value);
  const rows = Array.from({ length: 1000 }, (_, index) => ({
    project: "p",
    unix_nano: String(index),
    record_id: String(index),
    level_number: 9,
    severity_text: "",
    service: "s",
    trace_id: "",
    span_id: "",
    event_name: "",
    body,
    body_type: "k",
    resource_id: "1",
    scope_id: "1",
  }));

  /** How often other work ran meanwhile. */
  async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
    let turns = 0;
    let running = true;
    const turn = (): void => {
      turns += 1;
      if (running) setImmediate(turn);
    };
    setImmediate(turn);
    try {
      await work();
    } finally {
      running = false;
    }
    return turns;
  }

  test("is built and written while other requests are served", async () => {
    const { reader } = scriptedReader(rows);
    const search = {
      filter: { project: "p" },
      range: { fromUnixNano: 0n, toUnixNano: 10n },
      direction: "backward" as const,
      detail: false,
      ids: false,
      nowUnixNano: 10n,
      limit: 1000,
      signal,
    };
    let answer: unknown;
    const making = await turnsDuring(async () => (answer = await searchLogs(reader, search)));
    // Each row takes some hundred microseconds, and a slice is 2 ms.
    assert.ok(making > 20, `${making} turns`);
    const written = incrementalJson(answer);
    assert.equal(written.kind, "stream");
    let text = "";
    const writing = await turnsDuring(async () => {
      for await (const piece of (written as { bytes: AsyncIterable<Uint8Array> }).bytes)
        text += Buffer.from(piece).toString();
    });
    assert.ok(writing > 3, `${writing} turns`);
    assert.equal(text, JSON.stringify(answer));
  });

  test("with a few huge lines is also written in pieces", () => {
    const huge = { data: [["1", "x".repeat(2 ** 20)]] };
    assert.equal(incrementalJson(huge).kind, "stream");
  });
});
