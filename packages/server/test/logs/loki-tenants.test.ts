/** Two organizations with the same streams in one store: every endpoint of Loki's API answers as if each were alone. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { lokiOperations } from "../../src/api/loki.ts";
import { appendLogs, type LogRecord } from "./log-records.ts";
import { startLokiServer, type LokiServer } from "./loki-server.ts";
import { beforeTests, useAll } from "../../../../test/support/hooks.ts";

const second = 1_000_000_000n;
const endNano = (BigInt(Date.now()) / 60_000n) * 60n * second;
const range = { start: String(endNano - 3600n * second), end: String(endNano) };

/** The same names for every organization, with other numbers. */
function recordsOf(scale: number, secret = ""): LogRecord[] {
  return Array.from({ length: 20 * scale }, (_, index) => ({
    unixNano: endNano - BigInt(index + 1) * second,
    recordId: BigInt(index + 1),
    project: index % 2 === 0 ? "billing" : "default",
    service: "checkout",
    severityNumber: 9,
    body: `{"user":"u${index % (3 * scale)}","secret":"${secret}","organization_id":"org_b"} order ${index}`,
    attributes: { "http.route": `/cart${secret}`, organization: "org_b" },
    resource: { id: 1n, attributes: { "k8s.pod.name": `pod${secret}` } },
  }));
}

/** Each project has names and values of its own in streams, lines, structured metadata and patterns. */
function recordsOfProject(project: string, count: number): LogRecord[] {
  const own = `only_${project}`;
  const id = project === "billing" ? 100n : 200n;
  return Array.from({ length: count }, (_, index) => ({
    unixNano: endNano - BigInt(index + 1) * second,
    recordId: BigInt(index + 1),
    project,
    service: index % 3 === 0 ? own : "checkout",
    severityNumber: project === "billing" ? 9 : 17,
    body: `{"user":"u${index % count}","${own}":"${own}"} ${own} order ${index}`,
    attributes: { "http.route": `/${own}`, [own]: own },
    resource:
      index % 2 === 0
        ? { id, attributes: { "k8s.pod.name": own } }
        : { id: id + 1n, attributes: { [own]: own, service_name: "checkout" }, isPushed: true },
  }));
}

let both: LokiServer;
let alone: LokiServer;
let oneProject: LokiServer;
beforeTests(async (stack) => {
  [both, alone, oneProject] = await useAll(stack, [startLokiServer(), startLokiServer(), startLokiServer()]);
  for (const server of [both, alone]) await appendLogs(server.store, "org_a", recordsOf(1));
  await appendLogs(both.store, "org_b", recordsOf(5, "hidden"));
  for (const server of [both, oneProject]) await appendLogs(server.store, "org_c", recordsOfProject("billing", 12));
  await appendLogs(both.store, "org_c", recordsOfProject("default", 30));
});

const selector = { query: '{service_name=~".+"}' };
const requests: readonly (readonly [path: string, parameters?: Record<string, string>])[] = [
  [
    "query",
    { query: 'sum by (project_name, http_route) (count_over_time({service_name=~".+"}[1h]))', time: range.end },
  ],
  ["query_range", { ...selector, limit: "5000" }],
  ["query_range", { query: 'sum(bytes_over_time({service_name="checkout"} |~ "hidden|order" [5m]))' }],
  ["query_range", { query: '{service_name="checkout", organization="org_b"} or {organization_id="org_b"}' }],
  ["labels"],
  ["labels", { query: '{k8s_pod_name="podhidden"}' }],
  ["label"],
  ["label/k8s_pod_name/values"],
  ["label/organization/values"],
  ["series"],
  ["series", { "match[]": '{k8s_pod_name=~"(pod|only).*"}' }],
  ["index/stats", selector],
  ["index/volume", selector],
  ["index/volume", { query: "{}", aggregateBy: "labels" }],
  ["index/volume_range", { ...selector, step: "5m" }],
  ["patterns", { ...selector, step: "5m" }],
  ["detected_labels"],
  ["detected_fields", selector],
  ["detected_field/http_route/values", selector],
  ["drilldown-limits"],
  ["format_query", selector],
  ["status/buildinfo"],
  ["rules"],
];

/** Without what differs from run to run. */
function comparable(text: string): string {
  return text.replaceAll(/"(?:execTime|querierExecTime|\w+PerSecond)":[\d.e+-]+/g, "");
}

