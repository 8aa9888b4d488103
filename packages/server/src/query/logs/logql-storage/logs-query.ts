/** Whose log entries a query reads. */
import type { YieldBudget } from "@sounding/promql/regex/yield-budget";
import type { TenantReader } from "../../../store/store.ts";

/** What every part of a running query needs. */
export interface Running {
  readonly signal: AbortSignal;
  readonly yieldBudget: YieldBudget;
}

export interface LogsQuery {
  readonly reader: TenantReader;
  /** The only project that may be read; undefined means every project of the organization. */
  readonly project: string | undefined;
}
