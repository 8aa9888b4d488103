/** Serves sums of what calls cost: of the caller's organization, and to operators of all. */
import { type Spend, querySpend, querySpendOfOrganizations } from "../../api/spend.ts";
import { incrementalJson } from "../../http/incremental-json.ts";
import { route, type Route } from "../../http/route.ts";
import type { ControlDatabase } from "../../tenancy/control-database.ts";
import { openOrganizationScopes } from "../../tenancy/job-scope.ts";
import type { Store } from "../../store/store.ts";
import { CooperativeYield } from "../../scheduling/cooperative-yield.ts";
import { openReader } from "../open-reader.ts";
import { projectOf } from "../project-filter.ts";
import { MergedSpend } from "./merged-spend.ts";
import { readSpend, type SpendSums } from "./read-spend.ts";
import { decimalOf, type Amounts, type SpendGroup } from "./spend-amounts.ts";
import { readSpendRequest, type SpendRequest } from "./spend-request.ts";

interface SpendParts {
  readonly store: Pick<Store, "open" | "state">;
  readonly control: ControlDatabase;
  /** Of amounts that were stored without one. */
  readonly currency: string;
}

/** Organizations that an operator's query reads at a time. */
const readAtOnce = 4;

export function spendRoutes({ control, currency, store }: SpendParts): Route[] {
  return [
    route(querySpend, async ({ body, memory, scope, signal }) => {
      const request = await readSpendRequest(body, projectOf(scope, body));
      const reader = openReader(store, { scope, memory });
      const sums = await readSpend(reader, { ...request, currency, signal });
      const { organizationId: id, key } = scope;
      return incrementalJson(
        await answerOf(request, sums, { id: () => id, names: new Map([[id, key.organizationName]]) }),
      );
    }),
    route(querySpendOfOrganizations, async ({ body, memory, scope, signal }) => {
      scope.requireOperator("read what the calls of every organization cost");
      const request = await readSpendRequest(body, body.project_name ?? undefined);
      const organizations = await openOrganizationScopes(control, {
        job: "spend",
        named: body.organization_id ?? undefined,
      });
      const merged = new MergedSpend(request);
      for (let first = 0; first < organizations.length; first += readAtOnce) {
        await Promise.all(
          organizations.slice(first, first + readAtOnce).map(async (each) => {
            const reader = openReader(store, { scope: each, memory });
            const search = { ...request, limit: merged.mostGroups, currency, signal };
            await merged.add(each.organizationId, await readSpend(reader, search));
          }),
        );
      }
      const names = new Map(organizations.map(({ key, organizationId }) => [organizationId, key.organizationName]));
      return incrementalJson(
        await answerOf(request, merged.sums(), { id: (group) => merged.organizationOf(group), names }),
      );
    }),
  ];
}

interface Organizations {
  /** Of a group by organization. */
  readonly id: (group: SpendGroup) => string;
  readonly names: ReadonlyMap<string, string>;
}

async function answerOf(request: SpendRequest, sums: SpendSums, organizations: Organizations): Promise<Spend> {
  const { days, fromMs, groupings, toMs } = request;
  const dates = new Map(request.dayStarts.map((start) => [String(start), days.dateAt(start * 1000)]));
  const yielder = new CooperativeYield();
  const groups: Row[] = [];
  for (const group of sums.groups) {
    groups.push(toRow(group, groupings, { dates, ...organizations }));
    if (yielder.isDue()) await yielder.yield();
  }
  return {
    object: "spend",
    start: new Date(fromMs).toISOString(),
    end: new Date(toMs).toISOString(),
    time_zone: days.zone,
    by: groupings.map(({ name }) => name),
    totals: [...sums.totals].map(([currency, amounts]) => toMembers(currency, amounts)),
    data: groupings.some(({ dimension }) => dimension === "day") ? groups.toSorted(byDay) : groups,
    truncated: sums.isTruncated,
  };
}

type Row = Spend["data"][number];

function byDay({ group: left }: Row, { group: right }: Row): number {
  const [first, second] = [left["day"]!, right["day"]!];
  return first === second ? 0 : first < second ? -1 : 1;
}

interface Labels extends Organizations {
  /** By the start of the day. */
  readonly dates: ReadonlyMap<string, string>;
}

function toRow(group: SpendGroup, groupings: SpendRequest["groupings"], { dates, id, names }: Labels): Row {
  const entries = groupings.map(({ dimension, name }, index): [string, string | null] => {
    const value = group.values[index]!;
    if (dimension === "day") return [name, dates.get(value) ?? null];
    if (dimension === "organization") return [name, id(group)];
    return [name, value === "" ? null : value];
  });
  const has = (dimension: string): boolean => groupings.some((each) => each.dimension === dimension);
  return {
    group: Object.fromEntries(entries),
    ...(has("key") ? { key_name: group.keyName === "" ? null : group.keyName } : {}),
    ...(has("organization") ? { organization_name: names.get(id(group)) ?? null } : {}),
    ...toMembers(group.currency, group.amounts),
  };
}

function toMembers(currency: string, amounts: Amounts): Spend["totals"][number] {
  return {
    currency,
    cost: decimalOf(amounts.costBillionths),
    calls: amounts.calls,
    unpriced_calls: amounts.unpricedCalls,
    input_tokens: amounts.inputTokens,
    output_tokens: amounts.outputTokens,
    cache_read_tokens: amounts.cacheReadTokens,
    cache_write_tokens: amounts.cacheWriteTokens,
  };
}
