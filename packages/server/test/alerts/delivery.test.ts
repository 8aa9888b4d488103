/** What receivers get: once per change, signed, again after failures, and only the alerts of their organizations. */
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { describe, test } from "node:test";
import type { AlertSettings } from "../../src/config/alerts.ts";
import { resolveConfig } from "../../src/config/load-config.ts";
import { parseYaml } from "../../src/config/yaml-file.ts";
import {
  activeBetween,
  configured,
  emptyStore,
  intervalMs,
  openAlerts,
  openControl,
  settingsWith,
  startMs,
  until,
} from "./alerts-fixture.ts";
import { startReceiver, type ReceivedRequest } from "./alert-receiver.ts";
import { ManualClock } from "./manual-clock.ts";

const interval = `${intervalMs / 1000}s`;
const secretBytes = Buffer.from("0123456789abcdef0123456789abcdef");
const secret = `whsec_${secretBytes.toString("base64")}`;

/** With the defaults of the configuration. JSON is YAML. */
function receivers(given: Record<string, Record<string, unknown>>): Partial<AlertSettings> {
  const file = parseYaml("test.yaml", JSON.stringify({ alerts: { receivers: given } }));
  const { config, problems } = resolveConfig({ file, env: {} });
  assert.deepEqual(problems, []);
  return { receivers: config!.alerts.receivers };
}

function alertsIn(requests: readonly ReceivedRequest[]): string[] {
  return requests.flatMap(({ body }) =>
    (body.alerts as { status: string; labels: Record<string, string> }[]).map(
      ({ labels, status }) => `${labels["organization"]} ${labels["alertname"]} ${status}`,
    ),
  );
}

const rules = [{ alert: "Slow", expr: activeBetween(0, 35), annotations: { summary: "It is slow" } }];

