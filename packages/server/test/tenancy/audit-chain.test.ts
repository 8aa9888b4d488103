import assert from "node:assert/strict";
import { after, test } from "node:test";
import { sql } from "kysely";
import { silentLogger } from "../../src/logger.ts";
import { appendEntries, systemEntry } from "../../src/tenancy/audit/chain.ts";
import { Act, runAct } from "../../src/tenancy/audit/current-act.ts";
import { AuditTrail } from "../../src/tenancy/audit/audit-trail.ts";
import { firstHash, hashOf, noObject, systemActor, type AuditRow } from "../../src/tenancy/audit/entry.ts";
import { pruneEvents } from "../../src/tenancy/audit/prune-events.ts";
import { verifyChain } from "../../src/tenancy/audit/verify-chain.ts";
import { openControlDatabase, type ControlDatabase } from "../../src/tenancy/control-database.ts";
import { createOrganization, listOrganizations } from "../../src/tenancy/organizations.ts";
import { failure, onEachDatabase } from "./each-database.ts";

const signal = new AbortController().signal;

async function append(control: ControlDatabase, count: number, action = "test"): Promise<void> {
  await control.write((transaction) =>
    appendEntries(
      transaction,
      Array.from({ length: count }, (_, index) => systemEntry(action, { index })),
    ),
  );
}

async function problems(control: ControlDatabase, anchor?: { sequence: number; hash: string }): Promise<string[]> {
  const { problems: found, valid } = await verifyChain(control, { anchor, signal });
  assert.equal(valid, found.length === 0);
  return found.map(({ kind, sequence }) => `${kind} ${sequence}`);
}

function rowsOf(control: ControlDatabase): Promise<AuditRow[]> {
  return control.read((database) => database.selectFrom("audit_events").selectAll().orderBy("sequence").execute());
}

function rename(control: ControlDatabase, sequence: number, changes: Partial<AuditRow>): Promise<unknown> {
  return control.write((transaction) =>
    transaction.updateTable("audit_events").set(changes).where("sequence", "=", sequence).execute(),
  );
}

/** Makes the rows from this one on consistent again, as somebody who knows the program would. */
async function rehash(control: ControlDatabase, from: number, withHead: boolean): Promise<void> {
  let previous = firstHash;
  for (const row of await rowsOf(control)) {
    if (row.sequence < from) previous = row.hash;
    else {
      const linked = { ...row, previous_hash: previous };
      previous = hashOf(linked);
      await rename(control, row.sequence, { previous_hash: linked.previous_hash, hash: previous });
    }
  }
  if (!withHead) return;
  const { sequence } = (await rowsOf(control)).at(-1)!;
  await control.write((transaction) =>
    transaction.updateTable("audit_head").set({ sequence, hash: previous }).execute(),
  );
}

/** Ways to tamper with a log of ten entries, and what is found. */
const tamperings: readonly (readonly [string, (control: ControlDatabase) => Promise<unknown>, readonly string[]])[] = [
  ["changed in place", (control) => rename(control, 4, { action: "other" }), ["changed 4"]],
  [
    "changed with its hash",
    async (control) => {
      await rename(control, 4, { action: "other" });
      const row = (await rowsOf(control))[3]!;
      await rename(control, 4, { hash: hashOf(row) });
    },
    ["unlinked 5"],
  ],
  [
    "changed with all hashes after it",
    async (control) => {
      await rename(control, 4, { action: "other" });
      await rehash(control, 4, false);
    },
    ["end 10"],
  ],
  ["removed", (control) => remove(control, [4]), ["missing 5"]],
  [
    "removed and the others moved up",
    async (control) => {
      await remove(control, [4]);
      for (let sequence = 5; sequence <= 10; sequence += 1) await rename(control, sequence, { sequence: sequence - 1 });
    },
    ["unlinked 4", "changed 4", "changed 5", "changed 6", "changed 7", "changed 8", "changed 9", "end 9"],
  ],
  [
    "reordered",
    async (control) => {
      await rename(control, 4, { sequence: 99 });
      await rename(control, 5, { sequence: 4 });
      await rename(control, 99, { sequence: 5 });
    },
    ["unlinked 4", "changed 4", "unlinked 5", "changed 5", "unlinked 6"],
  ],
  ["removed at the beginning", (control) => remove(control, [1, 2]), ["missing 3"]],
  [
    "removed at the beginning, as if pruned",
    async (control) => {
      const [, second] = await rowsOf(control);
      await remove(control, [1, 2]);
      await control.write((transaction) =>
        transaction.updateTable("audit_head").set({ pruned_sequence: 2, pruned_hash: second!.hash }).execute(),
      );
    },
    ["start 2"],
  ],
  ["removed at the end", (control) => remove(control, [9, 10]), ["end 8"]],
  [
    "inserted at the end",
    async (control) => {
      const last = (await rowsOf(control)).at(-1)!;
      const added = { ...last, id: "aud_x", sequence: 11, previous_hash: last.hash };
      await control.write((transaction) =>
        transaction
          .insertInto("audit_events")
          .values({ ...added, hash: hashOf(added) })
          .execute(),
      );
      assert.equal((await failure(() => append(control, 1))).code, "internal");
    },
    ["end 10"],
  ],
  [
    "without the head",
    (control) => control.write((transaction) => transaction.deleteFrom("audit_head").execute()),
    ["end 0"],
  ],
];

