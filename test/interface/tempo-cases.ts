/** Tempo's HTTP API, which the clients do not wrap. */
import assert from "node:assert/strict";
import type { InterfaceCase } from "./interface-case.ts";
import type { Facts } from "./known-service.ts";

function get({ key, url }: Facts, path: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${url}/tempo${path}`, { headers: { authorization: `Bearer ${key}`, ...headers } });
}

async function search(facts: Facts, parameters: Record<string, string>): Promise<string[]> {
  const response = await get(facts, `/api/search?${new URLSearchParams(parameters).toString()}`);
  assert.equal(response.status, 200);
  const { traces } = (await response.json()) as { traces: { traceID: string }[] };
  return traces.map(({ traceID }) => traceID);
}

export const tempoCases: readonly InterfaceCase[] = [
  {
    name: "a trace is found by its ID in both versions of Tempo's API, in JSON and protobuf; others' traces are not",
    shows: ["tempo-s-api/trace-by-id"],
    withoutClient: true,
    async run({ facts }) {
      const { batches } = (await (await get(facts, `/api/traces/${facts.traceId}`)).json()) as { batches: unknown[] };
      const second = (await (await get(facts, `/api/v2/traces/${facts.traceId}`)).json()) as Record<string, unknown>;
      assert.deepEqual(second, { trace: { resourceSpans: batches }, metrics: {} });
      assert.ok(JSON.stringify(batches).includes("invoke_agent planner"));
      const accept = { accept: "application/protobuf" };
      const protobuf = await get(facts, `/api/v2/traces/${facts.traceId}`, accept);
      assert.equal(protobuf.headers.get("content-type"), "application/protobuf");
      assert.ok(Buffer.from(await protobuf.arrayBuffer()).includes("invoke_agent planner"));
      for (const version of ["", "/v2"])
        assert.equal((await get(facts, `/api${version}/traces/${facts.strangerTraceId}`, accept)).status, 404);
    },
  },
  {
    name: "TraceQL and Tempo's older parameters search the organization's traces",
    shows: ["tempo-s-api/search"],
    withoutClient: true,
    async run({ facts }) {
      const found = await search(facts, { q: '{ name =~ ".*planner" && resource.service.name != nil }', limit: "100" });
      assert.ok(found.includes(facts.traceId));
      assert.ok(!found.includes(facts.strangerTraceId));
      assert.deepEqual(await search(facts, { q: '{ name = "no such span" }' }), []);
      assert.ok(
        (await search(facts, { tags: "name=planner", minDuration: "0s", limit: "100" })).includes(facts.traceId),
      );
    },
  },
  {
    name: "TraceQL metrics are evaluated at each step of a range, or once",
    shows: ["tempo-s-api/metrics-of-spans"],
    withoutClient: true,
    async run({ facts }) {
      const at = Number(BigInt(facts.atUnixNano) / 1_000_000_000n);
      const parameters = new URLSearchParams({
        q: "{ name =~ `own .*` } | count_over_time() by (name)",
        start: String(at - 3600),
        end: String(at + 600),
        step: "10m",
      }).toString();
      type Series = { labels: { key: string; value: object }[]; value: number; samples: { value: number }[] };
      const read = async (path: string) =>
        ((await (await get(facts, `/api/metrics/${path}?${parameters}`)).json()) as { series: Series[] }).series;
      const [instant, range] = await Promise.all([read("query"), read("query_range")]);
      const planner = ({ labels }: Series): boolean => JSON.stringify(labels).includes("invoke_agent planner");
      assert.deepEqual(instant.find(planner)!.labels, [
        { key: "name", value: { stringValue: "own invoke_agent planner" } },
      ]);
      assert.equal(instant.find(planner)!.value, 1);
      const total = range.find(planner)!.samples.reduce((sum, { value }) => sum + value, 0);
      assert.equal(total, 1);
    },
  },
  {
    name: "tag names are listed by scope or together, and values with their types or as text",
    shows: ["tempo-s-api/tag-names", "tempo-s-api/tag-values"],
    withoutClient: true,
    async run({ facts }) {
      const read = async (path: string) => (await (await get(facts, path)).json()) as Record<string, unknown[]>;
      const { scopes } = await read("/api/v2/search/tags");
      const span = (scopes as { name: string; tags: string[] }[]).find(({ name }) => name === "span")!;
      assert.ok(span.tags.includes("gen_ai.operation.name"));
      assert.ok((await read("/api/search/tags")).tagNames!.includes("gen_ai.operation.name"));
      const chats = encodeURIComponent('{ .gen_ai.operation.name = "chat" && name = }');
      const { tagValues } = await read(`/api/v2/search/tag/.gen_ai.operation.name/values?q=${chats}`);
      assert.deepEqual(tagValues, [{ type: "string", value: "chat" }]);
      assert.ok((await read("/api/search/tag/gen_ai.operation.name/values")).tagValues!.includes("invoke_agent"));
    },
  },
  {
    name: "errors under /tempo are texts, unknown paths and methods included",
    shows: ["errors/errors-of-tempo-s-api"],
    withoutClient: true,
    async run({ facts }) {
      for (const [path, status] of [
        ["/api/search?q=%7B", 400],
        ["/api/traces/xyz", 400],
        ["/api/nothing", 404],
      ] as const) {
        const response = await get(facts, path);
        assert.deepEqual(
          [response.status, response.headers.get("content-type")],
          [status, "text/plain; charset=utf-8"],
        );
        assert.match(await response.text(), /\w/);
      }
      const headers = { authorization: `Bearer ${facts.key}` };
      assert.equal((await fetch(`${facts.url}/tempo/api/search`, { method: "DELETE", headers })).status, 405);
    },
  },
];
