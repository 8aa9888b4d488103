import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { LabelMatcher, LineFilter, LineFilterOperator, MatchOperator } from "@sounding/logql/syntax/ast";
import { mayContain } from "../../src/query/logs/line-index.ts";
import { createTenantLogs, type TenantLogs } from "../../src/query/logs/logql-storage/tenant-logs.ts";
import { callerOrganization, sql } from "../../src/store/statement.ts";
import { openTestStore, scopeOf, type TestStore } from "../store/test-store.ts";
import { appendLogs } from "./log-records.ts";
import { mergeParts } from "./merge-parts.ts";
import { matchesMetadata, matchesStream, passes } from "./naive-filter.ts";
import { expectedEntries, randomNumbers, randomRecords, type ExpectedEntry } from "./random-records.ts";
import { readAll, requestOf } from "./read-all.ts";
import { beforeTests } from "../../../../test/support/hooks.ts";

const endUnixNano = BigInt(Math.floor(Date.now() / 60_000)) * 60_000_000_000n;
const range = { fromUnixNano: endUnixNano - 3_600_000_000_000n, toUnixNano: endUnixNano + 1n };
const records = randomRecords(1500, endUnixNano, 11);
const expected = expectedEntries(records).filter(({ unixNano }) => unixNano >= range.fromUnixNano);

let opened: TestStore;
beforeTests(async (stack) => {
  opened = stack.use(await openTestStore());
  await appendLogs(opened.store, "org_a", records.slice(0, 1000), 2);
  await appendLogs(opened.store, "org_a", records.slice(1000));
  // The same names and texts, of which nothing may appear.
  await appendLogs(opened.store, "org_b", randomRecords(1500, endUnixNano, 12));
});

const logs = (): TenantLogs => createTenantLogs({ reader: opened.store.open(scopeOf("org_a")), project: undefined });

const names = [
  "service_name",
  "project_name",
  "level",
  "detected_level",
  "k8s_pod_name",
  "cloud_region",
  "job",
  "nothing",
];
const metadataNames = names.concat(
  ["http_method", "key_2xx", "nested_a_b", "tags", "trace_id", "span_id", "severity_text", "event_name"],
  ["scope_name", "scope_version", "scope_kind", "host_name", "process_pid", "user"],
);
const values = [
  "",
  "checkout",
  "unknown_service",
  "cart's",
  "default",
  "other",
  "error",
  "warn",
  "LOUD",
  "pod-a",
  'it\'s \\ "here"\n{x}',
  "sync",
  "GET",
  "twice",
  "3",
  "7",
  "yes",
  '["say \\"needle\\"","5"]',
  "0af7651916cd43dd8448eb211c80319c",
  "from-attribute",
  "it's\\",
  "ERROR",
  "needle.event",
  "library",
  "1.0",
  "http",
  "one",
  "' OR 1 = 1 --",
  "\\'; DROP TABLE logs",
  "\0",
  "%",
  "{p0:String}",
];
const expressions = [
  "",
  ".*",
  ".+",
  "check.*|pod-[ab]",
  "(?i)CHECKOUT",
  "(?i)s[yn]+c",
  "[a-z]+",
  "[^a-z]*",
  "it's .*",
  "err(or)?",
  "\\d+",
  "unknown.*",
  "warn|error|fatal",
  "(.*)",
  "a{1,3}",
  "trace|",
  "\\w+_\\w+",
];
const texts = [
  "needle",
  "NEEDLE",
  "connection refused",
  "☃",
  "%",
  "_",
  "\\",
  "'",
  "a_b",
  "tab\there",
  "no such text",
  "line\nsecond",
  "say",
  "event",
  '"why":"needle',
  "kvlistValue",
  "e",
  "' OR 1 = 1 --",
  "\0",
];
const lineExpressions = [
  "needle",
  "(?i)needle",
  "(?i)Ünïcode",
  "^first.*NEEDLE$",
  "^first[^]*$".replace("[^]", "[^x]"),
  "refused by \\d+\\.\\d+",
  "GET|POST",
  "n(ee)dle?",
  "\\bneedle\\b",
  "^$",
  "^needle",
  "e{2}dle",
  "[(]y[)]",
  "\\^\\$",
  ".*",
  "☃ and.",
];
const patterns = ["connection <_> by", "<_>needle", "GET <_> 200", "first<_>NEEDLE", "<_>", "100% of <_>[x]"];