async function answerOf(
  server: LokiServer,
  path: string,
  { key = "org_a", parameters = {} }: { readonly key?: string; readonly parameters?: Record<string, string> },
): Promise<string> {
  const headers = { "x-scope-orgid": "org_b", "x-loki-response-encoding-flags": "categorize-labels" };
  const { body, status } = await server.get(path, { ...range, ...parameters }, key, headers);
  return comparable(`${status} ${JSON.stringify(body)}`);
}

describe("another organization's logs change no answer", () => {
  for (const [path, parameters] of requests) {
    test(`${path} ${JSON.stringify(parameters ?? {})}`, async () => {
      const [left, right] = await Promise.all(
        [both, alone].map((server) => answerOf(server, path, { ...(parameters && { parameters }) })),
      );
      assert.equal(left, right);
      assert.ok(!left!.includes("hidden"));
    });
  }

  test("and every endpoint is among these", () => {
    const paths = Object.values(lokiOperations).map(([operation]) => operation!.path.replace("/loki/api/v1/", ""));
    const requested = requests.map(([path]) => path);
    const missing = paths.filter(
      (path) => !requested.some((each) => new RegExp(`^${path.replace("{name}", "[^/]+")}$`).test(each)),
    );
    assert.deepEqual(missing, []);
  });
});

/** Answers that depend on no logs. */
const independent: ReadonlySet<string> = new Set(["drilldown-limits", "format_query", "status/buildinfo", "rules"]);

describe("a key that is bound to a project gets the answers of an organization that has only this project", () => {
  for (const [path, parameters = {}] of [
    ...requests,
    ["labels", { query: '{only_default="only_default"}' }],
    ["label/only_default/values"],
    ["label/service_name/values"],
    ["label/project_name/values"],
    ["detected_field/only_default/values", selector],
    ["series", { "match[]": '{service_name="only_default"}' }],
    ["query_range", { query: '{service_name=~".+"} | only_default = "only_default"' }],
    ["query_range", { query: 'sum by (service_name, level) (count_over_time({service_name=~".+"}[5m]))' }],
  ] as readonly (readonly [string, Record<string, string>?])[]) {
    test(`${path} ${JSON.stringify(parameters)}`, async () => {
      const key = "org_c:billing";
      const [bound, expected] = await Promise.all(
        [both, oneProject].map((server) => answerOf(server, path, { key, parameters })),
      );
      assert.equal(bound, expected);
      // The other project has something to hide here.
      const unbound = await answerOf(both, path, { key: "org_c", parameters });
      const isEmpty =
        parameters["query"]?.includes("org_b") === true || parameters["query"]?.includes("hidden") === true;
      if (!independent.has(path) && !isEmpty && !path.includes("organization")) assert.notEqual(unbound, expected);
    });
  }
});

describe("hostile parameters get an answer below 500", () => {
  const values = [
    "",
    "\0",
    "'",
    '"',
    "`",
    "\\",
    "{}",
    "{",
    '{a="b"}',
    "') OR 1=1 --",
    "{organization:String}",
    "-1",
    "0",
    "1e309",
    "9".repeat(400),
    "99999999999999999999",
    "NaN",
    "9999-12-31T23:59:59Z",
    "0001-01-01T00:00:00Z",
    "1.5",
    "💥",
    "\ud800",
    "%",
    "a".repeat(20_000),
    '{a=~"(a*)*b"}',
    "((((((((((((((((((((((((((((((((",
  ];
  for (const [endpoint, operations] of Object.entries(lokiOperations)) {
    const [{ path: fullPath, queryParameters = {} }] = operations as readonly [(typeof operations)[number]];
    const path = fullPath.replace("/loki/api/v1/", "");
    const answers = async (parameters: Record<string, string>, name = "service_name"): Promise<void> => {
      const form = new URLSearchParams({ ...range, ...selector, ...parameters }).toString();
      const target = path.replace("{name}", encodeURIComponent(name));
      const { body, status } = await (operations.length > 1 ? both.post(target, form) : both.get(target, parameters));
      const described = `${status} to ${JSON.stringify(parameters).slice(0, 200)} ${name}`;
      assert.ok(status < 500, described);
      if (status !== 200) assert.equal(typeof body.message, "string", described);
    };
    for (const name of Object.keys(queryParameters)) {
      test(`${endpoint}: ${name}`, async () => {
        await Promise.all(values.map((value) => answers({ [name]: value.toWellFormed() })));
      });
    }
    if (path.includes("{name}")) {
      const names = values.filter((value) => value !== "" && value.length < 1000);
      test(`${endpoint}: the path`, async () => {
        await Promise.all(names.map((name) => answers({}, name.toWellFormed())));
      });
    }
  }
});
