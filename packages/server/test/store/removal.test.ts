import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { AppError } from "../../src/errors.ts";
import { bind, sql } from "../../src/store/statement.ts";
import type { Store } from "../../src/store/store.ts";
import { removalStatement } from "../../src/store/tenant-remover.ts";
import { remotePassword, startRemoteServer, type RemoteServer } from "./remote-server.ts";
import { countSpans, numberedSpans, openTestStore, scopeOf, spanBatch, testSettings } from "./test-store.ts";
import { beforeTests } from "../../../../test/support/hooks.ts";

const signal = AbortSignal.timeout(120_000);

/** Deletes one of two batches of an organization that a neighbor has too. */
async function removeOne(store: Store): Promise<void> {
  for (const organization of ["org_a", "org_b"]) {
    await store.append(spanBatch(organization, numberedSpans("kept", 3)));
    await store.append(spanBatch(organization, numberedSpans(`gone' OR 1=1 --`, 4)));
  }
  const condition = sql`trace_id = ${bind.text("gone' OR 1=1 --")} OR trace_id = ${bind.text("none")}`;
  await store.remove(scopeOf("org_a"), { table: "spans", condition, signal });
  assert.deepEqual([...(await countSpans(store, "org_a")).keys()].toSorted(), ["kept-0", "kept-1", "kept-2"]);
  assert.equal((await countSpans(store, "org_b")).size, 7);
  await store.append(spanBatch("org_a", numberedSpans("later", 2)));
  assert.equal((await countSpans(store, "org_a")).size, 5);
}

describe("deleting rows", { timeout: 180_000 }, () => {
  let remote: RemoteServer;
  beforeTests(async (stack) => {
    remote = stack.use(await startRemoteServer());
  });
  const remoteSettings = () => ({
    ...testSettings,
    write_timeout_ms: 3000,
    clickhouse: { ...testSettings.clickhouse, url: remote.url, user: "sounding", password: remotePassword },
  });

  test("removes an organization's own rows only, from the embedded store", async () => {
    await using opened = await openTestStore();
    await removeOne(opened.store);
  });

  test("removes an organization's own rows only, from a ClickHouse server", async () => {
    await using opened = await openTestStore({ settings: remoteSettings() });
    await removeOne(opened.store);
  });

  test("fails like a query while the server is unreachable", async () => {
    await using opened = await openTestStore({ settings: remoteSettings() });
    remote.down = true;
    const removal = { table: "spans", condition: sql`true`, signal } as const;
    await assert.rejects(
      opened.store.remove(scopeOf("org_a"), removal),
      (error: unknown) => error instanceof AppError && error.code === "overloaded",
    );
    remote.down = false;
  });

  test("on a cluster deletes from the tables with rows, on all servers", () => {
    const { text, parameters } = removalStatement({
      layout: { cluster: "main" },
      scope: scopeOf("org_a"),
      removal: { table: "logs", condition: sql`project = ${bind.text("p")} OR true`, signal },
    });
    assert.equal(
      text,
      "DELETE FROM logs_local ON CLUSTER 'main' WHERE organization = {organization:String} AND (project = {p1:String} OR true)",
    );
    assert.deepEqual(
      [...parameters],
      [
        ["organization", "org_a"],
        ["p1", "p"],
      ],
    );
  });
});
