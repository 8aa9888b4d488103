/** Alert rules through the whole server: telemetry over OTLP, rules in both languages, a real Alertmanager. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { startAlertmanager } from "../packages/server/test/support/alertmanager-server.ts";
import { newLogTenant, type LogTenant } from "./support/log-tenant.ts";
import { startServer, untilTelemetryReady, type RunningServer } from "./support/running-server.ts";
import { beforeTests } from "./support/hooks.ts";
import { needs } from "./support/needs.ts";

// oxlint-disable-next-line typescript/no-explicit-any -- answers of tests are looked into freely
type Json = any;

const alertmanagerConfiguration = `
route: { receiver: nobody }
receivers: [{ name: nobody }]
`;

const rules = (alertmanagerUrl: string): string => `
alerts:
  receivers:
    pager: { type: alertmanager, url: ${JSON.stringify(alertmanagerUrl)} }
  groups:
    - name: metrics
      interval: 1s
      rules:
        - alert: QueueIsLong
          expr: queue_depth > 100
          labels: { severity: page }
          annotations: { summary: 'The queue of {{ $labels.job }} has {{ $value }} entries' }
    - name: logs
      interval: 1s
      language: logql
      rules:
        - alert: Declined
          expr: sum by (service_name) (count_over_time({service_name="till"} |= "declined" [5m])) > 1
`;

describe("alert rules", { skip: needs("alertmanager") }, () => {
  let alertmanager: Awaited<ReturnType<typeof startAlertmanager>>;
  let server: RunningServer;
  let one: LogTenant;
  let other: LogTenant;

  beforeTests(async (stack) => {
    alertmanager = stack.use(await startAlertmanager(alertmanagerConfiguration));
    server = stack.use(await startServer(rules(alertmanager.url), { telemetry: true }));
    await untilTelemetryReady(server);
    one = await newLogTenant(server);
    other = await newLogTenant(server);
  });

  async function until<Found>(find: () => Promise<Found | undefined>, what: string): Promise<Found> {
    for (let attempt = 0; attempt < 600; attempt += 1) {
      const found = await find();
      if (found !== undefined) return found;
      await sleep(50);
    }
    throw new Error(`waited too long for ${what}`);
  }

  async function activeAlerts({ key }: LogTenant): Promise<Json[]> {
    const response = await server.call("/prometheus/api/v1/alerts", undefined, { authorization: `Bearer ${key}` });
    return ((await response.json()) as Json).data.alerts;
  }

  async function inAlertmanager(name: string): Promise<Json[]> {
    const response = await fetch(`${alertmanager.url}/api/v2/alerts`);
    return ((await response.json()) as Json[]).filter(({ labels }) => labels.alertname === name);
  }

  async function setDepth(tenant: LogTenant, depth: number): Promise<void> {
    const response = await server.call(
      "/v1/metrics",
      {
        resourceMetrics: [
          {
            resource: { attributes: [{ key: "service.name", value: { stringValue: "worker" } }] },
            scopeMetrics: [
              {
                metrics: [
                  {
                    name: "queue_depth",
                    gauge: { dataPoints: [{ timeUnixNano: `${Date.now()}000000`, asDouble: depth }] },
                  },
                ],
              },
            ],
          },
        ],
      },
      { authorization: `Bearer ${tenant.key}` },
    );
    assert.equal(response.status, 200);
  }

  test("in PromQL fire for the organization whose metrics they match, reach Alertmanager and are resolved there", async () => {
    await setDepth(one, 120);
    await setDepth(other, 3);
    const [alert] = await until(async () => {
      const alerts = await activeAlerts(one);
      return alerts.length > 0 ? alerts : undefined;
    }, "the alert");
    assert.equal(alert.state, "firing");
    assert.equal(alert.labels.alertname, "QueueIsLong");
    assert.equal(alert.annotations.summary, "The queue of worker has 120 entries");
    const [received] = await until(async () => {
      const alerts = await inAlertmanager("QueueIsLong");
      return alerts.length > 0 ? alerts : undefined;
    }, "Alertmanager's alert");
    assert.equal(received.status.state, "active");
    assert.equal(received.labels.severity, "page");
    assert.deepEqual(await activeAlerts(other), []);
    await setDepth(one, 5);
    await until(async () => ((await inAlertmanager("QueueIsLong")).length === 0 ? true : undefined), "its end");
    assert.deepEqual(await activeAlerts(one), []);
  });

  test("in LogQL fire for the organization whose entries they match", async () => {
    const unixNano = BigInt(Date.now() - 5000) * 1_000_000n;
    await other.sender.logs({ "service.name": "till" }, [
      { unixNano, body: "card declined" },
      { unixNano: unixNano + 1n, body: "card declined again" },
    ]);
    const [alert] = await until(async () => {
      const alerts = await activeAlerts(other);
      return alerts.length > 0 ? alerts : undefined;
    }, "the alert");
    assert.deepEqual(alert.labels, { alertname: "Declined", service_name: "till" });
    assert.equal(alert.value, "2e+00");
    assert.deepEqual(await activeAlerts(one), []);
  });
});
