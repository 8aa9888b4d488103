import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { LabelMatcher } from "@sounding/logql/syntax/ast";
import { entriesOf, keepLabels, labelsFrom, type Labels } from "@sounding/promql/series/labels";
import { neverYield } from "@sounding/promql/regex/yield-budget";
import { createTenantLogs, type TenantLogs } from "../../src/query/logs/logql-storage/tenant-logs.ts";
import type { StreamsRequest } from "../../src/query/logs/streams.ts";
import { openTestStore, scopeOf, type TestStore } from "../store/test-store.ts";
import { appendLogs } from "./log-records.ts";
import { matchesStream } from "./naive-filter.ts";
import { expectedEntries, randomRecords, type ExpectedEntry } from "./random-records.ts";
import { beforeTests } from "../../../../test/support/hooks.ts";

const endUnixNano = BigInt(Math.floor(Date.now() / 60_000)) * 60_000_000_000n;
const fromUnixNano = endUnixNano - 2_400_000_000_000n;
const records = randomRecords(800, endUnixNano, 31);
const within = expectedEntries(records).filter(({ unixNano }) => unixNano >= fromUnixNano && unixNano < endUnixNano);

let opened: TestStore;
beforeTests(async (stack) => {
  opened = stack.use(await openTestStore());
  await appendLogs(opened.store, "org_a", records);
  await appendLogs(opened.store, "org_b", [
    {
      unixNano: endUnixNano - 5n,
      recordId: 1n,
      service: "neighbour",
      resource: { id: 99n, attributes: { hidden: "x" } },
    },
  ]);
});

function logsOf(project?: string): TenantLogs {
  return createTenantLogs({ reader: opened.store.open(scopeOf("org_a")), project });
}

function requestOf(matchers: readonly LabelMatcher[]): StreamsRequest {
  const { signal } = new AbortController();
  const charge = (): void => {};
  return {
    matchers,
    fromUnixNano,
    toUnixNano: endUnixNano,
    signal,
    yieldBudget: neverYield,
    charge,
    maximumStreams: 1000,
  };
}

const cases: readonly LabelMatcher[][] = [
  [],
  [{ name: "service_name", operator: "=", value: "checkout" }],
  [{ name: "service_name", operator: "=~", value: "unknown.*|cart's" }],
  [{ name: "k8s_pod_name", operator: "!=", value: "" }],
  [
    { name: "job", operator: "=~", value: ".+" },
    { name: "level", operator: "=", value: "LOUD" },
  ],
  [{ name: "level", operator: "!~", value: "error|warn" }],
  [{ name: "service_name", operator: "=", value: "neighbour" }],
  [{ name: "service_name", operator: "=", value: "' OR 1 = 1 --" }],
  // An expression that only `@sounding/promql/regex` matches.
  [{ name: "project_name", operator: "=~", value: "(?P<name>def)ault" }],
];

const sorted = (texts: Iterable<string>): string[] => [...new Set(texts)].sort();
const keyOf = (labels: Readonly<Record<string, string>>): string => labelsFrom(Object.entries(labels)).key;

for (const matchers of cases) {
  describe(`streams of ${JSON.stringify(matchers)}`, () => {
    const isNamed = matchers.some(({ value }) => value.includes("?P<"));
    const entries = within.filter((entry) =>
      isNamed ? entry.labels["project_name"] === "default" : matchesStream(matchers, entry),
    );

    test("are those with entries in the range", async () => {
      const streams = await logsOf().streams(requestOf(matchers));
      assert.deepEqual(
        streams.map(({ labels }) => labels.key).sort(),
        sorted(entries.map(({ labels }) => keyOf(labels))),
      );
    });

    test("have these names of labels", async () => {
      const names = await logsOf().labelNames(requestOf(matchers));
      assert.deepEqual(names, sorted(entries.flatMap(({ labels }) => Object.keys(labels))));
    });

    for (const name of [
      "service_name",
      "project_name",
      "level",
      "detected_level",
      "k8s_pod_name",
      "job",
      "host_name",
    ]) {
      test(`have these values of ${name}`, async () => {
        const values = await logsOf().labelValues({ ...requestOf(matchers), name });
        assert.deepEqual(values, sorted(entries.flatMap(({ labels }) => labels[name] ?? [])));
      });
    }

    test("have these entries and bytes", async () => {
      const { bytes, entries: count, streams } = await logsOf().statistics(requestOf(matchers));
      assert.equal(count, entries.length);
      assert.equal(streams, new Set(entries.map(({ labels }) => keyOf(labels))).size);
      assert.equal(bytes > 0, count > 0);
    });
  });
}

