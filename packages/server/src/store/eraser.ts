/**
 * Erases one organization's rows for good. Mutations rewrite the files without the rows; a lightweight delete would only hide
 * them until the next merge. docs/adr/0042-deletion-backup-and-move.md
 * https://clickhouse.com/docs/sql-reference/statements/alter/delete
 */
import { AppError } from "../errors.ts";
import type { Scope } from "../tenant.ts";
import { answerRows, answerText } from "./answer-text.ts";
import type { Connection, Settings } from "./connection.ts";
import type { Eraser } from "./erasure.ts";
import { callHoursName } from "./rollups/call-minutes.ts";
import { rollupTables, touchOrganization } from "./rollups/rollup-statements.ts";
import type { RollupSource } from "./rollups/rollup-tables.ts";
import { tables, type TableName } from "./schema.ts";
import { bind, callerOrganization, organizationParameterName, sql, type Statement } from "./statement.ts";
import { toReadError } from "./store-error.ts";
import { type Layout, onCluster, storedName } from "./table-layout.ts";
import { findSummedHours, invalidateRollups } from "./tenant-remover.ts";

export interface EraserParts {
  readonly connection: Connection;
  readonly layout: Layout;
  /** Resolves when the store has every row of the organization that is acknowledged now. */
  readonly requireVisible: (organizationId: string, signal: AbortSignal) => Promise<void>;
  readonly forgetDescriptions: (organizationId: string) => void;
}

/** Rewriting the files of a large table takes a while. A mutation continues if nobody waits for it. */
const timeoutMs = 3_600_000;
/** Hours in one statement. */
const hoursPerStatement = 20_000;

const sumsOf: Readonly<Record<RollupSource, readonly string[]>> = {
  spans: ["span_minutes"],
  logs: ["log_minutes"],
  calls: ["call_minutes", callHoursName],
  spend: ["spend_quarters"],
};
const sumTables = Object.values(sumsOf).flat();

interface Mutation {
  readonly table: string;
  readonly change: "DELETE" | `UPDATE days = ${number}`;
  readonly condition: Statement;
}

/** More are cheaper as one command over the whole table, whose text is shorter. */
const mostPartitions = 16;

/** The condition of the rows, and its parameters. It compares the organization whatever the mutation's condition says. */
function rowsOf(
  scope: Scope,
  condition: Statement,
): { readonly text: string; readonly parameters: Map<string, string> } {
  if (scope.organizationId === "") throw new AppError("internal", "Telemetry is erased for an organization only.");
  const where = sql`organization = ${callerOrganization} AND (${condition})`.render();
  where.parameters.set(organizationParameterName, scope.organizationId);
  return where;
}

/**
 * The statement and its parameters.
 * @param partitions those with matching rows; all if absent. Files of others are not touched.
 */
export function mutationStatement(
  layout: Layout,
  scope: Scope,
  { change, condition, partitions, table }: Mutation & { readonly partitions?: readonly string[] | undefined },
): { readonly text: string; readonly parameters: ReadonlyMap<string, string> } {
  const { parameters, text: where } = rowsOf(scope, condition);
  const commands = (partitions ?? [undefined]).map((partition) => {
    if (partition === undefined) return `${change} WHERE ${where}`;
    if (!/^[\w-]+$/.test(partition)) throw new AppError("internal", "The telemetry store named an unknown partition.");
    return `${change} IN PARTITION ID '${partition}' WHERE ${where}`;
  });
  return { text: `ALTER TABLE ${storedName(table, layout)}${onCluster(layout)} ${commands.join(", ")}`, parameters };
}

const remove = "DELETE";
const everything = sql`1`;

