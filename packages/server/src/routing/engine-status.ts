/** Describes the engines for the operator: where each comes from, and whether it listed its models. */
import type { AppError } from "../errors.ts";
import type { Discovery } from "./discovery.ts";
import type { RouteTable } from "./route-table.ts";

export interface EngineStatus {
  readonly name: string;
  readonly type: string;
  /** Whether it is in the configuration, under `engines`. */
  readonly configured: boolean;
  /** Number of models that it listed; undefined if it never did. */
  readonly models: number | undefined;
  /** Why it did not list them at the last look. */
  readonly failure: AppError | undefined;
}

/** The engines by name, without discovered ones that do not respond. */
export function engineStatuses(table: RouteTable, discovery: Discovery): readonly EngineStatus[] {
  const engines = [...table.engines].filter(
    ([, { pooled, optional, twin }]) => !twin && !(optional && discovery.modelsOf(pooled) === undefined),
  );
  const statuses = engines.map(([name, { pooled, implicit }]) => ({
    name,
    type: pooled.settings.type,
    configured: !implicit,
    models: discovery.modelsOf(pooled)?.length,
    failure: discovery.failureOf(pooled),
  }));
  return statuses.sort((a, b) => (a.name < b.name ? -1 : 1));
}