describe("a webhook", () => {
  test("gets each change once, signed, in the form of Alertmanager's webhooks", async () => {
    await using receiver = await startReceiver();
    const settings = receivers({
      hook: { type: "webhook", url: `${receiver.url}/alerts`, secret, bearer_token: "t0" },
    });
    await using fixture = await openAlerts({
      groups: [configured({ name: "g", interval, rules }, ["acme"])],
      settings,
    });
    await fixture.tick(1);
    await until(() => receiver.received.length === 1);
    for (let step = 0; step < 4; step += 1) await fixture.tick(1);
    await until(() => receiver.received.length === 2);
    await fixture.tick(1);
    assert.deepEqual(alertsIn(receiver.received), ["acme Slow firing", "acme Slow resolved"]);
    const [firing, resolved] = receiver.received;
    assert.equal(firing!.path, "/alerts");
    assert.equal(firing!.headers.authorization, "Bearer t0");
    assert.notEqual(firing!.headers["webhook-id"], resolved!.headers["webhook-id"]);
    for (const { headers, text } of receiver.received) {
      const signed = `${String(headers["webhook-id"])}.${String(headers["webhook-timestamp"])}.${text}`;
      const signature = createHmac("sha256", secretBytes).update(signed).digest("base64");
      assert.equal(headers["webhook-signature"], `v1,${signature}`);
    }
    const { alerts: sent, ...payload } = resolved!.body;
    assert.deepEqual(payload, {
      version: "4",
      groupKey: '["configuration/g",{"alertname":"Slow","organization":"acme"}]',
      truncatedAlerts: 0,
      status: "resolved",
      receiver: "hook",
      groupLabels: { alertname: "Slow", organization: "acme" },
      commonLabels: { alertname: "Slow", organization: "acme" },
      commonAnnotations: { summary: "It is slow" },
      externalURL: "http://sounding.test",
    });
    assert.deepEqual(Object.keys(sent[0]), [
      "status",
      "labels",
      "annotations",
      "startsAt",
      "endsAt",
      "generatorURL",
      "fingerprint",
    ]);
    assert.equal(firing!.body.alerts[0].endsAt, "0001-01-01T00:00:00Z");
    assert.ok(Date.parse(sent[0].endsAt) > Date.parse(sent[0].startsAt));
  });

  test("that fails gets the same message again, until it accepts it", async () => {
    await using receiver = await startReceiver();
    receiver.behavior = 500;
    const settings = receivers({ hook: { type: "webhook", url: receiver.url, secret } });
    await using fixture = await openAlerts({
      groups: [configured({ name: "g", interval, rules }, ["acme"])],
      settings,
    });
    await fixture.tick(1);
    await until(() => receiver.received.length === 1);
    receiver.behavior = 200;
    await until(() => fixture.notifications.length === 1);
    const [first, second] = receiver.received;
    assert.equal(first!.headers["webhook-id"], second!.headers["webhook-id"]);
    assert.equal(first!.text, second!.text);
    assert.deepEqual(fixture.notifications, [{ receiver: "hook", outcome: "sent", alerts: 1 }]);
    const messages = new Set(fixture.logged.map(({ message }) => message));
    assert.ok(messages.has("a receiver of alerts does not accept notifications"));
    assert.ok(messages.has("the receiver of alerts accepts notifications again"));
  });

  test("that does not respond neither delays evaluations nor other receivers", async () => {
    await using stalled = await startReceiver();
    await using healthy = await startReceiver();
    stalled.behavior = "stall";
    const settings = receivers({
      stalled: { type: "webhook", url: stalled.url, secret, timeout_ms: 500 },
      healthy: { type: "webhook", url: healthy.url, secret },
    });
    await using fixture = await openAlerts({
      groups: [configured({ name: "g", interval, rules }, ["acme"])],
      settings,
    });
    for (let step = 0; step < 5; step += 1) await fixture.tick(1);
    await until(() => alertsIn(healthy.received).at(-1) === "acme Slow resolved");
    stalled.behavior = 200;
    await until(() => fixture.notifications.some(({ receiver }) => receiver === "stalled"));
    // What it missed meanwhile is replaced by the last change.
    assert.equal(alertsIn(stalled.received).at(-1), "acme Slow resolved");
  });

  test("is not led elsewhere by a redirect", async () => {
    await using receiver = await startReceiver();
    receiver.behavior = 302;
    const settings = receivers({ hook: { type: "webhook", url: receiver.url, secret } });
    await using fixture = await openAlerts({
      groups: [configured({ name: "g", interval, rules }, ["acme"])],
      settings,
    });
    await fixture.tick(1);
    await until(() => fixture.notifications.length === 1);
    assert.deepEqual(fixture.notifications, [{ receiver: "hook", outcome: "failed", alerts: 1 }]);
    assert.deepEqual(
      receiver.received.map(({ path }) => path),
      ["/"],
    );
  });

  test("that accepts nothing for too long loses what is too old, and the queue stays bounded", async () => {
    await using receiver = await startReceiver();
    receiver.behavior = 503;
    const many = `label_replace(${activeBetween(0, 1000)}, "n", "1", "", "") or label_replace(vector(1), "n", "2", "", "") or vector(1)`;
    const settings = receivers({
      hook: { type: "webhook", url: receiver.url, secret, max_queued: 2, retry_for_ms: 60_000 },
    });
    const groups = [configured({ name: "g", interval, rules: [{ alert: "Many", expr: many }] }, ["acme"])];
    await using fixture = await openAlerts({ groups, settings });
    await fixture.tick(1);
    assert.deepEqual(fixture.notifications, [{ receiver: "hook", outcome: "dropped", alerts: 1 }]);
    await until(() => receiver.received.length > 0);
    fixture.clock.step(120_000);
    await until(() => fixture.notifications.some(({ alerts }) => alerts === 2));
    assert.ok(fixture.logged.some(({ message }) => message.startsWith("alerts could not be delivered in time")));
  });

  test("gets nothing twice when the server restarts, and what ended meanwhile as resolved", async () => {
    await using receiver = await startReceiver();
    const settings = receivers({ hook: { type: "webhook", url: receiver.url, secret } });
    const groups = [configured({ name: "g", interval, rules }, ["acme"])];
    await using control = await openControl();
    const clock = new ManualClock(startMs);
    const first = await openAlerts({ groups, settings, control, clock });
    await first.tick(1);
    await until(() => first.notifications.length === 1);
    await first.close();
    const second = await openAlerts({ groups, settings, control, clock });
    await second.tick(1);
    await second.close();
    assert.deepEqual(alertsIn(receiver.received), ["acme Slow firing"]);
    await using third = await openAlerts({ groups: [], settings, control, clock });
    await until(() => receiver.received.length === 2);
    assert.deepEqual(alertsIn(receiver.received), ["acme Slow firing", "acme Slow resolved"]);
    await third.close();
  });

  for (const [what, text] of [
    ["a byte that is not UTF-8", String.raw`\xff`],
    ["half of a surrogate pair", "\ud800"],
  ] as const) {
    test(`gets alerts of an expression with ${what}, also after a restart, and so do other organizations`, async () => {
      await using receiver = await startReceiver();
      const settings = receivers({ hook: { type: "webhook", url: receiver.url, secret } });
      const odd = { alert: "Odd", expr: `label_replace(${activeBetween(0, 1000)}, "text", "${text}", "", "")` };
      const groups = [
        configured({ name: "a", interval, rules: [odd] }, ["acme"]),
        configured({ name: "b", interval, rules }, ["globex"]),
      ];
      await using control = await openControl();
      const clock = new ManualClock(startMs);
      const first = await openAlerts({ groups, settings, control, clock });
      await first.tick(2);
      await until(() => receiver.received.length === 2);
      await first.close();
      receiver.received.length = 0;
      const again = receivers({ other: { type: "webhook", url: receiver.url, secret } });
      await using second = await openAlerts({ groups, settings: again, control, clock });
      await until(() => receiver.received.length === 2);
      assert.deepEqual(alertsIn(receiver.received).sort(), ["acme Odd firing", "globex Slow firing"]);
      assert.ok(receiver.received.every(({ text: body }) => body.includes("/console/metrics?query=")));
      await second.close();
    });
  }

  test("gets the alerts of its organizations only", async () => {
    await using receiver = await startReceiver();
    await using everyone = await startReceiver();
    const settings = receivers({
      acme: { type: "webhook", url: receiver.url, secret, organizations: ["ac*"] },
      everyone: { type: "webhook", url: everyone.url, secret },
    });
    const groups = [configured({ name: "g", interval, rules }, ["acme", "globex"])];
    await using fixture = await openAlerts({ groups, settings });
    await fixture.tick(2);
    await until(() => everyone.received.length === 2 && receiver.received.length === 1);
    assert.deepEqual(alertsIn(receiver.received), ["acme Slow firing"]);
    assert.deepEqual(alertsIn(everyone.received).sort(), ["acme Slow firing", "globex Slow firing"]);
  });

  test("that fails while a rule is removed gets its end, also after the configuration is reloaded again", async () => {
    await using receiver = await startReceiver();
    const settings = receivers({ hook: { type: "webhook", url: receiver.url, secret } });
    const groups = [configured({ name: "g", interval, rules }, ["acme"])];
    await using fixture = await openAlerts({ groups, settings });
    await fixture.tick(1);
    await until(() => fixture.notifications.length === 1);
    receiver.behavior = 503;
    await fixture.alerts.reload(settingsWith(settings), []);
    await until(() => receiver.received.length === 2);
    await fixture.alerts.reload(settingsWith(structuredClone(settings)), []);
    receiver.behavior = 200;
    await until(() => fixture.notifications.length === 2, "the delivery");
    assert.equal(alertsIn(receiver.received).at(-1), "acme Slow resolved");
  });

  test("that is added later gets what fires", async () => {
    await using receiver = await startReceiver();
    const groups = [configured({ name: "g", interval, rules }, ["acme"])];
    await using fixture = await openAlerts({ groups });
    await fixture.tick(1);
    const settings = receivers({ hook: { type: "webhook", url: receiver.url, secret } });
    await fixture.alerts.reload(settingsWith(settings), groups);
    await fixture.tick(1);
    await until(() => receiver.received.length === 1);
  });
});

