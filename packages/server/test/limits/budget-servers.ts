/** Servers that count budgets in one control database, without HTTP: they can crash, and lose answers of the database. */
import { randomUUID } from "node:crypto";
import type { BudgetCreate } from "../../src/api/budgets.ts";
import { AppError } from "../../src/errors.ts";
import type { BudgetHold } from "../../src/limits/budgets/budget-hold.ts";
import type { BudgetLedger } from "../../src/limits/budgets/budget-ledger.ts";
import { Budgets, type ReachedThreshold } from "../../src/limits/budgets/budgets.ts";
import { silentLogger } from "../../src/logger.ts";
import { createBudgetLedger } from "../../src/tenancy/budget-ledger.ts";
import { createBudget, loadBudgets, type StoredBudget } from "../../src/tenancy/budgets.ts";
import type { ControlDatabase } from "../../src/tenancy/control-database.ts";
import { createOrganization } from "../../src/tenancy/organizations.ts";
import { Scope } from "../../src/tenant.ts";

export const billionths = 1e9;

/** An organization with budgets, and the clock of its servers. */
export class BudgetFleet {
  readonly control: ControlDatabase;
  readonly organizationId: string;
  /** UNIX milliseconds. */
  nowMs = Date.parse("2026-11-28T12:00:00Z");

  private constructor(control: ControlDatabase, organizationId: string) {
    this.control = control;
    this.organizationId = organizationId;
  }

  static async create(control: ControlDatabase): Promise<BudgetFleet> {
    const { id } = await createOrganization(control, { name: `fleet ${randomUUID()}` });
    return new BudgetFleet(control, id);
  }

  /** An organization that exists. */
  static of(control: ControlDatabase, organizationId: string): BudgetFleet {
    return new BudgetFleet(control, organizationId);
  }

  budget(members: Omit<BudgetCreate, "name">): Promise<StoredBudget> {
    const created = { name: `budget ${randomUUID()}`, ...members };
    return createBudget(this.control, this.organizationId, { created, currency: "USD", operator: false });
  }

  server(options: { readonly alone?: boolean; readonly intervalMs?: number } = {}): Promise<BudgetServer> {
    return BudgetServer.open(this, options);
  }

  scope(keyId: string): Scope {
    return Scope.fromKey({
      keyId,
      keyName: keyId,
      organizationId: this.organizationId,
      organizationName: "fleet",
      operator: false,
      projectName: undefined,
      permissions: new Set(["inference"]),
      keyLimits: {},
      limitsKeyId: keyId,
      organizationLimits: {},
      allowedModels: undefined,
    });
  }
}

export class BudgetServer {
  readonly #fleet: BudgetFleet;
  readonly budgets: Budgets;
  readonly reached: readonly ReachedThreshold[];
  readonly #faults: { isDead: boolean; losesAnswers: boolean };

  private constructor(
    fleet: BudgetFleet,
    parts: Pick<BudgetServer, "budgets" | "reached">,
    faults: { isDead: boolean; losesAnswers: boolean },
  ) {
    this.#fleet = fleet;
    this.budgets = parts.budgets;
    this.reached = parts.reached;
    this.#faults = faults;
  }

  static async open(
    fleet: BudgetFleet,
    { alone = false, intervalMs = 3_600_000 }: { readonly alone?: boolean; readonly intervalMs?: number },
  ) {
    const { control } = fleet;
    const now = (): number => fleet.nowMs;
    const inner = createBudgetLedger({ control, holder: randomUUID(), alone, now });
    const faults = { isDead: false, losesAnswers: false };
    const ledger: BudgetLedger = {
      read: (...query) => inner.read(...query),
      async exchange(requests) {
        if (faults.isDead) throw new Error("The process has ended.");
        const answers = await inner.exchange(requests);
        if (!faults.losesAnswers) return answers;
        faults.losesAnswers = false;
        throw new Error("The answer was lost.");
      },
    };
    const reached: ReachedThreshold[] = [];
    const budgets = await Budgets.open({
      ledger,
      load: async () =>
        (await loadBudgets(control)).filter(({ organizationId }) => organizationId === fleet.organizationId),
      alone,
      currency: "USD",
      logger: silentLogger,
      targetsOf: (model) => ({ root: model, targets: [] }),
      mostCost: (_payer, _targets, { usage }) => usage.characters,
      onThreshold: (each) => reached.push(each),
      now,
      intervalMs,
    });
    return new BudgetServer(fleet, { budgets, reached }, faults);
  }

  /** @param most billionths @returns the code of the refusal instead */
  async reserve(
    most: number,
    { endUser, keyId = "key" }: { readonly endUser?: string; readonly keyId?: string } = {},
  ): Promise<BudgetHold | string> {
    try {
      const call = { model: "m", endUser, usage: { characters: most } };
      const hold = await this.budgets.reserve(this.#fleet.scope(keyId), call);
      if (hold === undefined) throw new Error("No budget applies.");
      return hold;
    } catch (error) {
      if (error instanceof AppError) return error.code;
      throw error;
    }
  }

  /** The next exchange with the database is applied, and its answer does not arrive. */
  loseAnswer(): void {
    this.#faults.losesAnswers = true;
  }

  /** Nothing is written any more. */
  crash(): void {
    this.#faults.isDead = true;
  }
}
