/**
 * Alerts with a control database of their own and a clock that the test moves. The rules of most tests read nothing from the
 * store: `vector(1) and on() vector(time()) > 90` is an alert from the 90th second on.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Value } from "typebox/value";
import { createAlerts, type AlertObserver, type AlertParts, type Alerts } from "../../src/alerts/alerts.ts";
import type { AlertGroupDefinition } from "../../src/api/alert-rules.ts";
import type { ConfiguredGroup } from "../../src/config/alert-groups.ts";
import { alerts as alertsSchema, type AlertSettings } from "../../src/config/alerts.ts";
import type { Logger } from "../../src/logger.ts";
import type { RuleGroupReport } from "../../src/query/prometheus-api/rule-reports.ts";
import type { Store } from "../../src/store/store.ts";
import { openControlDatabase, type ControlDatabase } from "../../src/tenancy/control-database.ts";
import { createOrganization } from "../../src/tenancy/organizations.ts";
import { Scope } from "../../src/tenant.ts";
import { testKey } from "../support/test-key.ts";
import { ManualClock } from "./manual-clock.ts";

export const intervalMs = 10_000;

/** A whole minute, far from any other clock. */
export const startMs = 1_000_000_020_000;

/** The alert is active from `from` until before `to`, in seconds since the start. */
export function activeBetween(from: number, to: number, value = 1): string {
  const seconds = `vector(time() - ${startMs / 1000})`;
  return `vector(${value}) and on() (${seconds} >= ${from}) and on() (${seconds} < ${to})`;
}

export function configured(definition: AlertGroupDefinition, organizations?: readonly string[]): ConfiguredGroup {
  return { key: `configuration/${definition.name}`, file: "configuration", organizations, definition };
}

/** A store that is only opened. */
export function emptyStore(): AlertParts["store"] & { ready: boolean } {
  return {
    ready: true,
    open: () => ({}) as ReturnType<Store["open"]>,
    state() {
      return { ready: this.ready };
    },
    whenReady: async () => {},
  };
}

/** Polls, since the work is done in the background. */
export async function until(isTrue: () => boolean | Promise<boolean>, what = "the expected state"): Promise<void> {
  const deadlineMs = Date.now() + 20_000;
  while (!(await isTrue())) {
    if (Date.now() > deadlineMs) throw new Error(`waited too long for ${what}`);
    await sleep(5);
  }
}

export interface FixtureOptions {
  readonly groups: readonly ConfiguredGroup[];
  readonly settings?: Partial<AlertSettings>;
  readonly store?: AlertParts["store"];
  readonly clock?: ManualClock;
  /** Absent: a new one with the organizations `acme` and `globex`. */
  readonly control?: ControlDatabase;
}

export interface AlertsFixture extends AsyncDisposable {
  readonly alerts: Alerts;
  readonly clock: ManualClock;
  readonly control: ControlDatabase;
  readonly logged: { readonly level: string; readonly message: string; readonly fields: Record<string, unknown> }[];
  readonly notifications: { readonly receiver: string; readonly outcome: string; readonly alerts: number }[];
  readonly evaluations: () => number;
  /** Moves the clock by one interval and waits for so many evaluations of rules. */
  tick(evaluations: number): Promise<void>;
  groups(organization: string, project?: string): Promise<readonly RuleGroupReport[]>;
  /** The states of the alerts of the first rule. */
  states(organization?: string): Promise<string[]>;
  close(): Promise<void>;
}

export async function openControl(): Promise<ControlDatabase & AsyncDisposable> {
  const dataDirectory = await mkdtemp(join(tmpdir(), "sounding-alerts-"));
  const control = await openControlDatabase({ dataDirectory });
  for (const name of ["acme", "globex"]) await createOrganization(control, { name });
  return {
    ...control,
    async [Symbol.asyncDispose]() {
      await control.close();
      await rm(dataDirectory, { recursive: true, force: true });
    },
  };
}

export function settingsWith(changes: Partial<AlertSettings>): AlertSettings {
  return { ...(Value.Default(alertsSchema, {}) as AlertSettings), ...changes };
}

export async function scopeOf(control: ControlDatabase, organization: string, project?: string): Promise<Scope> {
  const row = await control.read((database) =>
    database.selectFrom("organizations").select("id").where("name", "=", organization).executeTakeFirstOrThrow(),
  );
  return Scope.fromKey(testKey({ organizationId: row.id, organizationName: organization, projectName: project }));
}

export async function openAlerts(options: FixtureOptions): Promise<AlertsFixture> {
  const own = options.control === undefined ? await openControl() : undefined;
  const control = options.control ?? own!;
  const clock = options.clock ?? new ManualClock(startMs);
  const logged: AlertsFixture["logged"] = [];
  const notifications: AlertsFixture["notifications"] = [];
  const log =
    (level: string): Logger["info"] =>
    (fields, message) =>
      void logged.push({ level, message, fields });
  let evaluations = 0;
  let isEvaluating = (): boolean => false;
  const observer: AlertObserver = {
    countEvaluation: () => void (evaluations += 1),
    countSkippedGroup: () => {},
    countNotifications: (receiver, outcome, alerts) => void notifications.push({ receiver, outcome, alerts }),
    watchAlerts: (read) => void (isEvaluating = () => read().isEvaluating),
  };
  const alerts = createAlerts({
    settings: settingsWith(options.settings ?? {}),
    groups: options.groups,
    control,
    store: options.store ?? emptyStore(),
    url: "http://sounding.test",
    logger: { debug: log("debug"), info: log("info"), warn: log("warn"), error: log("error") },
    observer,
    clock,
  });
  await until(isEvaluating, "the start of the evaluation");
  let isClosed = false;
  const fixture: AlertsFixture = {
    alerts,
    clock,
    control,
    logged,
    notifications,
    evaluations: () => evaluations,
    async tick(expected) {
      const target = evaluations + expected;
      clock.advance(intervalMs);
      await until(() => evaluations >= target, `${target} evaluations, ${evaluations} seen`);
    },
    groups: async (organization, project) => alerts.ruleGroups(await scopeOf(control, organization, project)),
    async states(organization = "acme") {
      const [group] = await fixture.groups(organization);
      return group!.rules[0]!.alerts.map(({ state }) => state);
    },
    async close() {
      if (!isClosed) await alerts.close();
      isClosed = true;
    },
    async [Symbol.asyncDispose]() {
      await fixture.close();
      await own?.[Symbol.asyncDispose]();
    },
  };
  return fixture;
}
