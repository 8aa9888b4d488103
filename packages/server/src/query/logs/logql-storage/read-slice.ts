/** Reads the rows of one slice, unless they need more memory than a slice may have. */
import { AppError } from "../../../errors.ts";
import type { ColumnBlock } from "../../../store/native-reader.ts";
import type { Statement } from "../../../store/statement.ts";
import type { QueryOptions, TenantReader } from "../../../store/store.ts";
import type { LogPosition } from "../log-position.ts";

export interface SliceRequest extends Required<Pick<QueryOptions, "memory" | "signal">> {
  readonly reader: TenantReader;
  readonly statement: Statement;
  readonly limit: number;
}

/** The rows with the columns of entry-columns.ts, in the order of the query. */
export interface SliceRows {
  readonly count: number;
  readonly blocks: readonly ColumnBlock[];
  /** Undefined without rows. */
  readonly last: LogPosition | undefined;
}

const mostBytes = 8_388_608;

/** @returns too-large if the rows are more than one and need too much memory: then fewer are to be read at a time */
export async function readSlice({
  limit,
  memory,
  reader,
  signal,
  statement,
}: SliceRequest): Promise<SliceRows | "too-large"> {
  let bytes = 0;
  const add = (more: number): void => {
    bytes += more;
    if (bytes > mostBytes && limit > 1) throw new AppError("payload_too_large", "The slice is too large.");
    memory!.add(more);
  };
  try {
    const blocks = await reader.columns(statement, { signal, memory: { add }, duplicates: "kept" });
    const count = blocks.reduce((sum, { rowCount }) => sum + rowCount, 0);
    return { count, blocks, last: lastOf(blocks) };
  } catch (error) {
    if (bytes > mostBytes && limit > 1 && !signal!.aborted) return "too-large";
    throw error;
  }
}

function lastOf(blocks: readonly ColumnBlock[]): LogPosition | undefined {
  const block = blocks.at(-1);
  if (block === undefined) return undefined;
  const { columns, rowCount } = block;
  const at = rowCount - 1;
  return {
    unixNano: String((columns.get("unix_nano") as BigInt64Array)[at]),
    recordId: String((columns.get("record_id") as BigUint64Array)[at]),
    project: (columns.get("project") as readonly string[])[at]!,
  };
}
