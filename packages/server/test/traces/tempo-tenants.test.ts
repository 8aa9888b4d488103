/** Two projects with the same traces in one store: every endpoint of Tempo's API answers a key of one as if it were alone. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { tempoOperations } from "../../src/api/tempo.ts";
import { resourceSpans } from "./otlp-spans.ts";
import { startTempoServer, type TempoServer } from "./tempo-server.ts";
import { beforeTests, useAll } from "../../../../test/support/hooks.ts";

const nowNano = (BigInt(Date.now()) / 60_000n) * 60_000_000_000n;
const traceId = "0000000000000000000000000000abcd";
const range = `start=${nowNano / 1_000_000_000n - 600n}&end=${nowNano / 1_000_000_000n}`;

/** Each project has names and values of its own wherever a span has any. */
function spansOf(project: string, count: number): object {
  const own = `only-${project}`;
  const idOf = (index: number): string => `${project.length}${count}${index}`.padStart(16, "0");
  return resourceSpans(
    { "service.name": own, [`resource.${own}`]: own, shared: own },
    {
      scope: { name: own, version: "1", attributes: { [`scope.${own}`]: own } },
      spans: Array.from({ length: count }, (_, index) => ({
        traceId: index < 2 ? traceId : idOf(index).padStart(32, "1"),
        spanId: idOf(index),
        ...(index === 1 && { parentSpanId: idOf(0) }),
        name: own,
        statusMessage: own,
        startNano: nowNano - BigInt(index + 1) * 10_000_000_000n,
        durationNano: BigInt(count) * 1_000_000n,
        attributes: { [`span.${own}`]: own, shared: own },
        events: [{ name: own, afterNano: 5n, attributes: { [`event.${own}`]: own } }],
        links: [{ traceId, spanId: "00000000000000c3", attributes: { [`link.${own}`]: own } }],
      })),
    },
  );
}

let both: TempoServer;
let alone: TempoServer;
beforeTests(async (stack) => {
  [both, alone] = await useAll(stack, [startTempoServer(), startTempoServer()]);
  for (const server of [both, alone]) await server.send([spansOf("billing", 5)], { project: "billing" });
  await both.send([spansOf("default", 9)]);
  await both.send([spansOf("elsewhere", 3)], { key: "org_b" });
});

const query = (text: string): string => `q=${encodeURIComponent(text)}&${range}`;
/** Answers that depend on no spans. */
const independent: ReadonlySet<string> = new Set(["/ready", "/api/echo", "/api/status/buildinfo"]);
const requests: readonly string[] = [
  ...independent,
  `/api/traces/${traceId}`,
  `/api/v2/traces/${traceId}`,
  `/api/search?${query("{}")}&limit=100`,
  `/api/search?${query("{ } | select(span.shared, resource.shared, event:name, link.link.only-default)")}`,
  `/api/search?${query('{ span.shared =~ "only-.*" } | by(resource.service.name) | count() > 0')}`,
  `/api/search?${query('{ event:name =~ "only.*" } && { instrumentation:name =~ "only.*" }')}`,
  `/api/search?${query("{ } >> { }")}`,
  `/api/search?tags=shared%3Donly-default&${range}`,
  `/api/metrics/query_range?${query("{ } | rate() by (span.shared, name) ")}&step=60s`,
  `/api/metrics/query_range?${query("{ } | quantile_over_time(duration, 0.5) by (rootServiceName)")}&step=60s`,
  `/api/metrics/query_range?${query('{ } | compare({ span.shared =~ ".*" })')}&step=60s`,
  `/api/metrics/query?${query("{ } | count_over_time() by (resource.service.name)")}`,
  "/api/search/tags",
  "/api/v2/search/tags",
  ...["service.name", "shared", "name"].map((tag) => `/api/search/tag/${tag}/values`),
  ...[
    "resource.service.name",
    "span.shared",
    ".shared",
    "name",
    "rootName",
    "rootServiceName",
    "statusMessage",
    "event:name",
    "instrumentation:name",
    "span.span.only-default",
    "resource.resource.only-default",
    "event.event.only-default",
    "link.link.only-default",
    "instrumentation.scope.only-default",
  ].map((tag) => `/api/v2/search/tag/${tag}/values`),
];

/** Without what differs from run to run. */
const comparable = (text: string): string => text.replaceAll(/"metrics":\{[^}]*\}/g, "");

describe("a key that is bound to a project gets the answers of an organization that has only this project", () => {
  for (const path of requests) {
    test(decodeURIComponent(path), async () => {
      const answerOf = async (server: TempoServer, key: string): Promise<string> => {
        const { status, text } = await server.get(path, { key, accept: "application/json" });
        assert.equal(status, 200, text);
        return comparable(text);
      };
      const expected = await answerOf(alone, "org_a:billing");
      assert.equal(await answerOf(both, "org_a:billing"), expected);
      assert.ok(!expected.includes("only-default"));
      // The other project has something to hide here.
      const unbound = await answerOf(both, "org_a");
      if (!independent.has(path)) assert.ok(unbound.includes("only-default"), unbound);
      assert.ok(!unbound.includes("only-elsewhere"));
    });
  }

  test("and every endpoint is among these", () => {
    const paths = Object.values(tempoOperations).map(({ path }) => path.replace("/tempo", ""));
    const missing = paths.filter((path) => {
      const pattern = new RegExp(`^${path.replace(/\{\+?\w+\}/, "[^?]+")}(?:\\?|$)`);
      return !requests.some((request) => pattern.test(request));
    });
    assert.deepEqual(missing, []);
  });
});
