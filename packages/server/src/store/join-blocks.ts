/**
 * Joins small blocks of a table into larger ones: the store needs 0.4 ms of CPU time for each block, whatever its size, and small
 * requests are a block each. https://clickhouse.com/docs/interfaces/formats/Native
 */
import { CooperativeYield } from "../scheduling/cooperative-yield.ts";
import { BlockCursor, type ColumnPart, joinedParts } from "./block-shape.ts";
import { writeVarint } from "./column-writers.ts";

/** Larger blocks are not copied. */
const smallBlockBytes = 131_072;
/** A joined block is assembled without a pause. */
const joinedBytes = 1_048_576;

interface OpenedBlock {
  readonly rowCount: number;
  readonly columns: readonly {
    /** Name and type, as encoded. */
    readonly header: Buffer;
    readonly values: ColumnPart;
  }[];
}

/** The same rows in the same order, in fewer blocks. */
export async function joinBlocks(blocks: readonly Uint8Array[]): Promise<Uint8Array[]> {
  const joined: Uint8Array[] = [];
  const yielder = new CooperativeYield();
  let run: OpenedBlock[] = [];
  let runBytes = 0;
  const endRun = (): void => {
    if (run.length > 0) joined.push(joinedBlock(run));
    run = [];
    runBytes = 0;
  };
  for (const [index, block] of blocks.entries()) {
    const mayJoin = isSmall(block) && (isSmall(blocks[index - 1]) || isSmall(blocks[index + 1]));
    const opened = mayJoin ? openBlock(block) : undefined;
    if (opened === undefined) {
      endRun();
      joined.push(block);
      continue;
    }
    if (runBytes + block.length > joinedBytes || (run.length > 0 && !haveSameColumns(run[0]!, opened))) endRun();
    run.push(opened);
    runBytes += block.length;
    if (yielder.isDue()) await yielder.yield();
  }
  endRun();
  return joined;
}

function isSmall(block: Uint8Array | undefined): boolean {
  return block !== undefined && block.length <= smallBlockBytes;
}

/** Blocks of the journal may come from another version of the server. */
function haveSameColumns(left: OpenedBlock, right: OpenedBlock): boolean {
  return (
    left.columns.length === right.columns.length &&
    left.columns.every(({ header }, index) => header.equals(right.columns[index]!.header))
  );
}

/** Undefined if it is not one block of known columns; then the store reads it as it is. */
function openBlock(bytes: Uint8Array): OpenedBlock | undefined {
  const cursor = new BlockCursor(bytes);
  const columnCount = cursor.varint();
  const rowCount = cursor.varint();
  const columns: OpenedBlock["columns"][number][] = [];
  while (columns.length < columnCount) {
    const start = cursor.at;
    cursor.text();
    const type = cursor.text();
    const header = cursor.since(start);
    const values = cursor.column(type, rowCount);
    if (values === undefined) return undefined;
    columns.push({ header, values });
  }
  return cursor.isAtEnd ? { rowCount, columns } : undefined;
}

function joinedBlock(blocks: readonly OpenedBlock[]): Buffer {
  const { columns } = blocks[0]!;
  const start = Buffer.allocUnsafe(12);
  const rowCount = blocks.reduce((sum, block) => sum + block.rowCount, 0);
  const pieces: Uint8Array[] = [start.subarray(0, writeVarint(start, writeVarint(start, 0, columns.length), rowCount))];
  for (const [index, { header }] of columns.entries()) {
    pieces.push(header, ...joinedParts(blocks.map((block) => block.columns[index]!.values)));
  }
  return Buffer.concat(pieces);
}
