/** The search parameters that are older than TraceQL. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { searchTraces } from "../src/engine.ts";
import { queryOfTags, type TagSearch } from "../src/spans/tag-search.ts";
import { MemoryTraces } from "../src/memory-storage.ts";
import { toTrace } from "./support/traces.ts";

const traces = [
  toTrace("0a", [
    { id: "1", name: "GET /cart", ms: 100, is: { "http.status_code": 200n, user: "ann" } },
    { id: "2", parent: "1", name: "SELECT", is: { db: "sql" } },
  ]),
  toTrace("0b", [
    { id: "1", name: "GET /search", ms: 2000, status: "error", is: { user: "bob", paid: true } },
    { id: "2", parent: "1", name: "scan", resource: { "service.name": "search (eu)" } },
  ]),
];

const cases: readonly (readonly [search: Omit<TagSearch, "tags"> & { tags: Record<string, string> }, string[]])[] = [
  [{ tags: {} }, ["0a", "0b"]],
  [{ tags: { user: "ann" } }, ["0a"]],
  [{ tags: { user: "an" } }, []],
  [{ tags: { user: "ann", db: "sql" } }, ["0a"]],
  [{ tags: { user: "bob", db: "sql" } }, []],
  [{ tags: { "http.status_code": "200" } }, ["0a"]],
  [{ tags: { paid: "true" } }, ["0b"]],
  [{ tags: { name: "GET" } }, ["0a", "0b"]],
  [{ tags: { name: "get" } }, []],
  [{ tags: { "service.name": "h (" } }, ["0b"]],
  [{ tags: { "root.name": "cart", "root.service.name": "sho" } }, ["0a"]],
  [{ tags: { "status.code": "error" } }, ["0b"]],
  [{ tags: {}, minDurationNano: 2_000_000_000n }, ["0b"]],
  [{ tags: {}, maxDurationNano: 100_000_000n }, ["0a"]],
  [{ tags: {}, minDurationNano: 101_000_000n, maxDurationNano: 1_999_000_000n }, []],
];

for (const [{ tags, ...durations }, expected] of cases) {
  const described = [JSON.stringify(tags), ...Object.values(durations).map((nano) => `${nano} ns`)].join(", ");
  test(`tags ${described} find ${JSON.stringify(expected)}`, async () => {
    const query = queryOfTags({ tags: new Map(Object.entries(tags)), ...durations });
    const found = await searchTraces(new MemoryTraces(traces), { query, startUnixNano: 0n, endUnixNano: 1n });
    assert.deepEqual(found.traces.map(({ traceId }) => traceId).sort(), expected);
  });
}
