import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { createRollups } from "../../src/store/rollups/rollup-statements.ts";
import { createTables, readableTables } from "../../src/store/table-statements.ts";
import { temporaryDirectory } from "./test-store.ts";

const statements = [...createTables({ cluster: "main" }), ...createRollups({ cluster: "main" })];

describe("on a cluster", () => {
  test("every statement runs on the whole cluster", () => {
    for (const statement of statements) {
      assert.match(statement, /^CREATE (?:TABLE|MATERIALIZED VIEW) IF NOT EXISTS \w+ ON CLUSTER 'main'/);
    }
  });

  test("the tables are replicated, each with a distributed table of the plain name in front", async () => {
    const directory = await temporaryDirectory();
    try {
      const script = fileURLToPath(new URL("cluster-process.ts", import.meta.url));
      const child = spawn(process.execPath, [script, directory], {
        stdio: ["ignore", "pipe", "inherit"],
        timeout: 60_000,
      });
      const [output] = await Promise.all([text(child.stdout), once(child, "close")]);
      const { parsed, engines } = JSON.parse(output) as { parsed: string[]; engines: Record<string, string> };
      assert.equal(parsed.length, statements.length);
      for (const query of parsed) assert.match(query, /^CreateQuery/);
      for (const name of readableTables({ cluster: undefined })) {
        assert.equal(engines[name], "Distributed", name);
        assert.match(engines[`${name}_local`]!, /^Replicated(?:Replacing|Aggregating)?MergeTree$/, name);
      }
      assert.equal(engines["trace_index_fill_local"], "MaterializedView");
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });

  test("a cluster name that could end a quotation is refused", () => {
    assert.throws(() => createTables({ cluster: "x' DROP" }), TypeError);
  });
});

describe("on one server", () => {
  test("the tables are plain, and otherwise the same", () => {
    const layout = { cluster: undefined };
    const single = [...createTables(layout), ...createRollups(layout)].join("\n");
    assert.doesNotMatch(single, /ON CLUSTER|Replicated|_local|Distributed/);
    const local = statements
      .filter((statement) => !statement.includes("ENGINE = Distributed"))
      .join("\n")
      .replaceAll(/ ON CLUSTER 'main'|_local|'\/clickhouse[^']*', '\{replica\}'(?:, )?/g, "")
      .replaceAll("Replicated", "");
    assert.equal(local, single.replaceAll(", non_replicated_deduplication_window = 1000", ""));
  });
});