function remove(control: ControlDatabase, sequences: readonly number[]): Promise<unknown> {
  return control.write((transaction) =>
    transaction.deleteFrom("audit_events").where("sequence", "in", sequences).execute(),
  );
}

onEachDatabase("the chain of the audit log", ({ location, open }) => {
  for (const [what, tamper, found] of tamperings) {
    test(`entries ${what} are found`, async () => {
      const control = await open();
      await append(control, 10);
      assert.deepEqual(await problems(control), []);
      await tamper(control);
      assert.deepEqual(await problems(control), found);
    });
  }

  test("a rewritten or cut end with a new head is found by an anchor only", async () => {
    const control = await open();
    await append(control, 10);
    const noted = (await rowsOf(control))[7]!;
    const anchor = { sequence: noted.sequence, hash: noted.hash };
    assert.deepEqual(await problems(control, anchor), []);
    await rename(control, 8, { action: "other" });
    await rehash(control, 8, true);
    assert.deepEqual(await problems(control), []);
    assert.deepEqual(await problems(control, anchor), ["anchor 8"]);
    await remove(control, [8, 9, 10]);
    await rehash(control, 1, true);
    assert.deepEqual(await problems(control), []);
    assert.deepEqual(await problems(control, anchor), ["anchor 8"]);
  });

  test("without its head, the log goes on and says so", async () => {
    const control = await open();
    await append(control, 3);
    await control.write((transaction) => transaction.deleteFrom("audit_head").execute());
    await append(control, 1, "later");
    assert.deepEqual(await problems(control), []);
    assert.deepEqual(
      (await rowsOf(control)).map(({ action }) => action),
      ["test", "test", "test", "replaceMissingAuditHead", "later"],
    );
  });

  test("pruning keeps the rest verifiable", async () => {
    const control = await open();
    await append(control, 10);
    await rename(control, 7, { time_ms: 0 });
    for (const row of await rowsOf(control)) if (row.sequence < 7) await rename(control, row.sequence, { time_ms: 1 });
    await rehash(control, 1, true);
    assert.equal(await pruneEvents(control, 0), 0);
    assert.equal(await pruneEvents(control, 2), 7);
    assert.equal(await pruneEvents(control, 2), 0);
    const rows = await rowsOf(control);
    assert.deepEqual(
      rows.map(({ sequence }) => sequence),
      [8, 9, 10, 11],
    );
    assert.equal(rows.at(-1)!.action, "pruneAudit");
    assert.deepEqual(await problems(control), []);
    assert.deepEqual(await problems(control, { sequence: 3, hash: "0".repeat(64) }), []);
    assert.deepEqual(await problems(control, { sequence: 7, hash: "0".repeat(64) }), ["anchor 7"]);
    await remove(control, [8]);
    assert.deepEqual(await problems(control), ["missing 9"]);
    assert.equal(await pruneEvents(control, Date.now() + 1000), 3);
    assert.deepEqual(await problems(control), []);
  });

  test("stays linear while several servers append", async () => {
    const where = await location();
    const servers = [await openControlDatabase(where), await openControlDatabase({ ...where, isMigrated: true })];
    after(() => Promise.all(servers.map((control) => control.close())));
    await Promise.all(
      servers.flatMap((control, server) =>
        Array.from({ length: 10 }, async (_, index) => {
          const name = `s${server}-${index}`;
          const act = new Act(
            { actor: systemActor, address: null, userAgent: null, action: name, object: noObject, details: {} },
            undefined,
          );
          await runAct(act, () => createOrganization(control, { name }));
          await append(control, 2, name);
        }),
      ),
    );
    const { entries, valid } = await verifyChain(servers[0]!, { signal });
    assert.deepEqual([entries, valid], [60, true]);
  });

  test("a change and its entry are written together or not at all", async () => {
    const control = await open();
    const plan = (action: string) =>
      new Act({ actor: systemActor, address: null, userAgent: null, action, object: noObject, details: {} }, undefined);
    // The entry cannot be written.
    await control.write((transaction) => sql`alter table audit_events rename to hidden_events`.execute(transaction));
    await failure(() => runAct(plan("first"), () => createOrganization(control, { name: "first" })));
    await control.write((transaction) => sql`alter table hidden_events rename to audit_events`.execute(transaction));
    // The change fails.
    await failure(() =>
      runAct(plan("second"), () =>
        control.change(async () => {
          throw new Error("no");
        }),
      ),
    );
    await runAct(plan("third"), () => createOrganization(control, { name: "third" }));
    const { data } = await listOrganizations(control, { limit: 10 });
    assert.deepEqual(
      data.map(({ name }) => name),
      ["third"],
    );
    assert.deepEqual(
      (await rowsOf(control)).map(({ action }) => action),
      ["third"],
    );
  });

  test("entries wait for a database that does not accept them, and are lost with the process only", async () => {
    const control = await open();
    const lost: number[] = [];
    const trail = new AuditTrail({ control, logger: silentLogger, onDrop: (entries) => lost.push(entries) });
    await control.write((transaction) => sql`alter table audit_events rename to hidden_events`.execute(transaction));
    trail.record(systemEntry("waits", {}));
    await control.write((transaction) => sql`alter table hidden_events rename to audit_events`.execute(transaction));
    await trail.flush();
    assert.equal((await rowsOf(control)).length, 1);
    await control.write((transaction) => sql`alter table audit_events rename to hidden_events`.execute(transaction));
    trail.record(systemEntry("is lost", {}));
    await trail.close();
    assert.deepEqual(lost, [1]);
  });
});
