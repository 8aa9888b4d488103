/** What is used and reserved of a budget, as a bar; and what the budget is for, in words. */
import type { Budget } from "../../api/budget-types.ts";
import { formatShare } from "../../design/format.ts";

export function BudgetBar({
  amount,
  use: { used, reserved },
  label,
}: {
  readonly amount: number;
  readonly use: { readonly used: number; readonly reserved: number };
  readonly label: string;
}) {
  const share = used / amount;
  const shown = Math.min(1, share);
  const held = Math.min(1 - shown, reserved / amount);
  return (
    <div
      class={`administration-bar parts ${share >= 1 ? "full" : share >= 0.8 ? "high" : ""}`}
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={amount}
      aria-valuenow={Math.min(amount, used)}
      aria-valuetext={`${formatShare(share)} used, ${formatShare(reserved / amount)} reserved`}
    >
      <span style={{ width: `${shown * 100}%` }} />
      <span class="reserved" style={{ width: `${held * 100}%` }} />
    </div>
  );
}

/** Complete: rounded amounts would hide what is left. */
export function money(amount: number, currency: string): string {
  return `${amount.toLocaleString("en-US", { maximumFractionDigits: 9 })} ${currency}`;
}

export const periodNames = { day: "a day", week: "a week", month: "a month", total: "in total" } as const;

export function subjectOf({ subject, tag, value }: Budget): string {
  if (subject === "organization") return "The organization";
  const name = tag === null ? subject : `tag ${tag}`;
  return value === null ? `Each ${name}` : `${name[0]!.toUpperCase()}${name.slice(1)} ${value}`;
}
