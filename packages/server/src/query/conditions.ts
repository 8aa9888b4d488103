/** SQL conditions that several queries share. */
import { bind, join, sql, type Statement } from "../store/statement.ts";
import type { TimeRange } from "./time-window.ts";

/** All conditions joined with AND. At least one must be given. */
export function allOf(conditions: readonly (Statement | undefined)[]): Statement {
  return join(
    conditions.filter((condition) => condition !== undefined),
    sql` AND `,
  );
}

/** @param project undefined selects every project of the organization */
export function projectCondition(project: string | undefined): Statement | undefined {
  return project === undefined ? undefined : sql`project = ${bind.text(project)}`;
}

export function startTimeCondition({ fromUnixNano, toUnixNano }: TimeRange): Statement {
  return sql`start_time >= ${bind.time(fromUnixNano)} AND start_time <= ${bind.time(toUnixNano)}`;
}
