/**
 * Alerts: plans which rules are evaluated for which organizations, evaluates them on one server, and reports them to callers.
 * docs/adr/0039-alerts.md
 */
import type { AlertSettings } from "../config/alerts.ts";
import type { ConfiguredGroup } from "../config/alert-groups.ts";
import { onAbort, sleep } from "../abort.ts";
import type { Logger } from "../logger.ts";
import { MemoryBudget } from "../memory-budget.ts";
import type { RuleGroupReport } from "../query/prometheus-api/rule-reports.ts";
import type { Store } from "../store/store.ts";
import type { ControlDatabase } from "../tenancy/control-database.ts";
import { listActiveOrganizations } from "../tenancy/job-scope.ts";
import { loadStoredGroups } from "../tenancy/alert-groups.ts";
import { loadAlertStates, organizationsWithAlertStates } from "../tenancy/alert-states.ts";
import { startSingletonJob } from "../tenancy/singleton-job.ts";
import type { Scope } from "../tenant.ts";
import { AlertEvaluation, type EvaluationCounts } from "./alert-evaluation.ts";
import { GroupCompiler, planKey, type AlertPlan } from "./alert-plan.ts";
import { systemClock, type Clock } from "./clock.ts";
import { AlertDelivery } from "./delivery/alert-delivery.ts";
import { fingerprintOf, type Alert } from "./rule-state.ts";
import { reportOf } from "./report-group.ts";
import { readStates } from "./restore-states.ts";

/** What the alerts count, for the server's own metrics. */
export interface AlertObserver {
  countEvaluation(language: string, outcome: "success" | "failure", durationMs: number): void;
  countSkippedGroup(): void;
  countNotifications(receiver: string, outcome: "sent" | "failed" | "dropped", alerts: number): void;
  watchAlerts(read: () => AlertCounts): void;
}

interface AlertCounts extends EvaluationCounts {
  /** Whether this server evaluates the rules. */
  readonly isEvaluating: boolean;
  /** By receiver. */
  readonly queued: Readonly<Record<string, number>>;
}

export interface AlertParts {
  readonly settings: AlertSettings;
  readonly groups: readonly ConfiguredGroup[];
  readonly control: ControlDatabase;
  readonly store: Pick<Store, "open" | "state" | "whenReady">;
  /** The address of this server for links, unless the settings have one. */
  readonly url: string;
  readonly logger: Logger;
  readonly observer: AlertObserver;
  readonly clock?: Clock | undefined;
}

