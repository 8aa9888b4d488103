import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { defaultLimits } from "@sounding/logql/evaluate/limits";
import { Budget } from "@sounding/promql/evaluate/budget";
import { labelsFrom } from "@sounding/promql/series/labels";
import { detectFields } from "../../src/query/loki-api/fields/detect-fields.ts";
import { fieldType } from "../../src/query/loki-api/fields/field-type.ts";
import { jsonPaths } from "../../src/query/loki-api/fields/json-paths.ts";
import { appendLogs, type LogRecord } from "./log-records.ts";
import { startLokiServer, type Json, type LokiServer } from "./loki-server.ts";
import { beforeTests } from "../../../../test/support/hooks.ts";

describe("the type of a field", () => {
  const types: Record<string, readonly string[]> = {
    int: ["0", "-17", "1700000000000000000"],
    float: ["1.5", "-2e3", ".5"],
    boolean: ["true", "False", "t"],
    duration: ["150ms", "1h30m", "-2s", "1.5µs"],
    bytes: ["10 MB", "1.5KiB", "3gb"],
    string: ["", "x", "10.0.0.1", "1-2", "2024-05-01", "0x", "1x", "tru", "v1", "1".repeat(100)],
  };
  for (const [type, values] of Object.entries(types)) {
    test(type, () => {
      for (const value of values) assert.equal(fieldType(value), type, value);
    });
  }
});

test("the path of a JSON label is the names of the members on the way to it", () => {
  const paths = jsonPaths('{"user":{"id":7,"first.name":"a"},"1st":true,"list":[{"a":1}],"none":null}');
  assert.deepEqual(Object.fromEntries(paths), {
    user_id: ["user", "id"],
    user_first_name: ["user", "first.name"],
    _1st: ["1st"],
    list: ["list"],
    none: ["none"],
  });
  const nested = (depth: number): string => `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;
  assert.deepEqual([jsonPaths(nested(100)).size, jsonPaths(nested(100_000)).size], [1, 0]);
  assert.equal(jsonPaths("{").size, 0);
  assert.equal(jsonPaths("7").size, 0);
});

test("a line of many JSON fields is parsed once for their paths", async (context) => {
  const members = Array.from({ length: 200 }, (_, index): [string, number] => [`field${index}`, index]);
  const line = JSON.stringify(Object.fromEntries(members));
  const none = labelsFrom([]);
  const entry = { unixNano: 1n, line, structuredMetadata: none, parsed: none };
  const budget = new Budget(defaultLimits, new AbortController().signal);
  const parse = context.mock.method(JSON, "parse");
  const fields = await detectFields([{ labels: none, entries: [entry] }], { budget, limit: 1000 });
  assert.equal(fields.size, 200);
  assert.deepEqual(fields.get("field7")!.jsonPath, ["field7"]);
  const wholeLines = parse.mock.calls.filter(({ arguments: [text] }) => text === line);
  assert.ok(wholeLines.length <= 2);
});

describe("detected fields", () => {
  const minute = 60_000_000_000n;
  const endNano = (BigInt(Date.now()) / 60_000n) * minute;
  const range = { start: String(endNano - 60n * minute), end: String(endNano) };
  let ids = 0n;
  const record = (body: string, changes: Partial<LogRecord> = {}): LogRecord => ({
    unixNano: endNano - (ids += 1n) * 1_000_000n,
    recordId: ids,
    service: "checkout",
    severityNumber: 9,
    body,
    ...changes,
  });

  let server: LokiServer;
  beforeTests(async (stack) => {
    server = stack.use(await startLokiServer());
    const routes = ["/cart", "/pay", "/cart"];
    const lines = [
      '{"user":{"id":1},"took":"15ms","level":"x","ok":true}',
      '{"user":{"id":2},"took":"20ms","size":"10 MB"}',
      "size=3KB took=2s ratio=1 n=4",
      "ratio=0.5 n=5",
      "just some words",
    ];
    await appendLogs(server.store, "org_a", [
      ...lines.map((line) => record(line)),
      ...routes.map((route) => record("no fields here", { attributes: { "http.route": route } })),
      record("a=1", { service: "other" }),
    ]);
  });

  async function fieldsOf(parameters: Record<string, string> = {}): Promise<Json> {
    const { body, status } = await server.get("detected_fields", {
      ...range,
      query: '{service_name="checkout"}',
      ...parameters,
    });
    assert.equal(status, 200, JSON.stringify(body));
    return body;
  }

  test("have a type, a cardinality, parsers and the path in JSON", async () => {
    const { fields, limit } = await fieldsOf();
    assert.equal(limit, 1000);
    assert.deepEqual(fields, [
      { label: "http_route", type: "string", cardinality: 2, parsers: null },
      { label: "level_extracted", type: "string", cardinality: 1, parsers: ["json"], jsonPath: ["level"] },
      { label: "n", type: "int", cardinality: 2, parsers: ["logfmt"] },
      { label: "ok", type: "boolean", cardinality: 1, parsers: ["json"], jsonPath: ["ok"] },
      { label: "ratio", type: "float", cardinality: 2, parsers: ["logfmt"] },
      { label: "size", type: "bytes", cardinality: 2, parsers: ["json", "logfmt"], jsonPath: ["size"] },
      { label: "took", type: "duration", cardinality: 3, parsers: ["json", "logfmt"], jsonPath: ["took"] },
      { label: "user_id", type: "int", cardinality: 2, parsers: ["json"], jsonPath: ["user", "id"] },
    ]);
  });

  test("come from the newest entries, and from those that the query selects", async () => {
    const newest = await fieldsOf({ line_limit: "1" });
    assert.deepEqual(
      newest.fields.map(({ label }: Json) => label),
      ["level_extracted", "ok", "took", "user_id"],
    );
    const selected = await fieldsOf({ query: '{service_name="checkout"} |= "words"' });
    assert.deepEqual(selected.fields, []);
    const limited = await fieldsOf({ limit: "2" });
    assert.deepEqual([limited.fields.length, limited.limit], [2, 2]);
  });

  test("list their values", async () => {
    const values = async (name: string, parameters: Record<string, string> = {}): Promise<string[]> => {
      const { body } = await server.get(`detected_field/${name}/values`, {
        ...range,
        query: '{service_name="checkout"}',
        ...parameters,
      });
      return body.values;
    };
    assert.deepEqual(new Set(await values("http_route")), new Set(["/cart", "/pay"]));
    assert.deepEqual(new Set(await values("size")), new Set(["10MB", "3KB"]));
    assert.deepEqual(await values("none"), []);
    assert.equal((await values("took", { limit: "2" })).length, 2);
  });

  test("refuse what is no log query", async () => {
    for (const query of ["vector(1)", "{", ""]) {
      const { body, status } = await server.get("detected_fields", { ...range, query });
      assert.equal(status, 400);
      assert.match(body.message, /query|parse error/);
    }
  });
});
