/** A group of alert rules for one organization: evaluates its rules, keeps their states, and passes alerts to the receivers. */
import { AppError, toAppError } from "../errors.ts";
import type { Logger } from "../logger.ts";
import type { MemoryBudget } from "../memory-budget.ts";
import { Budget, defaultLimits } from "@sounding/promql/evaluate/budget";
import { CooperativeYield } from "../scheduling/cooperative-yield.ts";
import { RequestCost, runWithCost } from "../scheduling/request-cost.ts";
import type { Store } from "../store/store.ts";
import { saveAlertState, type AlertRuleId } from "../tenancy/alert-states.ts";
import type { ControlDatabase } from "../tenancy/control-database.ts";
import { openJobScope } from "../tenancy/job-scope.ts";
import type { Scope } from "../tenant.ts";
import type { PlannedGroup } from "./alert-plan.ts";
import { advanceRule, endAlert, type Changes } from "./advance-rule.ts";
import type { Clock } from "./clock.ts";
import type { InPlace } from "./group-timers.ts";
import type { AlertDelivery } from "./delivery/alert-delivery.ts";
import { evaluateQuery } from "./evaluate-query.ts";
import { alertsAreActive, newRuleState, shiftTimes, writeRuleState, type RuleState } from "./rule-state.ts";
import { limitOf, type AlertRule } from "../alert-rules/compile-group.ts";

/** The name of the job, in place of a key. */
export const alertJob = "job:alerts";

function timedOut(timeoutMs: number): AppError {
  return new AppError("timeout", `query timed out in expression evaluation after ${timeoutMs} ms`);
}

/** What the evaluation of groups needs, and what it reports. */
export interface EvaluationParts {
  readonly control: ControlDatabase;
  readonly store: Pick<Store, "open" | "state">;
  readonly delivery: AlertDelivery;
  readonly memory: MemoryBudget;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly timeoutMs: () => number;
  readonly onEvaluation: (language: string, outcome: "success" | "failure", durationMs: number) => void;
}

/** A difference between the clocks that is a step, not drift. */
const smallestStepMs = 2000;
/** Other servers show the states as they were saved. */
const savedEveryMs = 15_000;

export class GroupRun {
  readonly planned: PlannedGroup;
  /** In the order of the rules. */
  readonly states: readonly RuleState[];
  readonly #parts: EvaluationParts;
  /** By rule: when its state was saved, and whether it changed since. */
  readonly #saved: { isOutdated: boolean; readonly atMs: number }[];
  #clocks: { readonly now: number; readonly monotonic: number } | undefined;

  /** @param stored the states of the rules, by the rules' keys */
  constructor(planned: PlannedGroup, parts: EvaluationParts, stored: ReadonlyMap<string, RuleState>) {
    this.planned = planned;
    this.#parts = parts;
    this.states = planned.group.rules.map(({ key }) => stored.get(key) ?? newRuleState());
    this.#saved = planned.group.rules.map(() => ({ isOutdated: false, atMs: -Infinity }));
    for (const [index, state] of this.states.entries()) this.#offer(index, state);
  }

  /** The states by the rules' keys, to continue with another definition of the group. */
  statesByKey(): Map<string, RuleState> {
    return new Map(this.planned.group.rules.map(({ key }, index) => [key, this.states[index]!]));
  }

  /** Resolves what fires, except of rules that continue. */
  end(continued: ReadonlySet<string>): void {
    const atMs = this.#parts.clock.now();
    for (const [index, state] of this.states.entries()) {
      if (continued.has(this.planned.group.rules[index]!.key)) continue;
      for (const fingerprint of state.alerts.keys()) endAlert(state, fingerprint, atMs);
      this.#offer(index, state);
    }
  }

  /** Evaluates the rules one after the other. Rejects only if the signal fires. */
  async evaluate(atMs: number, signal: AbortSignal, inPlace: InPlace): Promise<void> {
    this.#followClock();
    let scope: Scope | AppError | undefined;
    for (const [index, rule] of this.planned.group.rules.entries()) {
      await inPlace(async () => {
        scope ??= await this.#openScope();
        signal.throwIfAborted();
        await this.#evaluateRule(rule, index, { atMs, scope, signal });
        signal.throwIfAborted();
        await this.#save(index);
      });
    }
  }

