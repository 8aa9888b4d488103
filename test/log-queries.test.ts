/** Filters, pages and attributes of log queries through the real server: sent over OTLP, stored in the real store. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { entriesOf, newLogTenant, type LogsAnswer, type LogTenant } from "./support/log-tenant.ts";
import { startServer, untilTelemetryReady, type RunningServer } from "./support/running-server.ts";
import { beforeTests } from "./support/hooks.ts";

let server: RunningServer;
const start = BigInt(Date.now() - 600_000) * 1_000_000n;
const traceId = "5b8efff798038103d269b633813fc60c";
const spanId = "eee19b7ec3c1b174";
const hostile = `x' OR 1=1 --"} \\'\u0000%_\`;`;

beforeTests(async (stack) => {
  server = stack.use(await startServer("", { telemetry: true }));
  await untilTelemetryReady(server);
});

const newTenant = (): Promise<LogTenant> => newLogTenant(server);

/** Entries of two services; each organization has the same, apart from the mark. */
async function sendExamples({ sender }: LogTenant, mark: string): Promise<void> {
  const at = (index: number): bigint => start + BigInt(index) * 1_000_000n;
  const attributes = (pairs: Record<string, object>): object[] =>
    Object.entries(pairs).map(([key, value]) => ({ key, value }));
  await sender.logs({ "service.name": "shop", "project.name": "p", "host.name": "h1" }, [
    { unixNano: at(1), body: `${mark} Payment DECLINED für Übermut`, more: { severityNumber: 17, traceId, spanId } },
    {
      unixNano: at(2),
      body: `${mark} retried`,
      more: { severityNumber: 13, traceId, attributes: attributes({ "http.status": { intValue: "503" } }) },
    },
    { unixNano: at(3), body: { note: `${mark} say "hi" \\ twice`, count: 42n }, more: { severityNumber: 9 } },
    {
      unixNano: at(4),
      body: `${mark} ${hostile}`,
      more: { severityNumber: 5, attributes: attributes({ [hostile]: { stringValue: hostile } }) },
    },
  ]);
  await sender.logs({ "service.name": "till", "project.name": "q", "host.name": "h2" }, [
    { unixNano: at(5), body: "", more: { severityNumber: 9, eventName: `${mark} device.crash` } },
    {
      unixNano: at(6),
      body: `${mark} done`,
      more: { severityNumber: 9, attributes: attributes({ cached: { boolValue: true }, share: { doubleValue: 0.5 } }) },
    },
  ]);
  await sender.logs({ "project.name": "p" }, [{ unixNano: at(7), body: `${mark} by nobody` }]);
}

