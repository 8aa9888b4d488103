/** Prometheus' remote write through the real server: both versions, histograms, exemplars, partial writes, and a real Prometheus. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import protobuf from "protobufjs";
import { compress } from "snappyjs";
import { openMetricsLines, startPrometheus } from "../packages/server/test/support/prometheus-server.ts";
import { newLogTenant, type LogTenant } from "./support/log-tenant.ts";
import { startServer, untilTelemetryReady, type RunningServer } from "./support/running-server.ts";
import { beforeTests } from "./support/hooks.ts";
import { needs } from "./support/needs.ts";

const nowMs = Math.floor(Date.now() / 1000) * 1000 - 60_000;
const secondType = "application/x-protobuf;proto=io.prometheus.write.v2.Request";
const traceId = "5b8efff798038103d269b633813fc60c";

const histogramProto = `
  message BucketSpan { sint32 offset = 1; uint32 length = 2; }
  message Histogram { uint64 count_int = 1; double count_float = 2; double sum = 3; sint32 schema = 4;
    double zero_threshold = 5; uint64 zero_count_int = 6; double zero_count_float = 7;
    repeated BucketSpan negative_spans = 8; repeated sint64 negative_deltas = 9; repeated double negative_counts = 10;
    repeated BucketSpan positive_spans = 11; repeated sint64 positive_deltas = 12; repeated double positive_counts = 13;
    int32 reset_hint = 14; int64 timestamp = 15; repeated double custom_values = 16; int64 start_timestamp = 17; }`;
const first = protobuf.parse(`syntax = "proto3"; ${histogramProto}
  message WriteRequest { repeated TimeSeries timeseries = 1; repeated Metadata metadata = 3; }
  message TimeSeries { repeated Label labels = 1; repeated Sample samples = 2; repeated Exemplar exemplars = 3; repeated Histogram histograms = 4; }
  message Label { string name = 1; string value = 2; }
  message Sample { double value = 1; int64 timestamp = 2; }
  message Exemplar { repeated Label labels = 1; double value = 2; int64 timestamp = 3; }
  message Metadata { int32 type = 1; string metric_family_name = 2; string help = 4; string unit = 5; }`);
const second = protobuf.parse(`syntax = "proto3"; ${histogramProto}
  message Request { repeated string symbols = 4; repeated TimeSeries timeseries = 5; }
  message TimeSeries { repeated uint32 labels_refs = 1; repeated Sample samples = 2; repeated Histogram histograms = 3;
    repeated Exemplar exemplars = 4; Metadata metadata = 5; int64 created_timestamp = 6; }
  message Sample { double value = 1; int64 timestamp = 2; int64 start_timestamp = 3; }
  message Exemplar { repeated uint32 labels_refs = 1; double value = 2; int64 timestamp = 3; }
  message Metadata { int32 type = 1; uint32 help_ref = 3; uint32 unit_ref = 4; }`);

let server: RunningServer;
beforeTests(async (stack) => {
  server = stack.use(await startServer("", { telemetry: true }));
  await untilTelemetryReady(server);
});

type Labels = Readonly<Record<string, string>>;

interface Series {
  readonly labels: Labels;
  readonly samples?: readonly object[];
  readonly histograms?: readonly object[];
  readonly exemplars?: readonly { labels: Labels; value: number; timestamp: number }[];
  readonly metadata?: { type: number; help: string };
  readonly createdTimestamp?: number;
}

function firstRequest(series: readonly Series[], metadata: readonly object[] = []): Uint8Array {
  const pairs = (labels: Labels): object[] => Object.entries(labels).map(([name, value]) => ({ name, value }));
  const type = first.root.lookupType("WriteRequest");
  const timeseries = series.map((each) => ({
    ...each,
    labels: pairs(each.labels),
    exemplars: (each.exemplars ?? []).map((exemplar) => ({ ...exemplar, labels: pairs(exemplar.labels) })),
  }));
  return type.encode(type.fromObject({ timeseries, metadata })).finish();
}

function secondRequest(series: readonly Series[]): Uint8Array {
  const symbols = [""];
  const reference = (text: string): number => {
    if (!symbols.includes(text)) symbols.push(text);
    return symbols.indexOf(text);
  };
  const references = (labels: Labels): number[] => Object.entries(labels).flat().map(reference);
  const type = second.root.lookupType("Request");
  const timeseries = series.map(({ exemplars = [], labels, metadata, ...each }) => ({
    ...each,
    labelsRefs: references(labels),
    exemplars: exemplars.map((exemplar) => ({ ...exemplar, labelsRefs: references(exemplar.labels) })),
    ...(metadata === undefined ? {} : { metadata: { type: metadata.type, helpRef: reference(metadata.help) } }),
  }));
  return type.encode(type.fromObject({ symbols, timeseries })).finish();
}

interface Answer {
  readonly status: number;
  readonly error: string | undefined;
  /** Samples, histograms and exemplars. */
  readonly written: readonly (string | null)[];
}

