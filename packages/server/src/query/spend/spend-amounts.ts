/** Sums of calls: costs in whole billionths, exact, and counts. */

export interface Amounts {
  /** Of the currency's unit. */
  readonly costBillionths: bigint;
  readonly calls: number;
  readonly unpricedCalls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
}

/** Calls with the same values, in one currency. */
export interface SpendGroup {
  /** By the position of the grouping. */
  readonly values: readonly string[];
  readonly currency: string;
  readonly keyName: string;
  readonly amounts: Amounts;
}

export const noAmounts: Amounts = {
  costBillionths: 0n,
  calls: 0,
  unpricedCalls: 0,
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
};

export function addAmounts(left: Amounts, right: Amounts): Amounts {
  return {
    costBillionths: left.costBillionths + right.costBillionths,
    calls: left.calls + right.calls,
    unpricedCalls: left.unpricedCalls + right.unpricedCalls,
    inputTokens: left.inputTokens + right.inputTokens,
    outputTokens: left.outputTokens + right.outputTokens,
    cacheReadTokens: left.cacheReadTokens + right.cacheReadTokens,
    cacheWriteTokens: left.cacheWriteTokens + right.cacheWriteTokens,
  };
}

const digits = 9;

/** Exact, without trailing zeros: `0.0509`. */
export function decimalOf(billionths: bigint): string {
  const text = String(billionths).padStart(digits + 1, "0");
  const fraction = text.slice(-digits).replace(/0+$/, "");
  return fraction === "" ? text.slice(0, -digits) : `${text.slice(0, -digits)}.${fraction}`;
}
