/**
 * The same rule file in a real Prometheus and in Sounding: `/api/v1/rules` and `/api/v1/alerts` have the same members with the
 * same values, except times. Skipped where Debian's package `prometheus` is not installed.
 */
import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { createAlerts, type Alerts } from "../../src/alerts/alerts.ts";
import { loadConfig } from "../../src/config/load-config.ts";
import { silentLogger } from "../../src/logger.ts";
import { prometheusRoutes } from "../../src/query/prometheus-api/prometheus-routes.ts";
import { openMetricsLines, startPrometheus, type PrometheusServer } from "../support/prometheus-server.ts";
import { startTestHttp, testSecret } from "../support/test-http.ts";
import { testKey } from "../support/test-key.ts";
import { emptyStore, openControl, scopeOf, until } from "./alerts-fixture.ts";
import { beforeTests } from "../../../../test/support/hooks.ts";
import { needs } from "../../../../test/support/needs.ts";

const ruleFile = `
groups:
  - name: first
    interval: 1s
    rules:
      - alert: Fires
        expr: label_replace(vector(0.25), "model", "gpt", "", "") > 0.2
        labels: { severity: page, share: '{{ $value | humanizePercentage }}' }
        annotations:
          summary: '{{ $labels.model | toUpper }} has {{ printf "%.3f" $value }} {{ humanizeDuration 3725.5 }} {{ humanize 1234567.0 }}'
          numbers: '{{ humanize1024 123456.0 }} {{ humanize 0.00123 }} {{ humanizeDuration 0.0123 }} {{ humanizeTimestamp 1000000000.0 }} {{ $value }} {{ title "one two" }} {{ stripPort "host:80" }}'
          branch: '{{ if gt $value 0.2 }}high{{ else }}low{{ end }} {{ range $k, $v := $labels }}{{ $k }}={{ $v }} {{ end }}'
          missing: '{{ $labels.none }}-{{ .Labels.model }}-{{ .Value }}'
      - alert: IsPending
        expr: vector(100000)
        for: 1h30m
        keep_firing_for: 5m
      - alert: IsInactive
        expr: vector(1) == 2
        for: 1m
  - name: second
    interval: 1s
    rules:
      - alert: Fails
        expr: label_replace(vector(1), "one", "x", "", "") or label_replace(vector(2), "one", "y", "", "")
        labels: { one: "" }
`;

// oxlint-disable-next-line typescript/no-explicit-any -- answers of tests are looked into freely
type Json = any;

const timeMembers = new Set(["activeAt", "evaluationTime", "lastEvaluation", "keepFiringSince"]);

/** With the type of each time in place of its value, and without the place of the file. */
function comparable(value: Json, name = ""): Json {
  if (timeMembers.has(name)) return typeof value;
  if (name === "file") return "file";
  if (Array.isArray(value)) return value.map((each) => comparable(each));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, comparable(each, key)]));
}