/** Each filter with the lines that it leaves, newest first, without the mark. */
const filters: readonly (readonly [filter: object, lines: readonly string[]])[] = [
  [{ min_severity: "error" }, ["Payment DECLINED für Übermut"]],
  [{ min_severity: "warning" }, ["retried", "Payment DECLINED für Übermut"]],
  [{ min_severity: "info", project_name: "q" }, ["done", "device.crash"]],
  [{ min_severity: "debug", limit: 2 }, ["by nobody", "done"]],
  [{ min_severity: "warning", severity: "warning" }, ["retried"]],
  [{ search: "declined" }, ["Payment DECLINED für Übermut"]],
  [{ search: "ÜBERMUT" }, ["Payment DECLINED für Übermut"]],
  [{ search: "DEVICE" }, ["device.crash"]],
  [{ search: 'SAY "hi" \\ twice' }, [`{"note":"MARK say \\"hi\\" \\\\ twice","count":"42"}`]],
  [{ search: "count" }, [`{"note":"MARK say \\"hi\\" \\\\ twice","count":"42"}`]],
  [{ search: "42" }, [`{"note":"MARK say \\"hi\\" \\\\ twice","count":"42"}`]],
  [{ search: "stringValue" }, []],
  [{ search: hostile }, [hostile]],
  [{ search: "%" }, [hostile]],
  [{ service_name: "till" }, ["done", "device.crash"]],
  [{ service_name: "unknown_service" }, ["by nobody"]],
  [{ service_name: hostile }, []],
  [{ trace_id: traceId.toUpperCase() }, ["retried", "Payment DECLINED für Übermut"]],
  [{ trace_id: traceId, span_id: spanId.toUpperCase() }, ["Payment DECLINED für Übermut"]],
  [{ span_id: spanId }, ["Payment DECLINED für Übermut"]],
  [{ span_id: "0".repeat(16) }, []],
  [{ attributes: { "http.status": 503 } }, ["retried"]],
  [{ attributes: { "http.status": "503" } }, ["retried"]],
  [{ attributes: { "http.status": 50 } }, []],
  [{ attributes: { cached: true, share: 0.5 } }, ["done"]],
  [{ attributes: { cached: true, share: 0.25 } }, []],
  [{ attributes: { absent: "" } }, []],
  [{ attributes: { [hostile]: hostile } }, [hostile]],
  [{ attributes: { "host.name": "h2" } }, ["done", "device.crash"]],
  [{ severities: ["error", "debug"] }, [hostile, "Payment DECLINED für Übermut"]],
  [{ severities: ["error", "warning"], severity: "warning" }, ["retried"]],
  [{ exclude_severities: ["info", "debug"] }, ["retried", "Payment DECLINED für Übermut"]],
  [{ exclude_services: ["shop"] }, ["by nobody", "done", "device.crash"]],
  [{ exclude_services: ["shop", "unknown_service"] }, ["done", "device.crash"]],
  [{ exclude_services: [hostile], severity: "error" }, ["Payment DECLINED für Übermut"]],
  [{ exclude_projects: ["p"] }, ["done", "device.crash"]],
  [{ exclude_projects: ["q", hostile], severity: "error" }, ["Payment DECLINED für Übermut"]],
  [{ exclude_attributes: { "http.status": [503] }, trace_id: traceId }, ["Payment DECLINED für Übermut"]],
  [{ exclude_attributes: { "http.status": [200, "503"] }, trace_id: traceId }, ["Payment DECLINED für Übermut"]],
  [{ exclude_attributes: { "http.status": [50] }, severity: "warning" }, ["retried"]],
  [{ exclude_attributes: { "host.name": ["h1"] } }, ["by nobody", "done", "device.crash"]],
  [{ exclude_attributes: { "host.name": ["h1", "h2"] } }, ["by nobody"]],
  [{ exclude_attributes: { "host.name": ["h1"], cached: [true] } }, ["by nobody", "device.crash"]],
  [{ exclude_attributes: { [hostile]: [hostile] }, severities: ["debug", "error"] }, ["Payment DECLINED für Übermut"]],
  [{ attributes: { "host.name": "h1" }, search: "retried", trace_id: traceId }, ["retried"]],
];

