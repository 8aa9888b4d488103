/** The states of alerts over time: `for`, `keep_firing_for`, failures, restarts and clocks that are set. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
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
import type { AlertGroupDefinition } from "../../src/api/alert-rules.ts";
import type { ControlDatabase } from "../../src/tenancy/control-database.ts";
import { ManualClock } from "./manual-clock.ts";

const interval = `${intervalMs / 1000}s`;
const acme = ["acme"];

describe("an alert", () => {
  test("is pending for the time of `for`, then fires, and is resolved when the expression no longer holds", async () => {
    const rule = { alert: "Slow", expr: activeBetween(0, 45), for: "20s" };
    await using fixture = await openAlerts({ groups: [configured({ name: "g", interval, rules: [rule] }, acme)] });
    const seen: string[] = [];
    for (let step = 0; step < 6; step += 1) {
      await fixture.tick(1);
      seen.push((await fixture.states()).join());
    }
    assert.deepEqual(seen.slice(0, 4), ["pending", "pending", "firing", "firing"]);
    assert.equal(seen.at(-1), "");
    const change = fixture.logged.find(({ message }) => message === "alerts changed");
    assert.deepEqual(change?.fields["firing"], 1);
    assert.deepEqual(change?.fields["alert"], "Slow");
  });

  test("that no longer holds while it is pending never fires", async () => {
    const rule = { alert: "Blip", expr: activeBetween(0, 15), for: "1m" };
    await using fixture = await openAlerts({ groups: [configured({ name: "g", interval, rules: [rule] }, acme)] });
    await fixture.tick(1);
    assert.deepEqual(await fixture.states(), ["pending"]);
    await fixture.tick(1);
    await fixture.tick(1);
    assert.deepEqual(await fixture.states(), []);
  });

  test("keeps firing for the time of `keep_firing_for`", async () => {
    const rule = { alert: "Flaps", expr: activeBetween(0, 15), keep_firing_for: "20s" };
    await using fixture = await openAlerts({ groups: [configured({ name: "g", interval, rules: [rule] }, acme)] });
    await fixture.tick(1);
    assert.deepEqual(await fixture.states(), ["firing"]);
    await fixture.tick(1);
    await fixture.tick(1);
    assert.deepEqual(await fixture.states(), ["firing"]);
    const [group] = await fixture.groups("acme");
    assert.notEqual(group!.rules[0]!.alerts[0]!.keepFiringSinceMs, undefined);
    await fixture.tick(1);
    await fixture.tick(1);
    assert.deepEqual(await fixture.states(), []);
  });

  test("has the labels and annotations of its templates", async () => {
    const rule = {
      alert: "Costs",
      expr: `label_replace(${activeBetween(0, 1000, 0.125)}, "model", "gpt", "", "")`,
      labels: { severity: "page", share: "{{ $value | humanizePercentage }}", empty: "{{ $labels.none }}" },
      annotations: {
        summary: '{{ $labels.model | toUpper }} costs {{ printf "%.2f" $value }}',
        duration: "{{ humanizeDuration 93784.0 }}",
        broken: "{{ humanize $labels.model }}",
      },
    };
    await using fixture = await openAlerts({ groups: [configured({ name: "g", interval, rules: [rule] }, acme)] });
    await fixture.tick(1);
    const [group] = await fixture.groups("acme");
    const [alert] = group!.rules[0]!.alerts;
    assert.deepEqual(alert!.labels, { alertname: "Costs", model: "gpt", severity: "page", share: "12.5%" });
    assert.deepEqual(alert!.annotations, {
      summary: "GPT costs 0.13",
      duration: "1d 2h 3m 4s",
      broken: '<error expanding template: "gpt" is not a number>',
    });
  });
});

describe("a rule that cannot be evaluated", () => {
  test("reports why and keeps its alerts, until it can be evaluated again", async () => {
    const store = emptyStore();
    const rule = { alert: "Slow", expr: activeBetween(0, 1000) };
    const groups = [configured({ name: "g", interval, rules: [rule] }, acme)];
    await using fixture = await openAlerts({ groups, store });
    await fixture.tick(1);
    store.ready = false;
    await fixture.tick(1);
    const [failed] = await fixture.groups("acme");
    assert.equal(failed!.rules[0]!.health, "err");
    assert.match(failed!.rules[0]!.lastError!, /telemetry store is not ready/);
    assert.deepEqual(await fixture.states(), ["firing"]);
    store.ready = true;
    await fixture.tick(1);
    const [recovered] = await fixture.groups("acme");
    assert.equal(recovered!.rules[0]!.health, "ok");
    assert.equal(recovered!.rules[0]!.lastError, undefined);
    assert.equal(recovered!.rules[0]!.alerts[0]!.activeAtMs, failed!.rules[0]!.alerts[0]!.activeAtMs);
    const messages = new Set(fixture.logged.map(({ message }) => message));
    assert.ok(messages.has("an alert rule cannot be evaluated; its alerts stay as they are"));
    assert.ok(messages.has("the alert rule can be evaluated again"));
  });

  test("exceeds the limit of its group", async () => {
    const expr = `${activeBetween(0, 1000)} or label_replace(vector(1), "one", "more", "", "")`;
    const rules = [{ alert: "Two", expr }];
    await using fixture = await openAlerts({ groups: [configured({ name: "g", interval, limit: 1, rules }, acme)] });
    await fixture.tick(1);
    const [group] = await fixture.groups("acme");
    assert.equal(group!.rules[0]!.lastError, "exceeded limit of 1 with 2 alerts");
  });
});

/** Another series at each interval. */
const churning = `label_replace(${activeBetween(0, 15)}, "n", "1", "", "") or label_replace(${activeBetween(15, 25)}, "n", "2", "", "") or label_replace(${activeBetween(25, 100_000)}, "n", "3", "", "")`;

