/** Pieces of statements that several queries have. */
import { bind, join, sql, type Statement } from "../store/statement.ts";
import type { TimeRange } from "./time-window.ts";

/** That all conditions hold; there must be one. */
export function allOf(conditions: readonly (Statement | undefined)[]): Statement {
  return join(
    conditions.filter((condition) => condition !== undefined),
    sql` AND `,
  );
}

/** Undefined: every project of the organization. */
export function projectCondition(project: string | undefined): Statement | undefined {
  return project === undefined ? undefined : sql`project = ${bind.text(project)}`;
}

export function startTimeCondition({ fromUnixNano, toUnixNano }: TimeRange): Statement {
  return sql`start_time >= ${bind.time(fromUnixNano)} AND start_time <= ${bind.time(toUnixNano)}`;
}
