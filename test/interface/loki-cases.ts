/** Loki's HTTP API: queries, labels, errors and the live tail. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { WebSocket } from "undici";
import type { InterfaceCase } from "./interface-case.ts";

interface Stream {
  readonly stream: Record<string, string>;
  readonly values: [unixNano: string, line: string, labels?: { structuredMetadata?: Record<string, string> }][];
}

interface Answer {
  readonly status: string;
  readonly data: { readonly resultType: string; readonly result: readonly Stream[] };
}

const selector = '{project_name="shop",level="error"}';

async function queryRange(
  { key, url }: { readonly key: string; readonly url: string },
  query: string,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const parameters = new URLSearchParams({ query, since: "24h", end: String(Date.now() / 1000) });
  const options = { headers: { authorization: `Bearer ${key}`, ...headers } };
  const path = `${url}/loki/api/v1/query_range`;
  const [got, posted] = await Promise.all([
    fetch(`${path}?${parameters.toString()}`, options),
    fetch(path, { ...options, method: "POST", body: parameters }),
  ]);
  assert.deepEqual([got.status, posted.status], [200, 200]);
  const answer = (await got.json()) as Answer;
  assert.deepEqual(((await posted.json()) as Answer).data.result, answer.data.result);
  return answer;
}

export const lokiCases: readonly InterfaceCase[] = [
  {
    name: "Loki's query_range returns streams of entries or a matrix, of the own organization only",
    shows: ["loki-s-api/range-queries", "loki-s-api/stream-labels"],
    withoutClient: true,
    async run({ facts }) {
      const { data, status } = await queryRange(facts, selector);
      assert.deepEqual([status, data.resultType], ["success", "streams"]);
      const scope = { scope_name: "test.library", scope_version: "1.2.3" };
      assert.deepEqual(data.result, [
        {
          stream: { detected_level: "error", level: "error", project_name: "shop", service_name: "shop", ...scope },
          values: [[facts.atUnixNano, "own failed"]],
        },
      ]);
      const counted = await queryRange(facts, `sum(count_over_time(${selector}[48h]))`);
      assert.equal(counted.data.resultType, "matrix");
    },
  },
  {
    name: "Loki's clients can have labels separated by where they came from",
    shows: ["loki-s-api/categorized-labels"],
    withoutClient: true,
    async run({ facts }) {
      const query = '{project_name="detailed"}';
      const separated = await queryRange(facts, query, { "x-loki-response-encoding-flags": "categorize-labels" });
      const [{ stream, values }] = separated.data.result as [Stream];
      assert.equal(values[0]![2]!.structuredMetadata!["user_id"], "7");
      assert.equal(stream["user_id"], undefined);
      const together = await queryRange(facts, query);
      assert.equal(together.data.result[0]!.stream["user_id"], "7");
      assert.equal(together.data.result[0]!.values[0]!.length, 2);
    },
  },
  {
    name: "an error of Loki's API has a message and the HTTP status",
    shows: ["errors/errors-of-loki-s-api"],
    withoutClient: true,
    async run({ facts }) {
      const headers = { authorization: `Bearer ${facts.key}` };
      const paths = { "query_range?query=%7B": 400, nothing: 404 };
      for (const [path, status] of Object.entries(paths)) {
        const response = await fetch(`${facts.url}/loki/api/v1/${path}`, { headers });
        assert.equal(response.status, status);
        const { message, ...rest } = (await response.json()) as { message: string };
        assert.deepEqual(rest, { status: "error", code: status });
        assert.ok(message.length > 10);
      }
    },
  },
  {
    name: "a live tail begins with the newest entries",
    shows: ["loki-s-api/live-tail"],
    withoutClient: true,
    async run({ facts }) {
      const parameters = new URLSearchParams({ query: selector, start: "1", limit: "1" });
      const socket = new WebSocket(`${facts.url.replace("http", "ws")}/loki/api/v1/tail?${parameters.toString()}`, {
        headers: { authorization: `Bearer ${facts.key}` },
      });
      const [{ data }] = (await once(socket as unknown as EventTarget, "message")) as [{ data: string }];
      const { streams } = JSON.parse(data) as { streams: Stream[] };
      assert.deepEqual(streams[0]!.values, [[facts.atUnixNano, "own failed"]]);
      socket.close();
      await once(socket as unknown as EventTarget, "close");
    },
  },
];