describe("the state of a rule", () => {
  const lastErrorOf = async (rule: AlertGroupDefinition["rules"][number], limit?: number): Promise<string> => {
    const definition = { name: "g", interval, rules: [rule], ...(limit === undefined ? {} : { limit }) };
    await using fixture = await openAlerts({ groups: [configured(definition, acme)] });
    await fixture.tick(1);
    const [group] = await fixture.groups("acme");
    assert.equal(group!.rules[0]!.health, "err");
    assert.deepEqual(group!.rules[0]!.alerts, []);
    return group!.rules[0]!.lastError!;
  };

  test("counts alerts that keep firing, and recovers once they end", async () => {
    const rule = { alert: "Churns", expr: churning, keep_firing_for: "40s" };
    const definition = { name: "g", interval, limit: 2, rules: [rule] };
    await using fixture = await openAlerts({ groups: [configured(definition, acme)] });
    const seen: string[] = [];
    for (let step = 0; step < 9; step += 1) {
      await fixture.tick(1);
      const { alerts, health, lastError } = (await fixture.groups("acme"))[0]!.rules[0]!;
      seen.push(`${health} ${alerts.length}`);
      if (health === "err") assert.equal(lastError, "exceeded limit of 2 with 3 alerts");
    }
    assert.deepEqual([...new Set(seen)].slice(0, 3), ["ok 1", "ok 2", "err 2"]);
    assert.ok(seen.at(-1)!.startsWith("ok"), seen.join());
  });

  test("is bounded in the text of each label and annotation", async () => {
    const long = `{{ printf "%09000d" 1 }}`;
    const expected = /^exceeded limit of 8192 characters with 9000 in "long"$/;
    const rule = { alert: "Long", expr: "vector(1)" };
    assert.match(await lastErrorOf({ ...rule, annotations: { long } }), expected);
    assert.match(await lastErrorOf({ ...rule, labels: { long } }), expected);
  });

  test("is bounded in the text of all its alerts", async () => {
    const series = Array.from({ length: 30 }, (_, n) => `label_replace(vector(1), "n", "${n}", "", "")`).join(" or ");
    const text = `{{ printf "%08000d" 1 }}`;
    const annotations = { a: text, b: text, c: text, d: text, e: text };
    assert.match(
      await lastErrorOf({ alert: "Large", expr: series, annotations }),
      /^exceeded limit of 1048576 characters in the labels and annotations of all alerts of the rule$/,
    );
  });
});