describe("the filters of log queries", { timeout: 120_000 }, () => {
  let own: LogTenant;
  beforeTests(async () => {
    const other = await newTenant();
    own = await newTenant();
    await sendExamples(other, "other");
    await sendExamples(own, "own");
  });

  for (const [filter, expected] of filters) {
    test(`${JSON.stringify(filter)} selects exactly the matching entries of the organization`, async () => {
      const found = (await own.lines(filter)).map((line) => line.replace("own ", "").replace(`"own `, `"`));
      assert.deepEqual(
        found.map((line) => line.replace("MARK ", "")),
        expected.map((line) => line.replace("MARK ", "")),
      );
    });
  }

  test("may be sent in the query string", async () => {
    const query = new URLSearchParams({ attributes: '{"http.status":503}', detail: "true", min_severity: "info" });
    assert.deepEqual(await own.lines({}, `?${query.toString()}`), ["own retried"]);
    const without = new URLSearchParams({ exclude_attributes: '{"host.name":["h1"]}', exclude_services: '["till"]' });
    assert.deepEqual(await own.lines({}, `?${without.toString()}`), ["own by nobody"]);
  });

  test("that are not valid are refused with the field, the value and what is allowed", async () => {
    const many = Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`a${index}`, 1]));
    const manyLists = Object.fromEntries(Object.keys(many).map((name) => [name, [1]]));
    const refused: readonly (readonly [body: object, param: string, message: RegExp])[] = [
      [{ min_severity: "warn" }, "min_severity", /"warn"; expected one of "debug", "info", "warning", "error"/],
      [{ search: "" }, "search", /""; expected a non-empty string of at most 1024 characters/],
      [{ service_name: 1 }, "service_name", /is 1; expected a non-empty string/],
      [{ trace_id: "xyz" }, "trace_id", /"xyz"; expected a string.*that matches \^\[0-9a-fA-F\]\{32\}\$/],
      [{ span_id: traceId }, "span_id", /expected a string of at most 16 characters/],
      [{ attributes: ["a=b"] }, "attributes", /expected an object/],
      [{ attributes: { a: null } }, "attributes.a", /is null; expected/],
      [{ attributes: many }, "attributes", /expected an object of at most 16 members/],
      [{ severities: [] }, "severities", /is \[\]; expected an array of 1 to 4 items/],
      [{ severities: ["fatal"] }, "severities[0]", /"fatal"; expected one of "debug", "info", "warning", "error"/],
      [{ exclude_services: [""] }, "exclude_services[0]", /""; expected a non-empty string/],
      [{ exclude_projects: "p" }, "exclude_projects", /"p"; expected an array/],
      [{ exclude_attributes: { a: [] } }, "exclude_attributes.a", /expected/],
      [{ exclude_attributes: manyLists }, "exclude_attributes", /expected an object of at most 16 members/],
      [{ direction: "sideways" }, "direction", /"sideways"; expected one of "backward", "forward"/],
      [{ ids: true }, "ids", /ids is true, and detail is not; set detail to true/],
      [{ start: "yesterday" }, "start", /"yesterday"; expected an RFC 3339 time.*nanoseconds \(19 digits\)/],
      [{ end: "1795229417" }, "end", /"1795229417"; expected an RFC 3339 time/],
      [{ start: "2026-02-31T25:00:00Z" }, "start", /expected an RFC 3339 time/],
      [{ start: "2026-01-02T00:00:00Z", end: "2026-01-01T00:00:00Z" }, "start", /expected a time before end/],
      [{ start: "2026-01-02T00:00:00Z", time_window: "1h" }, "start", /start and time_window are both set/],
      [{ cursor: "nonsense" }, "cursor", /"nonsense"; expected "" or the next_cursor of a previous response/],
      [{ cursor: Buffer.from('["1","2","3"]').toString("base64url") }, "cursor", /expected ""/],
      [{ cursor: Buffer.from('["1","99999999999999999999","3","p"]').toString("base64url") }, "cursor", /expected ""/],
      [{ detail: "yes" }, "detail", /"yes"; expected true or false/],
      [{ severitty: "info" }, "severitty", /is not a known field; known are .*min_severity/],
    ];
    for (const [body, param, message] of refused) {
      const response = await own.ask(body);
      const { error } = (await response.json()) as { error: { param: string; message: string } };
      assert.deepEqual([response.status, error.param], [400, param], JSON.stringify(body));
      assert.match(error.message, message);
    }
  });
});

describe("start and end", { timeout: 120_000 }, () => {
  test("bound the entries' times, the end exclusively, as RFC 3339 or nanoseconds", async () => {
    const { lines, sender } = await newTenant();
    const at = BigInt(Date.parse("2026-11-01T10:00:00Z")) * 1_000_000n;
    await sender.logs(
      {},
      [0n, 1n, 2n, 3n].map((index) => ({ unixNano: at + index, body: String(index) })),
    );
    const range = (from: bigint, to: bigint) => ({ start: String(at + from), end: String(at + to) });
    assert.deepEqual(await lines(range(1n, 3n)), ["2", "1"]);
    assert.deepEqual(await lines({ ...range(0n, 9n), limit: 2 }), ["3", "2"]);
    const zoned = { start: "2026-11-01T11:00:00.000000001+01:00", end: "2026-11-01T10:00:00.000000002Z" };
    assert.deepEqual(await lines(zoned), ["1"]);
    assert.deepEqual(await lines({ end: "2026-11-01T10:00:00.000000002Z", time_window: "1m" }), ["1", "0"]);
    assert.deepEqual(await lines({ end: "2026-11-01T09:00:00Z", time_window: "1m" }), []);
    assert.deepEqual(await lines({ start: "2026-11-01T10:00:00.000000003Z" }), ["3"]);
  });
});

