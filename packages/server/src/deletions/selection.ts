/**
 * Which rows a deletion selects. IDs of conversations and end users are compared as hashes, so that neither the control database
 * nor a statement has them.
 */
import { createHash } from "node:crypto";
import { spanAttributes } from "../telemetry/rows/known-attributes.ts";
import { endUserAttributes } from "../store/end-user-attributes.ts";
import type { ErasableTable } from "../store/erasure.ts";
import { bind, callerOrganization, join, sql, type Statement } from "../store/statement.ts";
import type { DeletionSelection } from "../tenancy/deletions.ts";

const timeColumns = {
  spans: sql`start_time`,
  span_details: sql`start_time`,
  logs: sql`time`,
  points: sql`time`,
  distribution_points: sql`time`,
  exemplars: sql`time`,
} as const;
type TimedTable = keyof typeof timeColumns;
/** Tables whose rows belong to a series, and so to its project. */
export const seriesTables = ["exemplars", "points", "distribution_points"] as const;

export function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

export function all(conditions: readonly Statement[]): Statement {
  return conditions.length === 0 ? sql`1` : sql`(${join(conditions, sql` AND `)})`;
}

export class SelectedRows {
  readonly #selection: DeletionSelection;

  constructor(selection: DeletionSelection) {
    this.#selection = selection;
  }

  /** Whether one conversation or end user is selected. */
  get isOfPerson(): boolean {
    return this.#selection.conversation_sha256 !== undefined || this.#selection.end_user_sha256 !== undefined;
  }

  get hasTimes(): boolean {
    return this.#selection.start !== undefined || this.#selection.end !== undefined;
  }

  get project(): string | undefined {
    return this.#selection.project_name;
  }

  /** The project and the times. Tables of points have no project: their series do. */
  base(table: ErasableTable): Statement {
    const { end, project_name: project, start } = this.#selection;
    const conditions: Statement[] = [];
    const hasProject = table in { spans: 1, span_details: 1, trace_index: 1, logs: 1, series: 1 };
    if (project !== undefined && hasProject) conditions.push(sql`project = ${bind.text(project)}`);
    if (table === "trace_index") {
      // A row that reaches beyond the range is of a trace with spans outside it.
      if (start !== undefined) conditions.push(sql`first_start >= ${bind.time(start)}`);
      if (end !== undefined) conditions.push(sql`last_start < ${bind.time(end)}`);
    } else if (table in timeColumns) {
      const column = timeColumns[table as TimedTable];
      if (start !== undefined) conditions.push(sql`${column} >= ${bind.time(start)}`);
      if (end !== undefined) conditions.push(sql`${column} < ${bind.time(end)}`);
    }
    return all(conditions);
  }

  /** Spans that name the person. */
  spans(): Statement {
    const { conversation_sha256: hash } = this.#selection;
    // The column has the best of several names; the others are among the attributes.
    const isOne =
      hash === undefined
        ? this.#describesPerson()
        : sql`(lower(hex(SHA256(session_id))) = ${bind.text(hash)} OR ${this.#describesPerson()})`;
    return all([this.base("spans"), isOne]);
  }

  /** The traces of the person. */
  traces(): Statement {
    return sql`SELECT trace_id FROM spans WHERE organization = ${callerOrganization} AND ${this.spans()}`;
  }

  /** Log records that name the person. */
  logs(): Statement {
    return all([this.base("logs"), this.#describesPerson()]);
  }

  /** Exemplars that name the person, which need not be of one of its traces. */
  exemplars(): Statement {
    return this.#attributesName();
  }

  /** Series of the project, or that name the person. */
  series(): Statement {
    return this.isOfPerson ? all([this.base("series"), this.#describesPerson()]) : this.base("series");
  }

  /** All selected rows of a table, for statements that read: it has subqueries. */
  of(table: Exclude<ErasableTable, "trace_index" | "resources" | "scopes">): Statement {
    const base = this.base(table);
    const isOfSeries = sql`series_id IN (SELECT series_id FROM series WHERE organization = ${callerOrganization} AND ${this.series()})`;
    if (table === "series") return this.series();
    if (table === "points" || table === "distribution_points")
      return this.isOfPerson || this.project !== undefined ? all([base, isOfSeries]) : base;
    if (!this.isOfPerson) return table === "exemplars" && this.project !== undefined ? all([base, isOfSeries]) : base;
    const isOfTrace = sql`(trace_id != '' AND trace_id IN (${this.traces()}))`;
    if (table === "exemplars") return all([base, sql`(${isOfTrace} OR ${isOfSeries} OR ${this.exemplars()})`]);
    return table === "logs" ? all([base, sql`(${isOfTrace} OR ${this.#describesPerson()})`]) : all([base, isOfTrace]);
  }

  /** Whether a row's attributes or those of its resource name the person. */
  #describesPerson(): Statement {
    const isNamed = this.#attributesName();
    return sql`(${isNamed} OR resource_id IN (SELECT resource_id FROM resources WHERE organization = ${callerOrganization} AND ${isNamed}))`;
  }

  #attributesName(): Statement {
    const { conversation_sha256: conversation, end_user_sha256: endUser = "" } = this.#selection;
    const names = conversation === undefined ? endUserAttributes : spanAttributes.session_id;
    return sql`arrayExists(value -> lower(hex(SHA256(value))) = ${bind.text(conversation ?? endUser)},
      mapValues(mapFilter((name, value) -> name IN ${bind.texts(names)}, attributes)))`;
  }
}