  /** An organization that is archived or a database that fails is the result of every rule. */
  async #openScope(): Promise<Scope | AppError> {
    const { group, organization } = this.planned;
    try {
      const request = { job: alertJob, organizationId: organization.id, project: group.project };
      return (
        (await openJobScope(this.#parts.control, request)) ??
        new AppError("not_found", "The organization has been archived.")
      );
    } catch (error) {
      return toAppError(error);
    }
  }

  async #evaluateRule(
    rule: AlertRule,
    index: number,
    { atMs, scope, signal }: { atMs: number; scope: Scope | AppError; signal: AbortSignal },
  ): Promise<void> {
    const { clock, logger, memory, onEvaluation, store } = this.#parts;
    const { group, organization } = this.planned;
    const state = this.states[index]!;
    const startMs = performance.now();
    const timeoutMs = this.#parts.timeoutMs();
    const deadline = AbortSignal.timeout(timeoutMs);
    const charge = memory.open(organization.id);
    const cost = new RequestCost("evaluateAlertRule");
    // The evaluations of all organizations share one turn among the organizations whose requests are served.
    cost.organizationId = alertJob;
    const before = state.health;
    try {
      if (scope instanceof AppError) throw scope;
      const changes = await runWithCost(cost, async () => {
        const yielder = new CooperativeYield();
        const limited = AbortSignal.any([signal, deadline]);
        const run = { query: rule.query, store, scope, timeoutMs, memory: charge, yielder, signal: limited };
        const samples = await evaluateQuery({ ...run, atMs: atMs - group.queryOffsetMs });
        const budget = new Budget({ ...defaultLimits, timeoutMs }, signal, { yielder });
        return advanceRule(state, { rule, samples, atMs, limit: limitOf(group), budget });
      });
      state.health = "ok";
      state.lastError = undefined;
      this.#note(index, changes);
    } catch (error) {
      signal.throwIfAborted();
      const failure = deadline.aborted ? timedOut(timeoutMs) : toAppError(error);
      state.health = "err";
      state.lastError = failure.message;
      if (before !== "err") {
        logger.warn({ error, ...this.#names(index) }, "an alert rule cannot be evaluated; its alerts stay as they are");
      }
    } finally {
      charge.release();
      cost.end();
    }
    if (before !== state.health) this.#saved[index]!.isOutdated = true;
    if (before === "err" && state.health === "ok") {
      logger.info(this.#names(index), "the alert rule can be evaluated again");
    }
    state.evaluationMs = performance.now() - startMs;
    state.lastEvaluationMs = clock.now();
    onEvaluation(rule.query.language, state.health === "ok" ? "success" : "failure", state.evaluationMs);
    // Also after a failure: a receiver that hears nothing takes an alert for resolved.
    this.#offer(index, state);
  }

  #note(index: number, changes: Changes): void {
    if (Object.values(changes).every((count) => count === 0)) return;
    this.#saved[index]!.isOutdated = true;
    if (changes.firing + changes.resolved > 0) {
      const { firing, pending, resolved } = changes;
      this.#parts.logger.info({ ...this.#names(index), firing, pending, resolved }, "alerts changed");
    }
  }

  #names(index: number): { organization_id: string; group: string; alert: string } {
    return {
      organization_id: this.planned.organization.id,
      group: this.planned.group.name,
      alert: this.planned.group.rules[index]!.name,
    };
  }

  /** A failure is logged; it must not end the evaluation. */
  #offer(index: number, state: RuleState): void {
    const { clock, delivery, logger } = this.#parts;
    const { group, organization } = this.planned;
    try {
      delivery.offer(state.alerts, {
        organization,
        groupKey: this.planned.key,
        intervalMs: group.intervalMs,
        query: group.rules[index]!.queryText,
        nowMs: clock.now(),
        onSent: () => {
          this.#saved[index]!.isOutdated = true;
        },
      });
    } catch (error) {
      logger.error({ error, ...this.#names(index) }, "the alerts of a rule cannot be queued for the receivers");
    }
  }

  /** A clock that was set moves the times of the alerts along, so that `for` and the like measure the time that passed. */
  #followClock(): void {
    const { clock, logger } = this.#parts;
    const clocks = { now: clock.now(), monotonic: clock.monotonic() };
    const last = this.#clocks;
    this.#clocks = clocks;
    if (last === undefined) return;
    const stepMs = Math.round(clocks.now - last.now - (clocks.monotonic - last.monotonic));
    if (Math.abs(stepMs) < smallestStepMs) return;
    for (const [index, state] of this.states.entries()) {
      if (state.alerts.size > 0) this.#saved[index]!.isOutdated = true;
      shiftTimes(state, stepMs);
    }
    logger.warn(
      { step_ms: stepMs, group: this.planned.group.name },
      "the clock was set; the times of alerts follow it",
    );
  }

  /** Saves what changed since it was saved. */
  async saveChanges(): Promise<void> {
    for (const [index, { isOutdated }] of this.#saved.entries()) if (isOutdated) await this.#save(index);
  }

  /** A failure is logged; the next evaluation tries again. */
  async #save(index: number): Promise<void> {
    const { clock, control, logger } = this.#parts;
    const saved = this.#saved[index]!;
    const state = this.states[index]!;
    // Without other servers, only what must survive a restart is written.
    const isAwaited = control.kind === "postgres" || alertsAreActive(state);
    const nowMs = clock.monotonic();
    if (!saved.isOutdated && !(isAwaited && nowMs - saved.atMs > savedEveryMs)) return;
    const current = { isOutdated: false, atMs: nowMs };
    this.#saved[index] = current;
    try {
      await saveAlertState(control, { ...this.#ruleId(index), state: writeRuleState(state) });
    } catch (error) {
      current.isOutdated = true;
      logger.warn({ error, ...this.#names(index) }, "the state of an alert rule is not saved");
    }
  }

  #ruleId(index: number): AlertRuleId {
    const { group, key, organization } = this.planned;
    return { organizationId: organization.id, ruleGroup: key, rule: group.rules[index]!.key };
  }
}