describe("a restart", () => {
  test("keeps the time since when an alert is pending", async () => {
    const rule = { alert: "Slow", expr: activeBetween(0, 10_000), for: "1m" };
    const groups = [configured({ name: "g", interval, rules: [rule] }, acme)];
    await using control = await openControl();
    const clock = new ManualClock(startMs);
    const first = await openAlerts({ groups, control, clock });
    await first.tick(1);
    await first.tick(1);
    const [before] = await first.groups("acme");
    assert.equal(before!.rules[0]!.alerts[0]!.state, "pending");
    await first.close();
    clock.advance(15_000);
    await using second = await openAlerts({ groups, control, clock });
    const [restored] = await second.groups("acme");
    assert.deepEqual(restored!.rules[0]!.alerts, before!.rules[0]!.alerts);
    for (let step = 0; step < 4; step += 1) await second.tick(1);
    assert.deepEqual(await second.states(), ["firing"]);
    const [after] = await second.groups("acme");
    assert.equal(after!.rules[0]!.alerts[0]!.activeAtMs, before!.rules[0]!.alerts[0]!.activeAtMs);
  });

  test("does not take a long interval for a pause", async () => {
    const rule = { alert: "Slow", expr: "vector(1)", for: "3h" };
    const groups = [configured({ name: "g", interval: "2h", rules: [rule] }, acme)];
    await using control = await openControl();
    const clock = new ManualClock(startMs);
    const first = await openAlerts({ groups, control, clock });
    clock.advance(7_200_000);
    await until(() => first.evaluations() > 0);
    const [before] = await first.groups("acme");
    await first.close();
    clock.advance(7_000_000);
    await using second = await openAlerts({ groups, control, clock });
    const [after] = await second.groups("acme");
    assert.equal(after!.rules[0]!.alerts.length, 1);
    assert.equal(after!.rules[0]!.alerts[0]!.activeAtMs, before!.rules[0]!.alerts[0]!.activeAtMs);
    await second.close();
  });

  test("does not count a long pause as time that the alert was pending", async () => {
    const rule = { alert: "Slow", expr: activeBetween(0, 10_000), for: "1m" };
    const groups = [configured({ name: "g", interval, rules: [rule] }, acme)];
    await using control = await openControl();
    const clock = new ManualClock(startMs);
    const first = await openAlerts({ groups, control, clock });
    await first.tick(1);
    await first.close();
    clock.advance(1_800_000);
    await using second = await openAlerts({ groups, control, clock });
    await second.tick(1);
    assert.deepEqual(await second.states(), ["pending"]);
  });
});

describe("a server that loses the lock", () => {
  test("evaluates nothing from then on, also while it loads rules", async () => {
    await using own = await openControl();
    const lost = new AbortController();
    const gate = Promise.withResolvers<void>();
    let isHolding = false;
    let held = 0;
    let isReleased = false;
    const control: ControlDatabase = {
      ...own,
      async read(query) {
        if (isHolding) {
          held += 1;
          await gate.promise;
        }
        return own.read(query);
      },
      tryLock: async () =>
        isReleased
          ? undefined
          : {
              lost: lost.signal,
              release: async () => {
                isReleased = true;
              },
            },
    };
    const groups = [configured({ name: "g", interval, rules: [{ alert: "Always", expr: "vector(1)" }] }, acme)];
    await using fixture = await openAlerts({ groups, control });
    await fixture.tick(1);
    isHolding = true;
    await fixture.alerts.reload(settingsWith({}), groups);
    await until(() => held === 2, "the rules to be loaded");
    isHolding = false;
    lost.abort();
    const before = fixture.evaluations();
    fixture.clock.advance(3 * intervalMs);
    for (let reads = 0; reads < 50; reads += 1) await openOrganizations(own);
    assert.equal(fixture.evaluations(), before);
    gate.resolve();
    await until(() => isReleased, "the lock to be released");
    assert.equal(fixture.evaluations(), before);
  });
});

function openOrganizations(control: ControlDatabase): Promise<unknown> {
  return control.read((database) => database.selectFrom("organizations").select("id").execute());
}

describe("a clock that is set", () => {
  for (const [direction, stepMs] of [
    ["forward", 3_600_000],
    ["back", -3_600_000],
  ] as const) {
    test(`${direction} neither fires a pending alert nor delays it`, async () => {
      const rule = { alert: "Always", expr: "vector(1)", for: "30s" };
      await using fixture = await openAlerts({ groups: [configured({ name: "g", interval, rules: [rule] }, acme)] });
      await fixture.tick(1);
      fixture.clock.step(stepMs);
      await fixture.tick(1);
      assert.deepEqual(await fixture.states(), ["pending"]);
      for (let step = 0; step < 3; step += 1) await fixture.tick(1);
      assert.deepEqual(await fixture.states(), ["firing"]);
      assert.ok(fixture.logged.some(({ message }) => message.startsWith("the clock was set")));
    });
  }
});

describe("a slow evaluation", () => {
  test("is ended at its deadline, and its group skips what it missed", async () => {
    const store = { ...emptyStore(), open: () => hangingReader() };
    const rule = { alert: "Slow", expr: "sum(rate(requests_total[5m])) > 0" };
    const groups = [configured({ name: "g", interval, rules: [rule] }, acme)];
    await using fixture = await openAlerts({ groups, store, settings: { evaluation_timeout_ms: 200 } });
    fixture.clock.advance(5 * intervalMs);
    await until(() => fixture.evaluations() > 0);
    const [group] = await fixture.groups("acme");
    assert.equal(group!.rules[0]!.health, "err");
    assert.match(group!.rules[0]!.lastError!, /timed out/);
    assert.equal(fixture.evaluations(), 1, "missed evaluations pile up");
  });
});

