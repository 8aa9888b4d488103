/** Serves the list of projects that an organization's telemetry names. */
import { listSeenProjects, signals, type SeenProjects } from "../../api/observability-projects.ts";
import { route, type Route } from "../../http/route.ts";
import { bind, callerOrganization, sql } from "../../store/statement.ts";
import type { Store, TenantReader } from "../../store/store.ts";
import { allOf, projectCondition } from "../conditions.ts";
import { openReader } from "../open-reader.ts";
import { projectOf } from "../project-filter.ts";

const maximumProjects = 10_000;

export function projectRoutes(store: Pick<Store, "open" | "state">): Route[] {
  return [
    route(listSeenProjects, async ({ scope, signal, memory }) => {
      const reader = openReader(store, { scope, memory });
      const data = await readProjects(reader, projectOf(scope, {}), signal);
      return { kind: "json", value: { organization_id: scope.organizationId, data } };
    }),
  ];
}

/** Tables whose rows name projects. Each statement reads one column, which the sort key or its few values keep small. */
const tableOf = { traces: sql`spans`, logs: sql`logs`, metrics: sql`series` } as const;

async function readProjects(
  reader: TenantReader,
  project: string | undefined,
  signal: AbortSignal,
): Promise<SeenProjects["data"]> {
  const names = await Promise.all(
    signals.map(async (each) => {
      const condition = allOf([sql`organization = ${callerOrganization}`, projectCondition(project)]);
      const rows = await reader.query<{ project: string }>(
        sql`SELECT DISTINCT project FROM ${tableOf[each]} WHERE ${condition} ORDER BY project LIMIT ${bind.uint32(maximumProjects)}`,
        { signal, duplicates: "kept" },
      );
      return new Set(rows.map((row) => row.project));
    }),
  );
  const all = [...new Set(names.flatMap((each) => [...each]))].sort((left, right) => (left < right ? -1 : 1));
  return all.slice(0, maximumProjects).map((name) => ({
    name,
    signals: signals.filter((_, index) => names[index]!.has(name)),
  }));
}