/** An alert of the server itself, which happens once and is not resolved. */
export interface Announcement {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Alerts {
  /** The rules that the scope may see, with their states. */
  ruleGroups(scope: Scope): Promise<readonly RuleGroupReport[]>;
  /** Sends an alert that no rule evaluates, once, to the receivers of the organization. Never rejects. */
  announce(organizationId: string, announcement: Announcement): Promise<void>;
  reload(settings: AlertSettings, groups: readonly ConfiguredGroup[]): Promise<void>;
  close(): Promise<void>;
}

/** The store starts while the server already accepts requests; a store that does not start is the result of the rules. */
async function whenReady(store: AlertParts["store"], signal: AbortSignal): Promise<void> {
  if (store.state().disabled === true) return;
  await store.whenReady(AbortSignal.any([signal, AbortSignal.timeout(longestStartMs)])).catch(() => {});
}

/** A quarter of the time after which Alertmanager takes an announcement for resolved. */
const announcedForMs = 300_000;
const longestStartMs = 60_000;
/** Organizations and rules may change on another server. */
const refreshMs = 15_000;
/** What all evaluations together may hold. */
const memoryBytes = 268_435_456;

export function createAlerts(parts: AlertParts): Alerts {
  const { clock = systemClock, control, logger, observer, store } = parts;
  let { groups, settings } = parts;
  const compiler = new GroupCompiler(logger);
  const delivery = new AlertDelivery({
    settings,
    externalUrl: (settings.external_url ?? parts.url).replace(/\/+$/, ""),
    logger,
    now: () => clock.now(),
    onOutcome: (receiver, outcome, alerts) => observer.countNotifications(receiver, outcome, alerts),
  });
  let evaluation: AlertEvaluation | undefined;
  observer.watchAlerts(() => ({
    isEvaluating: evaluation !== undefined,
    ...(evaluation?.counts() ?? { pending: 0, firing: 0, failingRules: 0 }),
    queued: delivery.queued(),
  }));

  async function load(): Promise<AlertPlan> {
    const [organizations, stored] = await Promise.all([listActiveOrganizations(control), loadStoredGroups(control)]);
    return compiler.plan(groups, stored, organizations);
  }

  let plan: Promise<AlertPlan> | undefined;
  let plannedAtMs = -Infinity;
  /** The plan, loaded again if it is old; the last one while the database is unreachable. */
  function currentPlan(): Promise<AlertPlan> {
    if (plan !== undefined && clock.monotonic() - plannedAtMs < refreshMs) return plan;
    plannedAtMs = clock.monotonic();
    const before = plan;
    plan = load().catch(async (error: unknown) => {
      if (before === undefined) {
        plan = undefined;
        throw error;
      }
      logger.warn({ error }, "the alert rules could not be loaded again; the ones known before stay in use");
      return before;
    });
    return plan;
  }

  const changed = new EventTarget();
  const replan = (): void => {
    plannedAtMs = -Infinity;
    changed.dispatchEvent(new Event("change"));
  };
  control.onChange(replan);

  /** Waits until the plan is to be loaded again. */
  async function nextChange(signal: AbortSignal): Promise<void> {
    const ended = new AbortController();
    const onChange = (): void => ended.abort();
    changed.addEventListener("change", onChange);
    await sleep(refreshMs, AbortSignal.any([signal, ended.signal]));
    changed.removeEventListener("change", onChange);
  }

  async function evaluate(signal: AbortSignal, lost: AbortSignal): Promise<void> {
    await whenReady(store, signal);
    const running = new AlertEvaluation({
      control,
      store,
      delivery,
      clock,
      logger,
      memory: new MemoryBudget(memoryBytes),
      timeoutMs: () => settings.evaluation_timeout_ms,
      places: settings.concurrent_evaluations,
      onEvaluation: (language, outcome, durationMs) => observer.countEvaluation(language, outcome, durationMs),
      onSkip: () => observer.countSkippedGroup(),
    });
    // Another server may hold the lock already.
    using _stopping = onAbort(signal, () => void running.stop());
    try {
      // The rules as of now: the states of those that do not exist are deleted.
      plannedAtMs = -Infinity;
      const planned = await currentPlan();
      // One organization after the other, since states may be large.
      for (const organizationId of await organizationsWithAlertStates(control)) {
        if (signal.aborted) return;
        await running.restore(await loadAlertStates(control, organizationId), planned);
      }
      await running.follow(planned.groups);
      evaluation = running;
      while (!signal.aborted) {
        await nextChange(signal);
        if (!signal.aborted) await running.follow((await currentPlan()).groups);
      }
    } finally {
      evaluation = undefined;
      await running.stop();
      // The server that takes over sends what is queued here. Deliveries end first, so that what was sent is saved.
      await delivery.reset();
      if (!lost.aborted) await running.save();
    }
  }

  const job = settings.enabled
    ? startSingletonJob({ control, name: "alerts", logger, run: evaluate })
    : { close: async () => {} };

  return {
    async ruleGroups(scope) {
      const { byOrganization } = await currentPlan();
      const planned = (byOrganization.get(scope.organizationId) ?? []).filter(
        ({ group }) => scope.namedProject === undefined || group.project === scope.namedProject,
      );
      const running = evaluation;
      if (running !== undefined) return planned.map((each) => reportOf(each, running.statesOf(each)));
      const states = await readStates(await loadAlertStates(control, scope.organizationId), logger);
      return planned.map((each) => reportOf(each, states.get(planKey(each.organization.id, each.key)) ?? new Map()));
    },
    async announce(organizationId, { annotations, labels, value }) {
      try {
        const organizations = await listActiveOrganizations(control);
        const organization = organizations.find(({ id }) => id === organizationId);
        if (organization === undefined) return;
        const nowMs = clock.now();
        const alert: Alert = {
          labels,
          annotations,
          state: "firing",
          value,
          activeAtMs: nowMs,
          firedAtMs: nowMs,
          resolvedAtMs: undefined,
          keepFiringSinceMs: undefined,
          sent: {},
        };
        const origin = {
          organization,
          groupKey: "budgets",
          intervalMs: announcedForMs,
          query: "",
          nowMs,
          onSent: () => {},
        };
        delivery.offer(new Map([[fingerprintOf(labels), alert]]), origin);
      } catch (error) {
        logger.error({ error, ...labels }, "an alert could not be sent");
      }
    },
    async reload(nextSettings, nextGroups) {
      settings = nextSettings;
      groups = nextGroups;
      await delivery.reload(nextSettings);
      replan();
    },
    async close() {
      await job.close();
      await delivery.close();
    },
  };
}
