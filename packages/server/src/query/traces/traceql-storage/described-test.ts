/** Conditions on the resource or the scope that a row of `spans` refers to. */
import { callerOrganization, sql, type Statement } from "../../../store/statement.ts";
import { exactly, isExact, type Approximation, type Bound } from "./approximation.ts";

/** Whether the row's resource or scope fulfils a test. Few of them exist, so their rows are tested first. */
export function describedTest(id: Statement, table: Statement, test: Approximation): Approximation {
  const within = (bound: Bound): Bound => {
    if (typeof bound === "boolean") return bound;
    const condition = sql`organization = ${callerOrganization} AND ${bound}`;
    // An empty list makes the condition a constant, but only once the list is read: in HAVING, ClickHouse then fails with
    // ILLEGAL_COLUMN, because it has planned with a condition that is none.
    return sql`materialize(${id} GLOBAL IN (SELECT ${id} FROM ${table} WHERE ${condition}))`;
  };
  const may = within(test.may);
  return isExact(test) ? exactly(may) : { may, must: within(test.must) };
}