describe("a receiver of several organizations", () => {
  const loud = `label_replace(${activeBetween(0, 1000)}, "n", "1", "", "") or label_replace(${activeBetween(0, 1000)}, "n", "2", "", "") or label_replace(${activeBetween(0, 1000)}, "n", "3", "", "")`;
  const groups = [
    configured({ name: "loud", interval, rules: [{ alert: "Loud", expr: loud }] }, ["acme"]),
    configured({ name: "quiet", interval, rules }, ["globex"]),
  ];

  for (const type of ["webhook", "alertmanager"]) {
    test(`of type ${type} gets the alerts of one while it refuses those of another one`, async () => {
      await using receiver = await startReceiver();
      receiver.refuses = ({ text }) => text.includes("acme");
      const own = type === "webhook" ? { secret } : {};
      const settings = receivers({ shared: { type, url: receiver.url, ...own } });
      await using fixture = await openAlerts({ groups: groups.slice(0, 1), settings });
      await fixture.tick(1);
      await until(() => receiver.received.length > 0);
      await fixture.alerts.reload(settingsWith(settings), groups);
      await until(async () => (await fixture.groups("globex")).length === 1);
      await fixture.tick(2);
      await until(() => fixture.notifications.some(({ outcome }) => outcome === "sent"));
      assert.ok(receiver.received.some(({ text }) => text.includes("globex")));
      assert.ok(receiver.received.every(({ text }) => !text.includes("globex") || !text.includes("acme")));
    });
  }

  test("drops the alerts of the organization that has the most", async () => {
    await using receiver = await startReceiver();
    receiver.behavior = 503;
    const settings = receivers({ hook: { type: "webhook", url: receiver.url, secret, max_queued: 2 } });
    await using fixture = await openAlerts({ groups, settings });
    await fixture.tick(2);
    await fixture.tick(2);
    receiver.received.length = 0;
    receiver.behavior = 200;
    await until(() => alertsIn(receiver.received).includes("globex Slow firing"));
    await until(() => fixture.notifications.filter(({ outcome }) => outcome === "sent").length >= 2);
    assert.ok(fixture.notifications.some(({ outcome }) => outcome === "dropped"));
    assert.ok(alertsIn(receiver.received).includes("acme Loud firing"));
  });
});