function randomRequests(count: number, seed: number) {
  const random = randomNumbers(seed);
  const pick = <Item>(items: readonly Item[]): Item => items[random(items.length)]!;
  const matcher = (from: readonly string[]): LabelMatcher => {
    const operator = pick<MatchOperator>(["=", "=", "!=", "=~", "!~"]);
    return { name: pick(from), operator, value: pick(operator === "=" || operator === "!=" ? values : expressions) };
  };
  const filter = (): LineFilter => {
    const operator = pick<LineFilterOperator>(["|=", "!=", "|~", "!~", "|>", "!>"]);
    const of = operator.endsWith("=") ? texts : operator.endsWith("~") ? lineExpressions : patterns;
    const operands = Array.from({ length: 1 + random(2) }, () => ({ kind: "text" as const, value: pick(of) }));
    if (random(10) === 0 && operator.endsWith("=")) return { ...filterAt, operator, operands: [...operands, address] };
    return { ...filterAt, operator, operands };
  };
  return Array.from({ length: count }, () => ({
    matchers: Array.from({ length: random(3) }, () => matcher(names)),
    lineFilters: Array.from({ length: random(3) }, filter),
    metadataMatchers: Array.from({ length: random(2) }, () => matcher(metadataNames)),
    direction: pick(["forward", "backward"] as const),
  }));
}

const filterAt = { kind: "line-filter", at: { start: 0, end: 0 } } as const;
const address = { kind: "ip", value: "10.0.0.7" } as const;

const keyOf = ({ line, unixNano, labels }: Pick<ExpectedEntry, "labels" | "line" | "unixNano">): string =>
  JSON.stringify([String(unixNano), line, labels["service_name"]]);

function testRequests(requests: ReturnType<typeof randomRequests>): void {
  for (const [index, request] of requests.entries()) {
    const { lineFilters, matchers, metadataMatchers } = request;
    const shown = JSON.stringify({ matchers, lineFilters, metadataMatchers }, (key, value: unknown) =>
      key === "at" || key === "kind" ? undefined : value,
    );
    test(`${index}: ${shown}`, async () => {
      const entries = await readAll(logs(), requestOf(range, request));
      assert.deepEqual(
        entries.filter((entry) => !matchesStream(matchers, entry)),
        [],
      );
      const isNeeded = (entry: Pick<ExpectedEntry, "labels" | "line" | "metadata">): boolean =>
        matchesStream(matchers, entry) &&
        matchesMetadata(metadataMatchers, entry) &&
        lineFilters.every((filter) => passes(filter, entry));
      const needed = expected.filter(isNeeded).map(keyOf);
      const selected = entries.filter(isNeeded).map(keyOf);
      assert.deepEqual(selected, request.direction === "forward" ? needed : needed.toReversed());
    });
  }
}

describe("entries that the store selects", () => testRequests(randomRequests(120, 3)));

describe("entries that the store selects with the index of texts", () => {
  beforeTests(() => mergeParts(opened, "logs"));
  testRequests(randomRequests(120, 5));

  test("blocks of rows without the text are skipped", async () => {
    const reader = opened.store.open(scopeOf("org_a"));
    const hint = mayContain(["no such text"], { ignoresCase: false })!;
    const plan = await reader.query(
      sql`EXPLAIN indexes = 1 SELECT count() FROM logs WHERE organization = ${callerOrganization} AND ${hint}`,
      { duplicates: "kept" },
    );
    assert.match(JSON.stringify(plan), /body_search.{0,200}Granules: 0\//);
  });
});