async function write(
  tenant: Pick<LogTenant, "key">,
  request: Uint8Array,
  type = "application/x-protobuf",
): Promise<Answer> {
  const response = await fetch(`${server.url}/prometheus/api/v1/write`, {
    method: "POST",
    headers: { authorization: `Bearer ${tenant.key}`, "content-type": type, "content-encoding": "snappy" },
    body: Buffer.from(compress(Buffer.from(request))),
  });
  const text = await response.text();
  return {
    status: response.status,
    error: text === "" ? undefined : (JSON.parse(text) as { error: string }).error,
    written: ["samples", "histograms", "exemplars"].map((what) =>
      response.headers.get(`x-prometheus-remote-write-${what}-written`),
    ),
  };
}

async function get<Result>(tenant: Pick<LogTenant, "key">, path: string): Promise<Result> {
  const headers = { authorization: `Bearer ${tenant.key}` };
  const response = await fetch(`${server.url}/prometheus/api/v1/${path}`, { headers });
  const { data } = (await response.json()) as { data: Result };
  return data;
}

/** The values of an instant query by their labels, as text. */
async function query(tenant: LogTenant, text: string, timeMs = nowMs): Promise<Record<string, string>> {
  const path = `query?query=${encodeURIComponent(text)}&time=${timeMs / 1000}`;
  const { result } = await get<{ result: { metric: Labels; value: [number, string] }[] }>(tenant, path);
  const show = (labels: Labels): string =>
    Object.entries(labels)
      .map(([name, value]) => `${name}=${value}`)
      .toSorted()
      .join(" ");
  return Object.fromEntries(result.map(({ metric, value }) => [show(metric), value[1]]));
}

const at = (seconds: number, value: number): object => ({ value, timestamp: nowMs + seconds * 1000 });

