/** What is used of a budget: what the ledger has, with what this process has not written yet. */
import type { BudgetAccount } from "./budget-account.ts";
import type { LedgerUse } from "./budget-ledger.ts";

interface Use {
  readonly sum: Omit<LedgerUse, "value">;
  readonly values: readonly LedgerUse[];
}

/** @param own accounts of this process, by value @param alone whether no other process counts */
export function withOwnUse({ sum, values }: Use, own: ReadonlyMap<string, BudgetAccount>, alone: boolean): Use {
  const rows = new Map(values.map((each) => [each.value, each]));
  let [used, reserved] = [sum.used, sum.reserved];
  for (const [value, account] of own) {
    const before = rows.get(value);
    const after = useOf(account, before, alone);
    if (before === undefined && after.used === 0 && after.reserved === 0) continue;
    rows.set(value, after);
    used += after.used - (before?.used ?? 0);
    reserved += after.reserved - (before?.reserved ?? 0);
  }
  const sorted = [...rows.values()].toSorted((left, right) => right.used - left.used);
  return { sum: { used, reserved }, values: sorted.slice(0, Math.max(values.length, 100)) };
}

function useOf(account: BudgetAccount, row: LedgerUse | undefined, alone: boolean): LedgerUse {
  const { value } = account.name;
  const written = row?.used ?? 0;
  if (!alone) {
    return { value, used: written + account.unwritten, reserved: Math.max(row?.reserved ?? 0, account.reserved) };
  }
  // Without a row, it may be one that is not among those that used most.
  const isExact = account.isKnown && row !== undefined;
  return { value, used: isExact ? account.used : written + account.unwritten, reserved: account.reserved };
}
