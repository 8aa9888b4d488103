/** Merges all parts of a table: indexes of texts are built then, and rows that were sent twice become one. */
import { join } from "node:path";
import { createConnection } from "../../src/store/connection.ts";
import { socketPathFor } from "../../src/store/embedded/socket-path.ts";
import type { TableName } from "../../src/store/schema.ts";
import { type TestStore, untilStored } from "../store/test-store.ts";

export async function mergeParts({ directory, store }: TestStore, table: TableName): Promise<void> {
  await untilStored(store);
  const connection = createConnection({
    url: "http://localhost",
    socketPath: await socketPathFor(join(directory, "telemetry")),
    database: "default",
    compression: false,
    spoolDirectory: join(directory, "telemetry", "spool"),
    maximumConnections: 1,
  });
  await connection.command(`OPTIMIZE TABLE ${table} FINAL`, AbortSignal.timeout(30_000));
  await connection.close();
}