describe("Alertmanager's API", () => {
  test("gets a firing alert again while its rule cannot be evaluated", async () => {
    await using receiver = await startReceiver();
    const store = emptyStore();
    const settings = { ...receivers({ am: { type: "alertmanager", url: receiver.url } }), resend_delay_ms: 10_000 };
    await using fixture = await openAlerts({
      groups: [configured({ name: "g", interval, rules }, ["acme"])],
      settings,
      store,
    });
    await fixture.tick(1);
    await until(() => fixture.notifications.length === 1);
    store.ready = false;
    for (let sent = 2; sent <= 5; sent += 1) {
      await fixture.tick(1);
      await until(() => fixture.notifications.length === sent);
    }
    assert.equal((await fixture.groups("acme"))[0]!.rules[0]!.health, "err");
    assert.ok(Date.parse(receiver.received.at(-1)!.body[0].endsAt) > fixture.clock.now());
  });

  test("gets firing alerts again and again, each time with a later end, and resolved ones as well", async () => {
    await using receiver = await startReceiver();
    const settings = { ...receivers({ am: { type: "alertmanager", url: receiver.url } }), resend_delay_ms: 20_000 };
    const longer = [{ ...rules[0]!, expr: activeBetween(0, 65) }];
    const groups = [configured({ name: "g", interval, rules: longer }, ["acme"])];
    await using fixture = await openAlerts({ groups, settings });
    const untilDelivered = (count: number): Promise<void> => until(() => fixture.notifications.length === count);
    await fixture.tick(1);
    await untilDelivered(1);
    await fixture.tick(1);
    await fixture.tick(1);
    await untilDelivered(2);
    const endsAt = (index: number): number => Date.parse(receiver.received.at(index)!.body[0].endsAt);
    assert.ok(endsAt(1) > fixture.clock.now(), "the end of a firing alert is in the future");
    for (let step = 0; step < 5; step += 1) await fixture.tick(1);
    await until(() => endsAt(-1) <= fixture.clock.now(), "the resolved alert");
    const sent = receiver.received.map(({ body, path }) => ({ path, ...body[0] }));
    assert.ok(sent.every(({ path }) => path === "/api/v2/alerts"));
    assert.deepEqual(sent[0].labels, { alertname: "Slow", organization: "acme" });
    assert.ok(Date.parse(sent[1].endsAt) > Date.parse(sent[0].endsAt));
    assert.equal(sent[1].startsAt, sent[0].startsAt);
  });
});