describe("remote write", { timeout: 180_000 }, () => {
  test("1.0 stores samples under the names and labels that they have", async () => {
    const tenant = await newLogTenant(server);
    const identity = { job: "node", instance: "h:9100" };
    const request = firstRequest([
      { labels: { __name__: "go__gc:rate", ...identity, code: "200", empty: "" }, samples: [at(-15, 1), at(0, 2.5)] },
      { labels: { __name__: "http_duration_bucket", ...identity, le: "0.5" }, samples: [at(0, 3)] },
      { labels: { __name__: "http_duration_bucket", ...identity, le: "+Inf" }, samples: [at(0, 4)] },
      { labels: { __name__: "ratio", unit: "%" }, samples: [at(0, -0)] },
    ]);
    assert.deepEqual(await write(tenant, request), { status: 204, error: undefined, written: ["5", "0", "0"] });
    const of = "instance=h:9100 job=node project_name=default service_name=node";
    assert.deepEqual(await query(tenant, '{__name__="go__gc:rate"}'), {
      [`__name__=go__gc:rate code=200 ${of}`]: "2.5",
    });
    assert.deepEqual(await query(tenant, 'http_duration_bucket{le="0.5"}'), {
      [`__name__=http_duration_bucket ${of.replace("job=node", "job=node le=0.5")}`]: "3",
    });
    assert.deepEqual(await query(tenant, "histogram_quantile(0.5, http_duration_bucket)"), {
      [of]: String((0.5 * 2) / 3),
    });
    assert.deepEqual(await query(tenant, "ratio"), { "__name__=ratio project_name=default unit=%": "-0" });
    assert.deepEqual(await get(tenant, "label/le/values"), ["+Inf", "0.5"]);
  });

  test("2.0 stores metadata, and counters with the time since which they count", async () => {
    const tenant = await newLogTenant(server);
    const counter = { labels: { __name__: "jobs_total" }, metadata: { type: 1, help: "Jobs that ended." } };
    const samples = [{ ...at(-10, 5), startTimestamp: nowMs - 30_000 }];
    const created = {
      labels: { __name__: "made_total" },
      createdTimestamp: nowMs - 30_000,
      metadata: counter.metadata,
    };
    const request = secondRequest([
      { ...counter, samples },
      { ...created, samples: [at(-10, 7)] },
      { labels: { __name__: "queued" }, samples: [at(0, 1)], metadata: { type: 2, help: "Waiting jobs." } },
    ]);
    assert.deepEqual(await write(tenant, request, secondType), {
      status: 204,
      error: undefined,
      written: ["3", "0", "0"],
    });
    assert.deepEqual(await query(tenant, "increase(jobs_total[1m]) > 4"), { "project_name=default": "5" });
    assert.deepEqual(await query(tenant, "increase(made_total[1m]) > 6"), { "project_name=default": "7" });
    const metadata = await get<Record<string, unknown>>(tenant, "metadata");
    assert.deepEqual(metadata["jobs_total"], [{ type: "counter", unit: "", help: "Jobs that ended." }]);
    assert.deepEqual(metadata["queued"], [{ type: "gauge", unit: "", help: "Waiting jobs." }]);
  });

  test("believes metadata more than names, and makes no target_info of its own", async () => {
    const tenant = await newLogTenant(server);
    const names = ["queue_count", "queue_sum", "queue_bucket", "jobs_total"];
    const identity = { job: "shop", instance: "pod-1" };
    const metadata = names.map((name) => ({ type: 2, metricFamilyName: name, help: "A gauge." }));
    const series = names.map((name) => ({ labels: { __name__: name, ...identity }, samples: [at(0, 1)] }));
    const info = { labels: { __name__: "target_info", ...identity, k8s: "eu-1" }, samples: [at(0, 1)] };
    assert.equal((await write(tenant, firstRequest([...series, info], metadata))).status, 204);
    const second = names.map((name) => ({
      labels: { __name__: `second_${name}`, ...identity },
      samples: [at(0, 1)],
      metadata: { type: 2, help: "A gauge." },
    }));
    assert.equal((await write(tenant, secondRequest(second), secondType)).status, 204);
    const described = await get<Record<string, { type: string }[]>>(tenant, "metadata");
    for (const name of [...names, ...names.map((each) => `second_${each}`)])
      assert.equal(described[name]?.[0]?.type, "gauge", name);
    assert.equal(Object.keys(await query(tenant, "target_info")).length, 1);
    const joined = "queue_count * on (job, instance) group_left (k8s) target_info";
    assert.deepEqual(Object.values(await query(tenant, joined)), ["1"]);
  });

  for (const [version, type, encode] of [
    ["1.0", "application/x-protobuf", firstRequest],
    ["2.0", secondType, secondRequest],
  ] as const) {
    test(`${version} keeps names of labels that only Prometheus 3 allows`, async () => {
      const tenant = await newLogTenant(server);
      const utf8 = { "host.name": "h1", host_name: "h2", ünïcode: "x", _own: "y", "2xx": "z" };
      const exemplars = [{ labels: { "user.name": "u" }, value: 1, timestamp: nowMs }];
      const series = [
        { labels: { __name__: "u8", ...utf8 }, samples: [at(0, 1)], exemplars },
        { labels: { __name__: "u9", "a.b": "x" }, samples: [at(0, 1)] },
        { labels: { __name__: "u9", a_b: "x" }, samples: [at(0, 2)] },
      ];
      assert.equal((await write(tenant, encode(series), type)).status, 204);
      // The same attribute, sent by OTLP, is translated.
      const attributes = [{ key: "host.name", value: { stringValue: "otlp" } }];
      const dataPoints = [{ timeUnixNano: `${nowMs}000000`, asInt: "1", attributes }];
      const metrics = [{ name: "sent", gauge: { dataPoints } }];
      assert.equal(
        (await tenant.call("/v1/metrics", { resourceMetrics: [{ scopeMetrics: [{ metrics }] }] })).status,
        200,
      );

      const labels = Object.entries({ __name__: "u8", project_name: "default", ...utf8 });
      const shown = (entries: [string, string][]): string =>
        entries
          .map(([name, value]) => `${name}=${value}`)
          .toSorted()
          .join(" ");
      for (const selector of ['u8{"host.name"="h1"}', '{"u8", "host.name"=~"h.", "ünïcode"!=""}', 'u8{host_name="h2"}'])
        assert.deepEqual(await query(tenant, selector), { [shown(labels)]: "1" }, selector);
      assert.deepEqual(await query(tenant, "sum(u9)"), { "": "3" });
      assert.deepEqual(await query(tenant, 'sum by ("a.b") (u9)'), { "a.b=x": "1", "": "2" });
      assert.deepEqual(await query(tenant, 'u8 * on () group_left ("a.b") u9{"a.b"="x"}'), {
        [shown([...labels.filter(([name]) => name !== "__name__"), ["a.b", "x"]])]: "1",
      });
      assert.deepEqual(await query(tenant, 'sent{"host.name"!=""}'), {});
      assert.deepEqual(Object.keys(await query(tenant, 'sent{host_name="otlp"}')).length, 1);

      assert.deepEqual(await get(tenant, "labels?match[]=u8"), labels.map(([name]) => name).toSorted());
      assert.deepEqual(
        (await get<string[]>(tenant, "labels")).filter((name) => /^(?:a|host)[._]/.test(name)),
        ["a.b", "a_b", "host.name", "host_name"],
      );
      for (const name of ["host.name", "U__host_2e_name", "U__host_2E_name"])
        assert.deepEqual(await get(tenant, `label/${name}/values`), ["h1"], name);
      assert.deepEqual(await get(tenant, "label/host_name/values"), ["h2", "otlp"]);
      assert.deepEqual(await get(tenant, "label/U__host__name/values"), ["h2", "otlp"]);
      assert.deepEqual(await get(tenant, `label/${encodeURIComponent("ünïcode")}/values`), ["x"]);
      assert.deepEqual(await get(tenant, "label/U___fc_n_ef_code/values?match[]=u8"), ["x"]);
      assert.deepEqual(await get(tenant, "label/U__host_zz_name/values"), []);
      assert.deepEqual(await get(tenant, `series?match[]=${encodeURIComponent('{"host.name"="h1"}')}`), [
        Object.fromEntries(labels),
      ]);
      const found = await get<{ exemplars: { labels: Labels }[] }[]>(
        tenant,
        `query_exemplars?query=u8&start=${nowMs / 1000 - 60}&end=${nowMs / 1000 + 60}`,
      );
      assert.equal(found[0]?.exemplars[0]?.labels["user.name"], "u");
    });
  }

  test("ends a series at a stale marker", async () => {
    const tenant = await newLogTenant(server);
    const request = Buffer.from(
      firstRequest([{ labels: { __name__: "up" }, samples: [at(-15, 1), { ...at(0, Number.NaN) }] }]),
    );
    const quiet = Buffer.from([0, 0, 0, 0, 0, 0, 0xf8, 0x7f]);
    Buffer.from([2, 0, 0, 0, 0, 0, 0xf0, 0x7f]).copy(request, request.indexOf(quiet));
    assert.equal((await write(tenant, request)).status, 204);
    assert.deepEqual(await query(tenant, "up", nowMs - 1000), { "__name__=up project_name=default": "1" });
    assert.deepEqual(await query(tenant, "up"), {});
  });

  for (const [version, type, encode] of [
    ["1.0", "application/x-protobuf", firstRequest],
    ["2.0", secondType, secondRequest],
  ] as const) {
    test(`${version} stores native histograms and exemplars`, async () => {
      const tenant = await newLogTenant(server);
      const buckets = {
        countInt: 7,
        sum: 20,
        schema: 0,
        zeroThreshold: 0.001,
        zeroCountInt: 1,
        timestamp: nowMs,
        positiveSpans: [
          {
            offset: 1,
            length: 2,
          },
          {
            offset: 1,
            length: 1,
          },
        ],
        positiveDeltas: [2, 1, -2],
      };
      const custom = {
        countInt: 3,
        sum: 2,
        schema: -53,
        timestamp: nowMs,
        customValues: [0.5, 1],
        positiveSpans: [
          {
            offset: 1,
            length: 2,
          },
        ],
        positiveDeltas: [1, 1],
      };
      const exemplars = [{ labels: { trace_id: traceId, user: "u" }, value: 3, timestamp: nowMs - 1 }];
      const request = encode([
        { labels: { __name__: "latency" }, histograms: [buckets], exemplars },
        { labels: { __name__: "size" }, histograms: [custom] },
      ]);
      assert.deepEqual(await write(tenant, request, type), { status: 204, error: undefined, written: ["0", "2", "1"] });
      const none = { "project_name=default": "7" };
      assert.deepEqual(await query(tenant, "histogram_count(latency)"), none);
      assert.deepEqual(await query(tenant, "histogram_fraction(2, 4, latency) * 7"), { "project_name=default": "3" });
      assert.deepEqual(await query(tenant, "histogram_fraction(8, 16, latency) * 7"), { "project_name=default": "1" });
      assert.deepEqual(await query(tenant, "size_bucket"), {
        "__name__=size_bucket le=+Inf project_name=default": "3",
        "__name__=size_bucket le=0.5 project_name=default": "0",
        "__name__=size_bucket le=1 project_name=default": "1",
      });
      const range = `start=${nowMs / 1000 - 60}&end=${nowMs / 1000 + 1}`;
      const found = await get<{ exemplars: unknown[] }[]>(tenant, `query_exemplars?query=latency&${range}`);
      assert.deepEqual(found[0]?.exemplars, [
        { labels: { trace_id: traceId, user: "u" }, value: "3", timestamp: (nowMs - 1) / 1000 },
      ]);
    });
  }

  test("stores what it can, counts it, and names the rest", async () => {
    const tenant = await newLogTenant(server);
    const exemplars = [{ labels: { trace_id: traceId }, value: 1, timestamp: nowMs }];
    const fractional = { countFloat: 1.5, schema: 0, timestamp: nowMs };
    const request = secondRequest([
      { labels: { __name__: "good" }, samples: [at(0, 1), { value: 1, timestamp: 1 }] },
      { labels: { __name__: "old" }, samples: [{ value: 1, timestamp: 1 }], exemplars },
      { labels: { nameless: "x" }, samples: [at(0, 1)], exemplars },
      { labels: { __name__: "float" }, histograms: [fractional, { ...fractional, countFloat: 1, schema: 99 }] },
    ]);
    const { error, status, written } = await write(tenant, request, secondType);
    assert.deepEqual([status, written], [400, ["1", "0", "0"]]);
    for (const reason of [
      /1 sample of a series without a name/,
      /counts are not whole numbers/,
      /the schema 99; expected -4 to 8 or -53/,
      /2 data points rejected: 2 older than the retention/,
    ]) {
      assert.match(error!, reason);
    }
    assert.deepEqual(Object.values(await query(tenant, "good")), ["1"]);
  });

  test("refuses labels whose copies would take more memory than the request", async () => {
    const tenant = await newLogTenant(server);
    const long = "x".repeat(200_000);
    const series = Array.from({ length: 500 }, (_, index) => ({
      labels: { __name__: `n${index}`, long },
      samples: [at(0, 1)],
    }));
    const { error, status } = await write(tenant, secondRequest(series), secondType);
    assert.equal(status, 400);
    assert.match(error!, /500 samples of a series with a label of more than 2048 characters/);
  });

  test("stores a request that is sent again once", async () => {
    const tenant = await newLogTenant(server);
    const request = firstRequest([{ labels: { __name__: "once" }, samples: [at(0, 1)] }]);
    await write(tenant, request);
    await write(tenant, request);
    assert.deepEqual(Object.values(await query(tenant, "count_over_time(once[1m])")), ["1"]);
  });

  test("refuses other messages, other encodings and broken requests", async () => {
    const tenant = await newLogTenant(server);
    const other = await write(tenant, firstRequest([]), "application/x-protobuf;proto=other.Request");
    assert.equal(other.status, 415);
    assert.match(other.error!, /proto="other\.Request"; expected "prometheus\.WriteRequest"/);
    assert.equal((await write(tenant, firstRequest([]), "application/json")).status, 415);
    const odd = second.root.lookupType("Request");
    const broken = odd.encode(odd.fromObject({ symbols: [""], timeseries: [{ labelsRefs: [0, 9] }] })).finish();
    assert.match((await write(tenant, broken, secondType)).error!, /refers to symbol 9, and there are 1/);
    assert.equal((await write(tenant, Buffer.from([0xff]))).status, 400);
  });

  test("works with Prometheus itself", { skip: needs("prometheus") }, async () => {
    const tenant = await newLogTenant(server);
    const configuration = `
global: { scrape_interval: 200ms }
scrape_configs:
  - { job_name: itself, metrics_path: /metrics, static_configs: [{ targets: ["127.0.0.1:9"] }] }
remote_write:
  - url: ${server.url}/prometheus/api/v1/write
    basic_auth: { username: any, password: ${tenant.key} }
    queue_config: { batch_send_deadline: 100ms }
`;
    // The scrape of a closed port fails: `up` is 0, and the test needs no further program.
    await using _prometheus = await startPrometheus(openMetricsLines([]), configuration);
    let found: Record<string, string> = {};
    for (const end = Date.now() + 60_000; Object.keys(found).length === 0 && Date.now() < end;) {
      found = await query(tenant, "up", Date.now());
    }
    const of = "instance=127.0.0.1:9 job=itself project_name=default service_name=itself";
    assert.deepEqual(found, { [`__name__=up ${of}`]: "0" });
  });

  test("writes to the key's organization only, and needs a key that may write", async () => {
    const request = firstRequest([{ labels: { __name__: "mine", project_name: "p" }, samples: [at(0, 1)] }]);
    assert.equal((await write({ key: "sk-wrong" }, request)).status, 401);
    const [one, other] = [await newLogTenant(server), await newLogTenant(server)];
    assert.equal((await write(one, request)).status, 204);
    assert.deepEqual(await query(one, "mine"), { "__name__=mine project_name=p": "1" });
    assert.deepEqual(await query(other, "mine"), {});
  });
});