describe("slow rules of one organization", () => {
  for (const places of [1, 2]) {
    test(`do not hold up those of another one, with ${places} places`, async () => {
      const store = { ...emptyStore(), open: () => hangingReader() };
      const slow = { alert: "Slow", expr: "sum(rate(requests_total[5m])) > 0" };
      const many = Array.from({ length: 100 }, () => slow);
      const groups = [
        configured({ name: "a", interval, rules: many }, acme),
        configured({ name: "b", interval, rules: many }, acme),
        configured({ name: "c", interval, rules: [{ alert: "Always", expr: "vector(1)" }] }, ["globex"]),
      ];
      const settings = { evaluation_timeout_ms: 300, concurrent_evaluations: places };
      await using fixture = await openAlerts({ groups, store, settings });
      fixture.clock.advance(intervalMs);
      await until(async () => (await fixture.groups("globex"))[0]!.rules[0]!.health === "ok");
      assert.ok(fixture.evaluations() < 100, "the rule waits for whole groups");
    });
  }
});

/** A reader whose statements end only when they are aborted. */
function hangingReader() {
  const hang = (_statement: unknown, options: { readonly signal?: AbortSignal } = {}): Promise<never> =>
    new Promise((_resolve, reject) => {
      options.signal?.addEventListener("abort", () => reject(options.signal!.reason as Error));
    });
  return {
    query: hang,
    columns: hang,
    stream: async function* (statement: unknown, options?: { readonly signal?: AbortSignal }) {
      yield await hang(statement, options);
    },
    cache: { get: () => undefined, set: () => {} },
    descriptionVersion: undefined,
    usesRollups: false,
  } as unknown as ReturnType<ReturnType<typeof emptyStore>["open"]>;
}

describe("two organizations with the same rules", () => {
  test("have alerts of their own", async () => {
    const group = { name: "g", interval, rules: [{ alert: "Always", expr: "vector(1)" }] };
    await using fixture = await openAlerts({
      groups: [configured(group), configured({ ...group, name: "h" }, ["globex"])],
    });
    await fixture.tick(3);
    const [acmeGroups, globexGroups] = [await fixture.groups("acme"), await fixture.groups("globex")];
    assert.deepEqual(
      [acmeGroups, globexGroups].map((groups) => groups.map(({ name }) => name)),
      [["g"], ["g", "h"]],
    );
  });

  test("and a key that is bound to a project sees the groups of its project only", async () => {
    const rules = [{ alert: "Always", expr: "vector(1)" }];
    const groups = [
      configured({ name: "all", interval, rules }),
      configured({ name: "billing", interval, project: "billing", rules }),
    ];
    await using fixture = await openAlerts({ groups });
    const seen = await fixture.groups("acme", "billing");
    assert.deepEqual(
      seen.map(({ name }) => name),
      ["billing"],
    );
  });
});

describe("changed rules", () => {
  test("continue with their alerts; those of removed rules end", async () => {
    const stays = { alert: "Stays", expr: activeBetween(0, 1000) };
    const goes = { alert: "Goes", expr: activeBetween(0, 1000) };
    const before = [configured({ name: "g", interval, rules: [stays, goes] }, acme)];
    await using fixture = await openAlerts({ groups: before });
    await fixture.tick(2);
    const [old] = await fixture.groups("acme");
    const changed = { ...stays, expr: activeBetween(0, 2000), annotations: { summary: "new" } };
    const after = [configured({ name: "g", interval, rules: [changed] }, acme)];
    await fixture.alerts.reload(settingsWith({}), after);
    await until(async () => (await fixture.groups("acme"))[0]!.rules.length === 1);
    await until(async () => (await fixture.groups("acme"))[0]!.rules[0]!.alerts.length === 1);
    await fixture.tick(1);
    const [group] = await fixture.groups("acme");
    assert.equal(group!.rules[0]!.alerts[0]!.activeAtMs, old!.rules[0]!.alerts[0]!.activeAtMs);
    assert.deepEqual(group!.rules[0]!.alerts[0]!.annotations, { summary: "new" });
    const rows = await fixture.control.read((database) =>
      database.selectFrom("alert_states").select(["rule", "state"]).execute(),
    );
    assert.deepEqual(
      rows.map(({ state }) => (JSON.parse(state) as { alerts: { labels: object }[] }).alerts[0]!.labels),
      [{ alertname: "Stays" }],
    );
    assert.match(rows[0]!.rule, /^[0-9a-f]{64}$/);
  });
});
