import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { BlockWriter } from "./block.ts";
import { ArrayColumn, type ColumnWriter, FixedColumn, MapColumn, StringColumn } from "./column-writers.ts";
import { joinBlocks } from "./join-blocks.ts";
import { tables } from "./schema.ts";
import type { Columns, TableDefinition } from "./table-definition.ts";

/** Writes the value of a row into every column; the seed determines values and lengths of lists. */
function writeRow(block: BlockWriter<Columns>, seed: number): void {
  for (const [index, name] of Object.keys(block.table.columns).entries()) {
    writeValue(block.columns[name] as ColumnWriter, seed * 31 + index);
  }
  block.endRow();
}

function writeValue(column: ColumnWriter, seed: number): void {
  if (column instanceof FixedColumn) column.unsigned(seed % 200);
  else if (column instanceof StringColumn) column.text("é".repeat(seed % 150));
  else if (column instanceof MapColumn) {
    for (let item = 0; item < seed % 3; item += 1) {
      column.keys.text(`key ${item}`);
      column.values.text(`value ${seed}`);
    }
    column.end();
  } else if (column instanceof ArrayColumn) {
    for (let item = 0; item < seed % 4; item += 1) writeValue(column.items, seed + item);
    column.end();
  } else throw new TypeError("an unknown column");
}

function blockOf(table: TableDefinition, seeds: readonly number[]): Buffer {
  const block = new BlockWriter<Columns>(table);
  for (const seed of seeds) writeRow(block, seed);
  return block.finish();
}

describe("joined blocks are the bytes of one block with all rows", () => {
  for (const table of Object.values(tables) as TableDefinition[]) {
    test(table.name, async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.array(fc.nat(10_000), { maxLength: 6 }), { minLength: 2, maxLength: 8 }),
          async (blocks) => {
            const joined = await joinBlocks(blocks.map((seeds) => blockOf(table, seeds)));
            assert.equal(joined.length, 1);
            assert.deepEqual(Buffer.from(joined[0]!), blockOf(table, blocks.flat()));
          },
        ),
        { numRuns: 30 },
      );
    });
  }
});

describe("blocks that stay as they are", () => {
  const small = blockOf(tables.logs, [1, 2, 3]);

  test("a single one, and one between large ones", async () => {
    const large = Buffer.alloc(200_000);
    assert.deepEqual(await joinBlocks([small]), [small]);
    assert.deepEqual(await joinBlocks([large, small, large]), [large, small, large]);
  });

  test("those with other columns, and bytes that are several blocks already", async () => {
    const withoutColumn: TableDefinition = {
      ...tables.logs,
      columns: Object.fromEntries(Object.entries(tables.logs.columns).filter(([name]) => name !== "event_name")),
    };
    const older = blockOf(withoutColumn, [4]);
    assert.deepEqual(await joinBlocks([small, older]), [small, older]);
    const several = Buffer.concat([small, small]);
    assert.deepEqual(await joinBlocks([small, several]), [small, several]);
  });

  test("joined blocks end at a mebibyte", async () => {
    const joined = await joinBlocks(Array.from({ length: 3000 }, () => small));
    assert.ok(joined.length > 1);
    assert.ok(joined.every(({ length }) => length <= 1_048_576));
  });
});
