/** Evaluates the planned groups on this server, from when it takes the lock until it loses it. */
import { deleteAlertState, type StoredAlertState } from "../tenancy/alert-states.ts";
import { CooperativeYield } from "../scheduling/cooperative-yield.ts";
import type { ActiveOrganization } from "../tenancy/job-scope.ts";
import { endAlert } from "./advance-rule.ts";
import { planKey, type AlertPlan, type PlannedGroup } from "./alert-plan.ts";
import { GroupRun, type EvaluationParts } from "./group-run.ts";
import { GroupTimers } from "./group-timers.ts";
import { continueAfterPause, readStates } from "./restore-states.ts";
import type { RuleState } from "./rule-state.ts";

interface AlertEvaluationParts extends EvaluationParts {
  readonly places: number;
  readonly onSkip: () => void;
}

export interface EvaluationCounts {
  readonly pending: number;
  readonly firing: number;
  readonly failingRules: number;
}

export class AlertEvaluation {
  readonly #parts: AlertEvaluationParts;
  readonly #timers: GroupTimers;
  /** By `planKey`. */
  readonly #runs = new Map<string, GroupRun>();
  #isStopped = false;

  constructor(parts: AlertEvaluationParts) {
    const { clock, logger, onSkip, places } = parts;
    this.#parts = parts;
    this.#timers = new GroupTimers({
      clock,
      places,
      onSkip,
      onFailure: ({ id }, error) => logger.error({ error, group: id }, "a group of alert rules could not be evaluated"),
    });
  }

  /** Continues with the stored states of an organization; alerts of rules that no longer exist end. */
  async restore(rows: readonly StoredAlertState[], { groups, organizations }: AlertPlan): Promise<void> {
    const { clock, logger } = this.#parts;
    const yielder = new CooperativeYield();
    const stored = await readStates(rows, logger);
    for (const [key, states] of stored) {
      if (yielder.isDue()) await yielder.yield();
      if (this.#isStopped) return;
      const planned = groups.get(key);
      if (planned === undefined) continue;
      const { group, organization } = planned;
      for (const state of states.values()) continueAfterPause(state, clock.now(), group.intervalMs);
      await this.#contain(organization.id, () => this.#add(planned, states));
    }
    for (const row of rows) {
      if (this.#isStopped) return;
      const { organizationId, rule, ruleGroup } = row;
      const key = planKey(organizationId, ruleGroup);
      if (groups.get(key)?.group.rules.some((each) => each.key === rule) === true) continue;
      const state = stored.get(key)?.get(rule);
      const organization = organizations.get(organizationId);
      if (state !== undefined && organization !== undefined) {
        await this.#contain(organizationId, () => this.#end(state, row, organization));
      }
      await this.#forget(row);
    }
  }

  /** Follows a new plan: groups that changed continue with their states. */
  async follow(plan: ReadonlyMap<string, PlannedGroup>): Promise<void> {
    const yielder = new CooperativeYield();
    for (const [key, run] of this.#runs) {
      if (yielder.isDue()) await yielder.yield();
      if (this.#isStopped) return;
      const planned = plan.get(key);
      const { group, organization } = run.planned;
      if (planned?.group === group && planned.organization.name === organization.name) continue;
      await this.#contain(organization.id, () => this.#replace(key, run, planned));
    }
    for (const [key, planned] of plan) {
      if (this.#isStopped) return;
      if (!this.#runs.has(key)) await this.#contain(planned.organization.id, () => this.#add(planned, new Map()));
      if (yielder.isDue()) await yielder.yield();
    }
  }

  async #replace(key: string, run: GroupRun, planned: PlannedGroup | undefined): Promise<void> {
    await this.#timers.remove(key);
    if (this.#isStopped) return;
    this.#runs.delete(key);
    const states = run.statesByKey();
    if (planned !== undefined) this.#add(planned, states);
    const kept = new Set(planned?.group.rules.map((rule) => rule.key));
    run.end(kept);
    for (const rule of states.keys()) {
      if (kept.has(rule)) continue;
      await this.#forget({ organizationId: run.planned.organization.id, ruleGroup: run.planned.key, rule });
    }
  }

  /** A group that fails must not end the evaluation of the others. */
  async #contain(organizationId: string, step: () => void | Promise<void>): Promise<void> {
    try {
      await step();
    } catch (error) {
      this.#parts.logger.error({ error, organization_id: organizationId }, "a group of alert rules cannot be started");
    }
  }

  statesOf({ key, organization }: PlannedGroup): ReadonlyMap<string, RuleState> {
    return this.#runs.get(planKey(organization.id, key))?.statesByKey() ?? new Map();
  }

  counts(): EvaluationCounts {
    const counts = { pending: 0, firing: 0, failingRules: 0 };
    for (const { states } of this.#runs.values()) {
      for (const { alerts, health } of states) {
        if (health === "err") counts.failingRules += 1;
        for (const { state } of alerts.values()) if (state !== "inactive") counts[state] += 1;
      }
    }
    return counts;
  }

  /** Begins nothing from now on. Resolves once nothing runs. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#timers.close();
  }

  /** Call it once stopped, and only if this server still holds the lock, so that no other one writes the states. */
  async save(): Promise<void> {
    for (const run of this.#runs.values()) await run.saveChanges();
  }

  #add(planned: PlannedGroup, states: ReadonlyMap<string, RuleState>): void {
    const { group, key, organization } = planned;
    const id = planKey(organization.id, key);
    const run = new GroupRun(planned, this.#parts, states);
    this.#runs.set(id, run);
    this.#timers.add({
      id,
      organizationId: organization.id,
      intervalMs: group.intervalMs,
      run: (atMs, signal, inPlace) => run.evaluate(atMs, signal, inPlace),
    });
  }

  /** Resolves the alerts of a rule that was removed while no server evaluated it. */
  #end(state: RuleState, { ruleGroup }: StoredAlertState, organization: ActiveOrganization): void {
    const { clock, delivery } = this.#parts;
    for (const fingerprint of state.alerts.keys()) endAlert(state, fingerprint, clock.now());
    delivery.offer(state.alerts, {
      organization,
      groupKey: ruleGroup,
      intervalMs: 0,
      query: "",
      nowMs: clock.now(),
      onSent: () => {},
    });
  }

  async #forget(rule: Parameters<typeof deleteAlertState>[1]): Promise<void> {
    if (this.#isStopped) return;
    try {
      await deleteAlertState(this.#parts.control, rule);
    } catch (error) {
      this.#parts.logger.warn({ error }, "the state of an alert rule that no longer exists is not deleted");
    }
  }
}
