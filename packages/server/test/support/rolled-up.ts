/** Waits for rollups, which are made in the background. */
import { setTimeout as delay } from "node:timers/promises";
import { bind, callerOrganization, sql } from "../../src/store/statement.ts";
import type { Store } from "../../src/store/store.ts";
import type { RollupSource } from "../../src/store/rollups/rollup-tables.ts";
import { scopeOf } from "../store/test-store.ts";

const defaultWithinMs = 60_000;
/** A query takes as much of a processor as a rollup does. */
const pollMs = 250;

interface Awaited {
  readonly source: RollupSource;
  readonly organizations: readonly string[];
  readonly withinMs?: number;
}

/** Resolves once every past hour with rows has been summed since the last write to it. @throws Error after the time, by default a minute */
export async function untilRolledUp(
  store: Store,
  { organizations, source, withinMs = defaultWithinMs }: Awaited,
): Promise<void> {
  const endMs = performance.now() + withinMs;
  for (const organization of organizations) {
    while ((await staleHours(store, organization, source)) > 0) {
      if (performance.now() > endMs) throw new Error(`The ${source} of ${organization} were not rolled up in time.`);
      await delay(pollMs);
    }
  }
}

async function staleHours(store: Store, organization: string, source: RollupSource): Promise<number> {
  const rows = sql`organization = ${callerOrganization} AND source = ${bind.text(source)}`;
  const [found] = await store.open(scopeOf(organization)).query<{ stale: string }>(
    sql`SELECT countIf(touched > included) AS stale FROM (
        SELECT max(touched_unix_nano) AS touched, hour FROM row_touches WHERE ${rows} GROUP BY hour
      ) AS written LEFT JOIN (
        SELECT max(touched_unix_nano) AS included, hour FROM rollup_hours WHERE ${rows} GROUP BY hour
      ) AS summed USING (hour)
      WHERE hour + toIntervalHour(1) <= now()`,
  );
  return Number(found!.stale);
}
