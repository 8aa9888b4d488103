/** Reads what is used of budgets as servers wrote it last, for processes that serve no requests. */
import { Budget, type BudgetDefinition } from "../limits/budgets/budget.ts";
import { shownValues, type BudgetUse } from "../limits/budgets/budgets.ts";
import { createBudgetLedger } from "./budget-ledger.ts";
import type { ControlDatabase } from "./control-database.ts";

export function recordedBudgets(control: ControlDatabase): (budget: BudgetDefinition) => Promise<BudgetUse> {
  const ledger = createBudgetLedger({ control, holder: "", alone: true });
  return async (budget) => {
    const { endMs, name, startMs } = new Budget(budget).periodAt(Date.now());
    return { startMs, endMs, ...(await ledger.read(budget.id, name, shownValues)) };
  };
}
