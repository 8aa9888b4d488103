/**
 * Runs the statements for a cluster in a ClickHouse configured as one (an in-memory keeper, one shard, one replica), prints
 * the results, and kills itself: such a keeper never releases its tables. `node cluster-process.ts FOLDER`
 */
import { writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { Session } from "chdb";
import { createRollups } from "../../src/store/rollups/rollup-statements.ts";
import { createTables } from "../../src/store/table-statements.ts";

const directory = process.argv[2]!;
const configPath = join(directory, "config.xml");
writeFileSync(
  configPath,
  `<clickhouse>
  <zookeeper><implementation>testkeeper</implementation></zookeeper>
  <macros><shard>01</shard><replica>r1</replica></macros>
  <remote_servers><main><shard><replica><host>127.0.0.1</host><port>9000</port></replica></shard></main></remote_servers>
</clickhouse>`,
);
const session = new Session(join(directory, "data"), { connectionArgs: [`--config-file=${configPath}`] });
const run = (text: string): string => session.query(text, "TSVRaw").trim();

const statements = [...createTables({ cluster: "main" }), ...createRollups({ cluster: "main" })];
// ON CLUSTER needs servers that listen: it is parsed, and the rest is run without it.
const parsed = statements.map((statement) => run(`EXPLAIN AST ${statement}`).split("\n")[0]!);
for (const statement of statements) run(statement.replace(" ON CLUSTER 'main'", ""));
const engines = run("SELECT name, engine FROM system.tables WHERE database = currentDatabase()")
  .split("\n")
  .map((line) => line.split("\t"));
writeSync(1, JSON.stringify({ parsed, engines: Object.fromEntries(engines) as Record<string, string> }));
process.kill(process.pid, "SIGKILL");