export function createEraser({ connection, layout, requireVisible, forgetDescriptions }: EraserParts): Eraser {
  // The rows are gone on every replica when the statement ends.
  const settings: Settings = {
    mutations_sync: 2,
    ...(layout.cluster === undefined ? {} : { distributed_ddl_task_timeout: timeoutMs / 1000 }),
  };
  /** Undefined on a cluster, where the replica that answers may lack rows that another one has. */
  const partitionsWith = async (
    scope: Scope,
    mutation: Mutation,
    signal: AbortSignal,
  ): Promise<string[] | undefined> => {
    if (layout.cluster !== undefined) return undefined;
    const { parameters, text: where } = rowsOf(scope, mutation.condition);
    const text = `SELECT DISTINCT _partition_id FROM ${mutation.table} WHERE ${where} FORMAT JSONCompactEachRow`;
    // Rows that lightweight deletes have hidden are to go, too.
    const rows = await answerRows<[string]>(connection, {
      text,
      parameters,
      settings: { apply_deleted_mask: 0 },
      signal,
      timeoutMs,
    });
    return rows.map(([partition]) => partition);
  };
  const mutate = async (scope: Scope, mutation: Mutation, signal: AbortSignal): Promise<void> => {
    const found = await partitionsWith(scope, mutation, signal);
    if (found?.length === 0) return;
    const partitions = found !== undefined && found.length <= mostPartitions ? found : undefined;
    const statement = mutationStatement(layout, scope, { ...mutation, partitions });
    await answerText(connection, { ...statement, settings, signal, timeoutMs });
  };
  const answersOf = async <Row extends readonly unknown[]>(
    text: string,
    parameters: ReadonlyMap<string, string>,
    signal: AbortSignal,
  ): Promise<Row[]> => answerRows<Row>(connection, { text, parameters, settings: {}, signal, timeoutMs });
  const eraseSums = async (scope: Scope, signal: AbortSignal): Promise<void> => {
    const touch = async (): Promise<void> => {
      const parameters = new Map([[organizationParameterName, scope.organizationId]]);
      const foreground = { distributed_foreground_insert: 1 };
      await answerText(connection, { text: touchOrganization, parameters, settings: foreground, signal, timeoutMs });
    };
    await touch();
    for (const table of sumTables) await mutate(scope, { table, change: remove, condition: everything }, signal);
    // Sums that were being made in the meantime are of no use.
    await touch();
  };
  const failing = async <Result>(signal: AbortSignal, work: () => Promise<Result>): Promise<Result> => {
    try {
      return await work();
    } catch (error) {
      throw toReadError(error, signal);
    }
  };

  return {
    forgetDescriptions,
    requireVisible: (scope, signal) => requireVisible(scope.organizationId, signal),
    async erase(scope, { table, condition, signal }) {
      await requireVisible(scope.organizationId, signal);
      await failing(signal, async () => {
        const summed =
          table === "spans" || table === "logs"
            ? await findSummedHours(connection, { scope, removal: { table, condition, signal } }, timeoutMs)
            : [];
        await invalidateRollups(connection, { scope, signal }, summed);
        await mutate(scope, { table, change: remove, condition }, signal);
        // After the rows: an hour may have been summed in the meantime.
        for (const { hours, source } of summed) {
          const starts = hours.map(([seconds]) => seconds);
          for (let first = 0; first < starts.length; first += hoursPerStatement) {
            const some = bind.uint64s(starts.slice(first, first + hoursPerStatement));
            const isSummed = sql`intDiv(toUnixTimestamp(minute), 3600) * 3600 IN ${some}`;
            for (const sums of sumsOf[source])
              await mutate(scope, { table: sums, change: remove, condition: isSummed }, signal);
          }
        }
        await invalidateRollups(connection, { scope, signal }, summed);
      });
      if (table in tables && tables[table as TableName].identity !== undefined)
        forgetDescriptions(scope.organizationId);
    },
    eraseSums: (scope, signal) => failing(signal, () => eraseSums(scope, signal)),
    eraseHours: (scope, signal) =>
      failing(signal, async () => {
        for (const table of rollupTables) await mutate(scope, { table, change: remove, condition: everything }, signal);
      }),
    async shortenRetention(scope, { condition, days, signal, tables: changed }) {
      await requireVisible(scope.organizationId, signal);
      const longer = {
        change: `UPDATE days = ${Math.trunc(days)}` as const,
        condition: sql`(${condition}) AND days > ${bind.uint32(days)}`,
      };
      const all = changed.flatMap((table): readonly string[] => (table === "sums" ? sumTables : [table]));
      await failing(signal, async () => {
        for (const table of all) await mutate(scope, { table, ...longer }, signal);
      });
    },
    now: (signal) =>
      failing(signal, async () => {
        const [row] = await answersOf<[number]>(
          "SELECT toUnixTimestamp(now()) FORMAT JSONCompactEachRow",
          new Map(),
          signal,
        );
        return Number(row?.[0]);
      }),
    hasOnlyFilesSince: (unixSeconds, signal) =>
      failing(signal, async () => {
        const { cluster } = layout;
        const parts = cluster === undefined ? "system.parts" : "clusterAllReplicas({cluster:String}, system.parts)";
        const [row] = await answersOf<[string]>(
          `SELECT count() FROM ${parts} WHERE database = currentDatabase() AND NOT active
            AND toUnixTimestamp(remove_time) <= {until:UInt32} AND table IN {tables:Array(String)} FORMAT JSONCompactEachRow`,
          new Map([
            ["until", String(unixSeconds)],
            [
              "tables",
              `[${allTables(layout)
                .map((name) => `'${name}'`)
                .join(",")}]`,
            ],
            ...(cluster === undefined ? [] : [["cluster", cluster] as const]),
          ]),
          signal,
        );
        return Number(row?.[0]) === 0;
      }),
  };
}

function allTables(layout: Layout): string[] {
  return [...Object.keys(tables), "trace_index", ...rollupTables].map((name) => storedName(name, layout));
}
