/** Adds up the spend of several organizations. */
import { AppError } from "../../errors.ts";
import { inputLimit } from "../../input-limits.ts";
import { CooperativeYield } from "../../scheduling/cooperative-yield.ts";
import type { SpendSums } from "./read-spend.ts";
import { addAmounts, noAmounts, type Amounts, type SpendGroup } from "./spend-amounts.ts";
import type { SpendRequest } from "./spend-request.ts";

const mostGroups = inputLimit({
  area: "Logs, traces and metrics",
  bounds: "Groups of an operator's query of spend, of all organizations together",
  value: 10_000,
  error: "invalid_request",
});

export class MergedSpend {
  /** Those of one organization must be complete: a group's sum would lack what was left out. */
  readonly mostGroups = mostGroups;
  readonly #request: Pick<SpendRequest, "groupings" | "limit">;
  readonly #groups = new Map<string, SpendGroup>();
  readonly #totals = new Map<string, Amounts>();

  constructor(request: Pick<SpendRequest, "groupings" | "limit">) {
    this.#request = request;
  }

  /** @throws AppError invalid_request */
  async add(organizationId: string, { groups, isTruncated, totals }: SpendSums): Promise<void> {
    const yielder = new CooperativeYield();
    for (const { amounts, currency, keyName, values } of groups) {
      if (yielder.isDue()) await yielder.yield();
      const own = this.#request.groupings.map(({ dimension }, index) =>
        dimension === "organization" ? organizationId : values[index]!,
      );
      const id = JSON.stringify([currency, ...own]);
      const before = this.#groups.get(id)?.amounts ?? noAmounts;
      this.#groups.set(id, { values: own, currency, keyName, amounts: addAmounts(before, amounts) });
    }
    if (isTruncated || this.#groups.size > mostGroups) {
      throw new AppError(
        "invalid_request",
        `The organizations have more than ${mostGroups} groups. Group by less, or name one organization_id.`,
        { param: "by" },
      );
    }
    for (const [currency, amounts] of totals) {
      this.#totals.set(currency, addAmounts(this.#totals.get(currency) ?? noAmounts, amounts));
    }
  }

  /** Of a group by organization. */
  organizationOf({ values }: SpendGroup): string {
    return values[this.#request.groupings.findIndex(({ dimension }) => dimension === "organization")]!;
  }

  sums(): SpendSums {
    const { limit } = this.#request;
    const groups = [...this.#groups.values()].sort(byCost);
    return { groups: groups.slice(0, limit), isTruncated: groups.length > limit, totals: this.#totals };
  }
}

function byCost({ amounts: left }: SpendGroup, { amounts: right }: SpendGroup): number {
  if (left.costBillionths !== right.costBillionths) return left.costBillionths > right.costBillionths ? -1 : 1;
  return right.calls - left.calls;
}