describe("alert rules in a real Prometheus and in Sounding", { skip: needs("prometheus") }, () => {
  let directory: string;
  let prometheus: PrometheusServer;
  let alerts: Alerts;
  let http: Awaited<ReturnType<typeof startTestHttp>>;
  let control: Awaited<ReturnType<typeof openControl>>;

  beforeTests(async (stack) => {
    directory = await mkdtemp(join(tmpdir(), "sounding-rules-"));
    stack.defer(() => rm(directory, { recursive: true, force: true }));
    const file = join(directory, "rules.yaml");
    await writeFile(file, ruleFile);
    const configuration = join(directory, "sounding.yaml");
    await writeFile(configuration, "alerts:\n  rule_files:\n    - path: rules.yaml\n");
    const { config, problems } = await loadConfig({ path: configuration, env: {} });
    assert.deepEqual(problems, []);
    control = stack.use(await openControl());
    prometheus = stack.use(
      await startPrometheus(
        openMetricsLines([{ name: "up", labels: {}, samples: [[Date.now() - 60_000, 1]] }]),
        `rule_files: [${JSON.stringify(file)}]\n`,
      ),
    );
    const store = emptyStore();
    alerts = createAlerts({
      settings: config!.alerts,
      groups: config!.alertGroups,
      control,
      store,
      url: "http://sounding.test",
      logger: silentLogger,
      observer: { countEvaluation() {}, countSkippedGroup() {}, countNotifications() {}, watchAlerts() {} },
    });
    stack.defer(() => alerts.close());
    const { organizationId } = await scopeOf(control, "acme");
    http = await startTestHttp({
      routes: prometheusRoutes({
        store,
        version: "0.0.0",
        ruleGroups: (scope) => alerts.ruleGroups(scope),
      }),
      checkKey: () => testKey({ organizationId }),
    });
    stack.defer(() => http.close());
    await until(async () => {
      const [ours, theirs] = await both("rules");
      const isEvaluated = ({ data }: Json): boolean =>
        data.groups.every(({ rules }: Json) => rules.every(({ health }: Json) => health !== "unknown"));
      return isEvaluated(ours) && isEvaluated(theirs);
    });
  });

  async function both(path: string): Promise<[Json, Json]> {
    return Promise.all([
      ours(path),
      fetch(`${prometheus.url}/api/v1/${path}`).then((response) => response.json() as Promise<Json>),
    ]);
  }

  async function ours(path: string): Promise<Json> {
    const headers = { authorization: `Bearer ${testSecret}` };
    return (await fetch(`${http.url}/prometheus/api/v1/${path}`, { headers })).json();
  }

  for (const path of ["rules", "rules?type=alert", "rules?type=record"]) {
    test(`have the same members and values: ${path}`, async () => {
      const [left, right] = await both(path);
      // Prometheus 2.42 keeps groups whose rules are all filtered; version 3 does not.
      right.data.groups = right.data.groups.filter(({ rules }: Json) => rules.length > 0);
      assert.deepEqual(comparable(left), comparable(right));
      for (const group of left.data.groups) assert.equal(group.file, "rules.yaml");
    });
  }

  test("have the same members and values: alerts", async () => {
    const [left, right] = await both("alerts");
    const sorted = (answer: Json): Json =>
      comparable(answer).data.alerts.sort((one: Json, other: Json) =>
        one.labels.alertname < other.labels.alertname ? -1 : 1,
      );
    assert.equal(left.status, "success");
    assert.deepEqual(sorted(left), sorted(right));
  });

  test("can be filtered as in Prometheus 3", async () => {
    const names = async (query: string): Promise<string[]> =>
      (await ours(`rules?${query}`)).data.groups.flatMap(({ rules }: Json) => rules.map(({ name }: Json) => name));
    assert.deepEqual(await names("rule_name[]=Fires&rule_name[]=Fails"), ["Fires", "Fails"]);
    assert.deepEqual(await names("rule_group[]=second"), ["Fails"]);
    assert.deepEqual(await names("file[]=other.yaml"), []);
    assert.deepEqual(await names(`match[]=${encodeURIComponent('{severity=~"pa.*"}')}`), ["Fires"]);
    const { data: first } = await ours("rules?group_limit=1&exclude_alerts=true");
    assert.equal(first.groups.length, 1);
    assert.equal(first.groups[0].rules[0].alerts, null);
    assert.deepEqual(await names(`group_limit=1&group_next_token=${first.groupNextToken}`), ["Fails"]);
    for (const query of [
      "type=other",
      "exclude_alerts=perhaps",
      "group_limit=0",
      "group_limit=1&group_next_token=x",
      "group_next_token=x",
    ]) {
      const answer = await ours(`rules?${query}`);
      assert.equal(answer.errorType, "bad_data", query);
      assert.match(answer.error, /invalid parameter/);
    }
  });
});
