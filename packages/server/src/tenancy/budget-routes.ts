/** Routes of the admin API for budgets, under the rules of authority.ts. */
import {
  createBudgetOperation,
  deleteBudgetOperation,
  getBudgetOperation,
  listBudgetsOperation,
  updateBudgetOperation,
  type Budget,
} from "../api/budgets.ts";
import { json, route, type Route } from "../http/route.ts";
import type { BudgetUse } from "../limits/budgets/budgets.ts";
import { Budget as CountedBudget, type BudgetDefinition } from "../limits/budgets/budget.ts";
import { CooperativeYield, longStep } from "../scheduling/cooperative-yield.ts";
import type { Scope } from "../tenant.ts";
import { listedOrganization, namedOrganization, requireReach, requireWholeOrganization } from "./authority.ts";
import {
  budgetNotFound,
  createBudget,
  deleteBudget,
  getBudget,
  listBudgets,
  toBudgetObject,
  updateBudget,
  type StoredBudget,
} from "./budgets.ts";
import type { ControlDatabase } from "./control-database.ts";
import { pageRequest } from "./list-query.ts";

export interface BudgetRouteParts {
  readonly control: ControlDatabase;
  /** Of the server's prices; undefined: not known. */
  readonly currency: string | undefined;
  useOf(budget: BudgetDefinition): Promise<BudgetUse>;
}

const billionths = 1e9;

export function budgetRoutes({ control, currency, useOf }: BudgetRouteParts): readonly Route[] {
  const reachable = async (scope: Scope, path: Readonly<Record<string, string>>): Promise<StoredBudget> => {
    requireWholeOrganization(scope, "use budgets");
    const id = path["budget_id"] ?? "";
    const budget = await getBudget(control, id);
    requireReach(scope, budget.organizationId, budgetNotFound(id));
    return budget;
  };
  const shown = async (budget: StoredBudget, withValues = false): Promise<Budget> =>
    toObject(budget, await useOf(budget), withValues);
  return [
    route(listBudgetsOperation, async ({ query, scope }) => {
      requireWholeOrganization(scope, "use budgets");
      const organizationId = await listedOrganization(control, scope, query);
      const filter = { ...pageRequest(query), organizationId, name: query.get("name") ?? undefined };
      const { data, ...page } = await listBudgets(control, filter);
      const budgets: Budget[] = [];
      const yielder = new CooperativeYield();
      // One after the other: each reads the database that all organizations share, which for SQLite is work of this thread.
      for (const budget of data) {
        budgets.push(await shown(budget));
        if (yielder.isDue(longStep)) await yielder.yield();
      }
      return json({ ...page, data: budgets });
    }),
    route(createBudgetOperation, async ({ body, scope }) => {
      requireWholeOrganization(scope, "use budgets");
      const { organization_id, ...created } = body;
      const organizationId = (await namedOrganization(control, scope, organization_id)) ?? scope.organizationId;
      return json(
        await shown(await createBudget(control, organizationId, { created, currency, operator: scope.key.operator })),
        201,
      );
    }),
    route(getBudgetOperation, async ({ path, scope }) => json(await shown(await reachable(scope, path), true))),
    route(updateBudgetOperation, async ({ body, path, scope }) => {
      const { id, operator } = await reachable(scope, path);
      if (operator) scope.requireOperator("change a budget that an operator created");
      return json(await shown(await updateBudget(control, id, body)));
    }),
    route(deleteBudgetOperation, async ({ path, scope }) => {
      const budget = await shown(await reachable(scope, path));
      if (budget.operator) scope.requireOperator("delete a budget that an operator created");
      await deleteBudget(control, budget.id);
      return json(budget);
    }),
  ];
}

function toObject(stored: StoredBudget, { endMs, startMs, sum, values }: BudgetUse, withValues: boolean): Budget {
  const { isForEach } = new CountedBudget(stored);
  const use = ({ reserved, used }: BudgetUse["sum"], hasRemaining: boolean) => ({
    used: used / billionths,
    reserved: reserved / billionths,
    remaining: hasRemaining ? Math.max(0, stored.amount - used - reserved) / billionths : null,
  });
  return {
    ...toBudgetObject(stored),
    period_starts_at: startMs === undefined ? null : Math.floor(startMs / 1000),
    resets_at: endMs === Infinity ? null : Math.ceil(endMs / 1000),
    ...use(sum, !isForEach),
    ...(withValues && isForEach ? { values: values.map((each) => ({ value: each.value, ...use(each, true) })) } : {}),
  };
}
