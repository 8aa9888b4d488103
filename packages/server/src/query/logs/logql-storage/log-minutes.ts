/** Sums of log entries by minute, in the form of rows of `logs`, so that conditions and labels are the same. */
import { sql } from "../../../store/statement.ts";

/** Their severity number says everything about the level. */
export const logMinuteRows = sql`(SELECT *, '' AS severity_text, 0 AS level FROM log_minutes) AS minutes`;