describe("volumes", () => {
  const stepNanos = 600_000_000_000n;

  /** Of lines that are stored as they are: those of lists and maps are estimates. */
  function naiveVolumes(labelSets: (stream: Labels) => Iterable<Labels>): Map<string, number[]> {
    const volumes = new Map<string, number[]>();
    for (const { labels, unixNano } of within) {
      for (const { key } of labelSets(labelsFrom(Object.entries(labels)))) {
        if (!volumes.has(key)) volumes.set(key, [0, 0, 0, 0]);
        volumes.get(key)![Number((unixNano - fromUnixNano) / stepNanos)]! += 1;
      }
    }
    return volumes;
  }

  test("by sets of labels and steps", async () => {
    const names = new Set(["service_name", "k8s_pod_name"]);
    const labelSets = (stream: Labels): Labels[] => [keepLabels(stream, names)];
    const volumes = await logsOf().volumes({ ...requestOf([]), labelSets, stepNanos });
    const expected = naiveVolumes(labelSets);
    assert.deepEqual(volumes.map(({ labels }) => labels.key).sort(), sorted(expected.keys()));
    for (const { bytes, labels, totalBytes } of volumes) {
      const counts = expected.get(labels.key)!;
      const stepsWithEntries = [...counts.keys()].filter((step) => counts[step]! > 0);
      assert.deepEqual(
        [...bytes.keys()].sort((left, right) => left - right),
        stepsWithEntries,
      );
      assert.equal(
        totalBytes,
        [...bytes.values()].reduce((sum, each) => sum + each, 0),
      );
    }
  });

  test("are charged while they are made, and let other work run", async () => {
    let charged = 0;
    let yields = 0;
    const charge = (bytes: number): void => void (charged += bytes);
    const yieldBudget = { spend: () => true, yield: async () => void (yields += 1) };
    const streams = await logsOf().streams({ ...requestOf([]), charge, yieldBudget });
    const [chargedForStreams, yieldsForStreams] = [charged, yields];
    [charged, yields] = [0, 0];
    // Many times more volumes than streams.
    const labelSets = ({ key }: Labels): Labels[] =>
      Array.from({ length: 100 }, (_, index) => labelsFrom([["name", `${key} ${index}`]]));
    const volumes = await logsOf().volumes({ ...requestOf([]), charge, yieldBudget, labelSets, stepNanos: 1_000_000n });
    assert.equal(volumes.length, streams.length * 100);
    assert.ok(charged - chargedForStreams > volumes.length * 100);
    assert.ok(yields - yieldsForStreams >= volumes.length);
  });

  test("of the whole range by each label add up to the bytes of the lines", async () => {
    const labelSets = (stream: Labels): Labels[] =>
      [...entriesOf(stream)].map(([name]) => labelsFrom([["name", name]]));
    const volumes = await logsOf().volumes({ ...requestOf([]), labelSets });
    const { bytes } = await logsOf().statistics(requestOf([]));
    const ofService = volumes.find(({ labels }) => labels.pairs[1] === "service_name");
    assert.deepEqual([...ofService!.bytes], [[0, bytes]]);
  });
});

test("streams of a key that is bound to a project are that project's", async () => {
  const streams = await logsOf("other").streams(requestOf([]));
  const ofProject = ({ labels }: ExpectedEntry): boolean => labels["project_name"] === "other";
  assert.equal(streams.length, new Set(within.filter(ofProject).map(({ labels }) => keyOf(labels))).size);
});

test("a request that is cancelled ends", async () => {
  const controller = new AbortController();
  controller.abort();
  await assert.rejects(logsOf().streams({ ...requestOf([]), signal: controller.signal }), { code: "client_closed" });
});

test("more streams than the request allows are an error", async () => {
  await assert.rejects(logsOf().streams({ ...requestOf([]), maximumStreams: 3 }), /too large/);
});

test("labels of the oldest entries of a range are listed, and none of a resource without entries in it", async () => {
  const record = (unixNano: bigint, recordId: bigint, label: string) => ({
    unixNano,
    recordId,
    service: "checkout",
    resource: { id: 1000n + recordId, attributes: { [label]: "x" } },
  });
  const names = async (organizationId: string): Promise<readonly string[]> => {
    const logs = createTenantLogs({ reader: opened.store.open(scopeOf(organizationId)), project: undefined });
    return logs.labelNames(requestOf([]));
  };
  const own = ["detected_level", "level", "project_name", "service_name"];
  const newest = record(endUnixNano - 1n, 1n, "k8s.pod.name");
  await appendLogs(opened.store, "org_c", [newest]);
  assert.deepEqual(await names("org_c"), sorted([...own, "k8s_pod_name"]));
  await appendLogs(opened.store, "org_c", [record(fromUnixNano, 2n, "cloud.region")]);
  assert.deepEqual(await names("org_c"), sorted([...own, "cloud_region", "k8s_pod_name"]));
  await appendLogs(opened.store, "org_d", [newest, record(fromUnixNano - 1n, 3n, "container.name")]);
  assert.deepEqual(await names("org_d"), sorted([...own, "k8s_pod_name"]));
});
