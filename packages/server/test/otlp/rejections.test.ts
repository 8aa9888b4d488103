/** Which records are rejected, which requests are refused as a whole, and in which project records are stored. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { testKey } from "../support/test-key.ts";
import { AppError } from "../../src/errors.ts";
import { attribute, logRequest, metricRequest, spanRequest } from "./example-requests.ts";
import { ingestFixture, nowNano } from "./ingest-fixture.ts";
import { encode } from "./oracle.ts";
import { toOtlpJson } from "./sent-and-stored.ts";

const present = { startTimeUnixNano: String(nowNano), endTimeUnixNano: String(nowNano) };
const presentRecord = { timeUnixNano: String(nowNano) };
const day = 86_400_000_000_000n;

function spans(changes: object, resource: object = {}): Uint8Array {
  return encode("ExportTraceServiceRequest", spanRequest({ ...present, ...changes }, resource));
}

function logs(changes: object, resource: object = {}): Uint8Array {
  return encode("ExportLogsServiceRequest", logRequest({ ...presentRecord, ...changes }, resource));
}

function metrics(changes: object, resource: object = {}): Uint8Array {
  return encode("ExportMetricsServiceRequest", metricRequest({ ...presentRecord, ...changes }, resource));
}

describe("a span is rejected", () => {
  const cases: [string, object, RegExp][] = [
    ["without a trace ID", { traceId: "" }, /without a valid trace ID/],
    ["with a trace ID of zeros", { traceId: Buffer.alloc(16).toString("base64") }, /without a valid trace ID/],
    ["with a trace ID of 8 bytes", { traceId: Buffer.alloc(8, 1).toString("base64") }, /without a valid trace ID/],
    ["with a span ID of zeros", { spanId: Buffer.alloc(8).toString("base64") }, /without a valid span ID/],
    ["without a start", { startTimeUnixNano: undefined }, /without a start time/],
    [
      "older than the retention",
      { startTimeUnixNano: String(nowNano - 31n * day) },
      /older than the retention of 30 days/,
    ],
    ["from the far future", { startTimeUnixNano: String(nowNano + 2n * day) }, /more than a day in the future/],
    ["with a time beyond all times", { startTimeUnixNano: String((1n << 64n) - 1n) }, /more than a day in the future/],
  ];
  for (const [title, changes, reason] of cases) {
    test(title, async () => {
      const { send, store } = ingestFixture();
      const outcome = await send("traces", spans(changes));
      assert.deepEqual([outcome.accepted, outcome.rejected], [0, 1]);
      assert.match(outcome.message ?? "", reason);
      assert.deepEqual(store.rows("spans"), []);
    });
  }

  test("individually: valid spans in the same request are stored", async () => {
    const { send, store } = ingestFixture();
    const request = spanRequest(present) as { resourceSpans: { scopeSpans: { spans: object[] }[] }[] };
    const list = request.resourceSpans[0]!.scopeSpans[0]!.spans;
    list.push({ ...list[0], spanId: "" }, { ...list[0], traceId: "" }, { ...list[0], name: "last" });
    const outcome = await send("traces", encode("ExportTraceServiceRequest", request));
    assert.deepEqual([outcome.accepted, outcome.rejected], [2, 2]);
    assert.match(outcome.message ?? "", /^2 spans rejected: 1 without a valid span ID .*, 1 without a valid trace ID/);
    assert.deepEqual(
      store.rows("spans").map((row) => row["name"]),
      ["chat", "last"],
    );
  });
});

test("records of a resource or scope that is too large are rejected, and others are stored", async () => {
  const { send, store } = ingestFixture();
  const attributes = (length: number) => [attribute("blob", "x".repeat(length))];
  const request = logRequest(presentRecord, { attributes: attributes(65_000) }) as { resourceLogs: object[] };
  const large = logRequest(presentRecord, { attributes: attributes(65_536) }) as { resourceLogs: object[] };
  const scoped = logRequest(presentRecord) as { resourceLogs: { scopeLogs: { scope: object }[] }[] };
  scoped.resourceLogs[0]!.scopeLogs[0]!.scope = { name: "s", attributes: attributes(65_536) };
  request.resourceLogs.push(...large.resourceLogs, ...scoped.resourceLogs);
  const outcome = await send("logs", encode("ExportLogsServiceRequest", request));
  assert.deepEqual([outcome.accepted, outcome.rejected], [1, 2]);
  assert.match(outcome.message ?? "", /1 of a resource larger than 65536 bytes, 1 of a scope larger than 65536 bytes/);
  assert.equal(store.rows("logs").length, 1);
});

test("logs sent as traces, whose field numbers are the same, are rejected one by one", async () => {
  const { send, store } = ingestFixture();
  const outcome = await send("traces", logs({ traceId: Buffer.alloc(16, 1).toString("base64") }));
  assert.deepEqual([outcome.accepted, outcome.rejected], [0, 1]);
  assert.deepEqual(store.rows("spans"), []);
});

describe("a log record", () => {
  test("with invalid IDs belongs to no trace", async () => {
    const { send, store } = ingestFixture();
    const outcome = await send(
      "logs",
      logs({ traceId: Buffer.alloc(16).toString("base64"), spanId: Buffer.alloc(7, 1).toString("base64") }),
    );
    assert.equal(outcome.rejected, 0);
    const [row] = store.rows("logs");
    assert.deepEqual([row?.["trace_id"], row?.["span_id"]], ["", ""]);
  });

  test("without a time uses its observed time, otherwise its arrival", async () => {
    const { send, store } = ingestFixture();
    await send("logs", logs({ timeUnixNano: 0, observedTimeUnixNano: String(nowNano - 5n) }));
    await send("logs", logs({ timeUnixNano: 0 }));
    assert.deepEqual(
      store.rows("logs").map((row) => row["time"]),
      [nowNano - 5n, nowNano],
    );
  });

  test("without a severity number is classified by its text", async () => {
    const { send, store } = ingestFixture();
    const texts = ["DEBUG", "trace", "Information", "WARN", "warning", "ERROR", "Fatal", "CRITICAL", "", "notice"];
    for (const severityText of texts) await send("logs", logs({ severityNumber: 0, severityText }));
    assert.deepEqual(
      store.rows("logs").map((row) => row["level"]),
      [1, 1, 2, 3, 3, 4, 4, 4, 2, 2],
    );
  });

  test("is the same record when its request is repeated, and another one at another position", async () => {
    const { send, store } = ingestFixture();
    const request = logRequest(presentRecord) as { resourceLogs: { scopeLogs: { logRecords: object[] }[] }[] };
    const list = request.resourceLogs[0]!.scopeLogs[0]!.logRecords;
    list.push(list[0]!);
    const bytes = encode("ExportLogsServiceRequest", request);
    await send("logs", bytes);
    await send("logs", bytes);
    const ids = store.rows("logs").map((row) => row["record_id"]);
    assert.deepEqual(ids.slice(0, 2), ids.slice(2));
    assert.notEqual(ids[0], ids[1]);
  });

  test("has an ID that keeps the order of records with equal times, whatever batch it comes in", async () => {
    const { send, store } = ingestFixture();
    const record = (name: string, time: bigint) => ({ timeUnixNano: String(time), body: { stringValue: name } });
    const batch = (...logRecords: object[]) =>
      send("logs", encode("ExportLogsServiceRequest", { resourceLogs: [{ scopeLogs: [{ logRecords }] }] }));
    const names = Array.from({ length: 50 }, (_, index) => `line ${index}`);
    await batch(record("first", nowNano - 1n), ...names.map((name) => record(name, nowNano)));
    const sortable = store
      .rows("logs")
      .slice(1)
      .map((row) => [row["record_id"] as bigint, row["body"]] as const);
    const sorted = sortable.toSorted(([left], [right]) => (left < right ? -1 : 1));
    assert.deepEqual(
      sorted.map(([, body]) => body),
      names,
    );
    await batch(record(names[0]!, nowNano), record("older", nowNano - 5n), record("older", nowNano - 5n));
    const [again, ...older] = store
      .rows("logs")
      .slice(51)
      .map((row) => row["record_id"]);
    assert.equal(again, sortable[0]![0]);
    assert.notEqual(older[0], older[1]);
  });
});

describe("a data point", () => {
  test("without a value is rejected, unless it is flagged as having none", async () => {
    const { send, store } = ingestFixture();
    const outcome = await send("metrics", metrics({ asInt: undefined }));
    assert.match(outcome.message ?? "", /^1 data point rejected: 1 without a value/);
    assert.equal((await send("metrics", metrics({ asInt: undefined, flags: 1 }))).accepted, 1);
    const [row] = store.rows("points");
    assert.deepEqual([row?.["value"], row?.["flags"]], [Number.NaN, 1]);
  });

  test("of a histogram is rejected if its buckets do not match its bounds", async () => {
    const { send } = ingestFixture();
    const point = { ...presentRecord, count: 3, bucketCounts: [1, 2], explicitBounds: [1, 2] };
    const falling = { ...presentRecord, count: 3, bucketCounts: [1, 1, 1], explicitBounds: [2, 1] };
    const metric = { name: "latency", histogram: { dataPoints: [point, falling] } };
    const request = { resourceMetrics: [{ scopeMetrics: [{ metrics: [metric] }] }] };
    const outcome = await send("metrics", encode("ExportMetricsServiceRequest", request));
    assert.deepEqual([outcome.accepted, outcome.rejected], [0, 2]);
    assert.match(outcome.message ?? "", /number of bucket counts.*do not increase/);
  });

  test("of an exponential histogram is rejected if no native histogram has its scale or its count is not its buckets'", async () => {
    const { send } = ingestFixture();
    const good = { ...presentRecord, count: 3, sum: 1, scale: -4, zeroCount: 1, positive: { bucketCounts: [1, 1] } };
    const points = [good, { ...good, scale: -5 }, { ...good, count: 4 }, { ...good, count: 4, sum: Number.NaN }];
    const metric = { name: "latency", exponentialHistogram: { dataPoints: points } };
    const request = { resourceMetrics: [{ scopeMetrics: [{ metrics: [metric] }] }] };
    const outcome = await send("metrics", encode("ExportMetricsServiceRequest", request));
    assert.deepEqual([outcome.accepted, outcome.rejected], [2, 2]);
    assert.match(outcome.message ?? "", /1 whose scale is below -4.*1 whose count is not that of its buckets/);
  });

  test("belongs to one series whatever the order of its attributes", async () => {
    const { send, store } = ingestFixture();
    const [a, b] = [attribute("a", "1"), attribute("b", "2")];
    await send("metrics", metrics({ attributes: [a, b] }));
    await send("metrics", metrics({ attributes: [b, a] }));
    await send("metrics", metrics({ attributes: [attribute("a", "2"), attribute("b", "1")] }));
    assert.equal(store.rows("series").length, 2);
    const ids = store.rows("points").map((row) => row["series_id"]);
    assert.equal(ids[0], ids[1]);
    assert.notEqual(ids[0], ids[2]);
  });
});

describe("the project is", () => {
  const projectOf = async (attributes: object[], key = testKey(), header?: string) => {
    const { send, store } = ingestFixture({ key, project: header });
    const outcome = await send("traces", spans({}, { attributes }));
    return (store.rows("spans")[0]?.["project"] ?? outcome.message) as string;
  };
  const bound = testKey({ projectName: "shop" });

  test("the resource's project.name or project_name", async () => {
    assert.equal(await projectOf([attribute("project.name", "bots")]), "bots");
    assert.equal(await projectOf([attribute("project_name", "bots")]), "bots");
    assert.equal(await projectOf([attribute("project_name", "second"), attribute("project.name", "first")]), "first");
    assert.equal(await projectOf([attribute("project.name", "shop")], bound), "shop");
  });

  test("otherwise the key's", async () => {
    assert.equal(await projectOf([attribute("service.namespace", "spaces")], bound), "shop");
  });

  test("otherwise that of the header x-project", async () => {
    assert.equal(await projectOf([attribute("service.namespace", "spaces")], testKey(), "desk"), "desk");
    assert.equal(await projectOf([attribute("project.name", "bots")], testKey(), "desk"), "bots");
  });

  test("otherwise the service's namespace, if it is a valid name", async () => {
    assert.equal(await projectOf([attribute("service.namespace", "spaces")]), "spaces");
    assert.equal(await projectOf([attribute("service.namespace", "\u0000 no")]), "default");
  });

  test("otherwise the default one", async () => {
    assert.equal(await projectOf([]), "default");
    assert.equal(await projectOf([attribute("project.name", "")]), "default");
    assert.equal(await projectOf([{ key: "project.name", value: { intValue: 5 } }]), "default");
  });

  test("never another than that of a key bound to a project", async () => {
    assert.match(
      await projectOf([attribute("project.name", "other")], bound),
      /1 of the project "other", because this API key is bound to the project "shop"/,
    );
  });

  test("refused if it is not a valid name", async () => {
    assert.match(await projectOf([attribute("project.name", "a\nb")]), /which is not a valid name/);
  });
});

test("attributes that name a tenant change nothing", async () => {
  const { send, store } = ingestFixture();
  const names = ["organization", "organization.id", "organization_id", "org_id", "tenant", "X-Scope-OrgID"];
  const attributes = names.map((name) => attribute(name, "org_other"));
  await send("traces", spans({ attributes }, { attributes }));
  await send("logs", logs({ attributes }, { attributes }));
  await send("metrics", metrics({ attributes }, { attributes }));
  for (const table of ["spans", "logs", "series", "points", "resources"] as const) {
    assert.deepEqual(
      store.rows(table).map((row) => row["organization"]),
      ["org_test"],
      table,
    );
  }
  assert.ok(store.batches.every((batch) => batch.organizationId === "org_test"));
});

describe("GenAI attributes under other names", () => {
  const columnsOf = async (attributes: object[]) => {
    const { send, store } = ingestFixture();
    await send("traces", spans({ attributes }));
    return store.rows("spans")[0]!;
  };

  test("of older conventions fill the same columns", async () => {
    const row = await columnsOf([
      attribute("gen_ai.system", "openai"),
      attribute("llm.request.type", "completion"),
      attribute("llm.model_name", "gpt-4o"),
      attribute("session.id", "s-1"),
      { key: "llm.token_count.prompt", value: { intValue: 12 } },
      { key: "gen_ai.usage.completion_tokens", value: { stringValue: "34" } },
    ]);
    assert.deepEqual(
      [
        row["provider"],
        row["operation"],
        row["request_model"],
        row["session_id"],
        row["input_tokens"],
        row["output_tokens"],
      ],
      ["openai", "text_completion", "gpt-4o", "s-1", 12n, 34n],
    );
  });

  test("yield to today's, whatever the order", async () => {
    const now = attribute("gen_ai.provider.name", "today");
    const old = attribute("gen_ai.system", "yesterday");
    assert.equal((await columnsOf([old, now]))["provider"], "today");
    assert.equal((await columnsOf([now, old]))["provider"], "today");
  });

  test("with invalid counts count nothing", async () => {
    const row = await columnsOf([
      { key: "gen_ai.usage.input_tokens", value: { intValue: -5 } },
      { key: "gen_ai.usage.output_tokens", value: { stringValue: "many" } },
    ]);
    assert.deepEqual([row["input_tokens"], row["output_tokens"]], [0n, 0n]);
  });
});

describe("OTLP/JSON", () => {
  const refused = async (body: unknown, pattern: RegExp, param?: string) => {
    const { send, store } = ingestFixture();
    const text = typeof body === "string" ? body : JSON.stringify(body);
    await assert.rejects(send("traces", Buffer.from(text), "json"), (error: unknown) => {
      assert.ok(error instanceof AppError);
      assert.equal(error.status, 400);
      assert.match(error.message, pattern);
      if (param !== undefined) assert.equal(error.param, param);
      return true;
    });
    assert.deepEqual(store.batches, []);
  };
  const json = (changes: object) => {
    const request = toOtlpJson(spanRequest(present)) as { resourceSpans: { scopeSpans: { spans: object[] }[] }[] };
    Object.assign(request.resourceSpans[0]!.scopeSpans[0]!.spans[0]!, changes);
    return request;
  };

  test("keeps every digit of unquoted 64-bit numbers", async () => {
    const { send, store } = ingestFixture();
    const nano = nowNano + 123_456_789n;
    const text = JSON.stringify(json({ startTimeUnixNano: "T", attributes: [{ key: "n", value: { intValue: "N" } }] }))
      .replace('"T"', String(nano))
      .replace('"N"', "-9223372036854775807");
    await send("traces", Buffer.from(text), "json");
    const [row] = store.rows("spans");
    assert.equal(row?.["start_time"], nano);
    assert.deepEqual(row?.["attributes"], [["n", "-9223372036854775807"]]);
  });

  test("accepts NaN and infinities as text, IDs in upper case, and unknown fields", async () => {
    const { send, store } = ingestFixture();
    const doubles = ["NaN", "Infinity", "-Infinity"].map((doubleValue, index) => ({
      key: `d${index}`,
      value: { doubleValue },
    }));
    await send(
      "traces",
      Buffer.from(
        JSON.stringify(json({ attributes: doubles, traceId: "AB".repeat(16), future: { x: [1] }, status: null })),
      ),
      "json",
    );
    const [row] = store.rows("spans");
    assert.deepEqual(
      (row!["attributes"] as string[][]).map(([, text]) => text),
      ["NaN", "Infinity", "-Infinity"],
    );
    assert.equal(row?.["trace_id"], "ab".repeat(16));
  });

  const field = "resourceSpans[0].scopeSpans[0].spans[0]";
  const cases: [string, unknown, RegExp, string?][] = [
    ["an empty body", "", /empty/],
    ["text that is not JSON", '{"resourceSpans":', /not valid JSON/],
    ["another value than an object", "[]", /The body is an array; expected an object/],
    ["IDs in base64", json({ traceId: "AQEBAQEBAQEBAQEBAQEBAQ==" }), /expected hex digits/, `${field}.traceId`],
    ["names of enums", json({ kind: "SPAN_KIND_CLIENT" }), /expected an integer/, `${field}.kind`],
    [
      "numbers beyond 64 bits",
      json({ startTimeUnixNano: "18446744073709551616" }),
      /expected an integer from 0/,
      `${field}.startTimeUnixNano`,
    ],
    [
      "numbers with a fraction",
      json({ droppedAttributesCount: 1.5 }),
      /expected an integer/,
      `${field}.droppedAttributesCount`,
    ],
    ["text where a list should be", json({ attributes: "x" }), /expected an array/, `${field}.attributes`],
    ["null in a list", json({ attributes: [null] }), /expected an object/, `${field}.attributes[0]`],
    ["bytes that are not base64", json({ attributes: [{ key: "b", value: { bytesValue: "*" } }] }), /expected base64/],
    ["values nested too deep", `{"resourceSpans":${"[".repeat(50_000)}${"]".repeat(50_000)}}`, /expected an object/],
  ];
  for (const [title, body, pattern, param] of cases) {
    test(`refuses ${title}`, async () => {
      await refused(body, pattern, param);
    });
  }

  test("refuses attribute values that are nested too deep, and accepts others", async () => {
    const nested = (depth: number): object =>
      depth === 0 ? { stringValue: "x" } : { arrayValue: { values: [nested(depth - 1)] } };
    const body = (depth: number) => json({ attributes: [{ key: "deep", value: nested(depth) }] });
    const { sendJson } = ingestFixture();
    assert.equal((await sendJson("traces", body(60))).accepted, 1);
    await refused(body(70), /nested/);
    await refused(body(1000), /nested/);
  });

  test("above the threshold is read in the worker, with the same result and the same refusals", async () => {
    const fixture = ingestFixture();
    try {
      const large = json({ attributes: [{ key: "large", value: { stringValue: "x".repeat(300_000) } }] });
      assert.equal((await fixture.sendJson("traces", large)).accepted, 1);
      const [row] = fixture.store.rows("span_details");
      assert.equal((row!["attributes"] as string[][])[0]?.[1]?.length, 300_000);
      const wrong = json({ kind: "x".repeat(300_000) });
      await assert.rejects(fixture.sendJson("traces", wrong), { code: "invalid_request", param: `${field}.kind` });
    } finally {
      await fixture.close();
    }
  });
});

test("an empty request is a success", async () => {
  const { send, sendJson } = ingestFixture();
  const nothing = { accepted: 0, rejected: 0, exemplars: 0, message: undefined };
  assert.deepEqual(await send("traces", new Uint8Array()), nothing);
  assert.deepEqual(await sendJson("logs", {}), nothing);
  assert.deepEqual(await sendJson("metrics", { resourceMetrics: [] }), nothing);
});

test("a refusal by the store is passed on to the sender", async () => {
  const { send, store } = ingestFixture();
  store.beforeAppend = () => {
    throw new AppError("rate_limited", "The queue is full.", { retryAfterMs: 2000 });
  };
  await assert.rejects(send("traces", spans({})), { code: "rate_limited", retryAfterMs: 2000 });
});

test("a data point that is decoded without yielding and has more than 3 MiB is rejected, the others are stored", async () => {
  const { send, store } = ingestFixture();
  const request = metricRequest(presentRecord) as {
    resourceMetrics: { scopeMetrics: { metrics: { gauge: { dataPoints: object[] } }[] }[] }[];
  };
  const points = request.resourceMetrics[0]!.scopeMetrics[0]!.metrics[0]!.gauge.dataPoints;
  points.push({ ...points[0], attributes: [attribute("large", "x".repeat(3_200_000))] });
  const outcome = await send("metrics", encode("ExportMetricsServiceRequest", request));
  assert.deepEqual([outcome.accepted, outcome.rejected], [1, 1]);
  assert.match(outcome.message ?? "", /1 larger than 3145728 bytes/);
  assert.equal(store.rows("points").length, 1);
});