describe("pages of logs", { timeout: 120_000 }, () => {
  async function pagesOf({ logs }: LogTenant, body: object): Promise<string[][]> {
    const pages: string[][] = [];
    for (let cursor: string | null | undefined = ""; cursor != null;) {
      const answer: LogsAnswer = await logs({ ...body, cursor });
      pages.push(entriesOf(answer).map(([, line]) => line));
      assert.notEqual(answer.next_cursor, undefined);
      cursor = answer.next_cursor;
    }
    return pages;
  }

  test("contain each entry once, in all projects, if many have the same nanosecond and some were sent twice", async () => {
    const tenant = await newTenant();
    const expected = new Set<string>();
    for (const project of ["a", "b", "c"]) {
      const entries = Array.from({ length: 20 }, (_, index) => ({
        unixNano: start + BigInt(index % 2),
        body: `${project}${index}`,
      }));
      for (const { body } of entries) expected.add(body);
      for (let times = 0; times < 2; times += 1) await tenant.sender.logs({ "project.name": project }, entries);
    }
    const pages = await pagesOf(tenant, { limit: 7 });
    assert.deepEqual(
      pages.map((page) => page.length),
      [7, 7, 7, 7, 7, 7, 7, 7, 4],
    );
    assert.deepEqual(new Set(pages.flat()), expected);
    const ofProject = await pagesOf(tenant, { limit: 6, project_name: "b", search: "B1" });
    assert.deepEqual(
      ofProject.map((page) => page.length),
      [6, 5],
    );
    assert.equal(new Set(ofProject.flat()).size, 11);
    assert.deepEqual(await pagesOf(tenant, { limit: 20, project_name: "b" }), [
      await tenant.lines({ project_name: "b" }),
    ]);
  });

  test("go on beyond 5,000 entries, and are not shifted by entries that arrive meanwhile", async () => {
    const tenant = await newTenant();
    const entries = Array.from({ length: 6000 }, (_, index) => ({ unixNano: start + BigInt(index), body: `${index}` }));
    await tenant.sender.logs({}, entries);
    const { next_cursor: cursor, ...first } = await tenant.logs({ limit: 5000, cursor: "" });
    assert.equal(entriesOf(first).length, 5000);
    await tenant.sender.logs({}, [{ unixNano: start + 9999n, body: "late" }]);
    const second = await tenant.logs({ limit: 5000, cursor });
    assert.equal(second.next_cursor, null);
    assert.deepEqual(
      [...entriesOf(first), ...entriesOf(second)].map(([, line]) => line),
      entries.map(({ body }) => body).reverse(),
    );
  });

  test("of another organization's cursor show the caller's own entries only", async () => {
    const [own, other] = [await newTenant(), await newTenant()];
    await own.sender.logs({}, [{ unixNano: start, body: "own" }]);
    await other.sender.logs(
      {},
      [1n, 2n, 3n].map((index) => ({ unixNano: start + index, body: `other ${index}` })),
    );
    const { next_cursor: cursor } = await other.logs({ limit: 1, cursor: "" });
    assert.deepEqual(await own.lines({ cursor }), ["own"]);
  });

  test("are given only if they are requested", async () => {
    const tenant = await newTenant();
    await tenant.sender.logs({}, [{ unixNano: start, body: "x" }]);
    assert.deepEqual(Object.keys(await tenant.logs({ limit: 1 })), ["status", "data"]);
    assert.equal((await tenant.logs({}, "?cursor=")).next_cursor, null);
  });
});

describe("the attributes of log entries", { timeout: 120_000 }, () => {
  test("are a third element of entries with detail, stack traces included, and absent without", async () => {
    const { logs, sender } = await newTenant();
    const stacktrace = 'Traceback (most recent call last):\n  File "x.py", line 1\nZeroDivisionError: division by zero';
    const attributes = [
      { key: "exception.type", value: { stringValue: "ZeroDivisionError" } },
      { key: "exception.stacktrace", value: { stringValue: stacktrace } },
      { key: "code.lineno", value: { intValue: "9007199254740993" } },
      { key: "tags", value: { arrayValue: { values: [{ stringValue: "a" }, { boolValue: true }] } } },
      { key: "__proto__", value: { stringValue: "own" } },
    ];
    await sender.logs({ "host.name": "h" }, [
      { unixNano: start, body: "plain" },
      { unixNano: start + 1n, body: "it failed", more: { attributes, eventName: "device.crash" } },
    ]);
    const pairs = [
      [String(start + 1n), "it failed"],
      [String(start), "plain"],
    ];
    assert.deepEqual(entriesOf(await logs({})), pairs);
    assert.deepEqual(entriesOf(await logs({ detail: false })), pairs);
    const [failed, plain] = entriesOf(await logs({ detail: true }));
    assert.deepEqual(plain, [...pairs[1]!, { structuredMetadata: {} }]);
    assert.deepEqual(failed!.slice(0, 2), pairs[0]);
    assert.deepEqual(Object.entries(failed![2]!.structuredMetadata), [
      ["event_name", "device.crash"],
      ["exception.type", "ZeroDivisionError"],
      ["exception.stacktrace", stacktrace],
      ["code.lineno", "9007199254740993"],
      ["tags", '["a",true]'],
      ["__proto__", "own"],
    ]);
  });
});
