import assert from "node:assert/strict";
import { test } from "node:test";
import type { ControlDatabase } from "../../src/tenancy/control-database.ts";
import { createOrganization } from "../../src/tenancy/organizations.ts";
import { removeOrganization, removeProject } from "../../src/tenancy/delete-tenants.ts";
import { createProject } from "../../src/tenancy/projects.ts";
import { silentLogger } from "../../src/logger.ts";
import { createContentCipher, parseContentKey, type ContentKey } from "../../src/encryption/content-cipher.ts";
import { StoredResponses } from "../../src/tenancy/stored-responses.ts";
import { onEachDatabase } from "./each-database.ts";

const logger = silentLogger;
const a = { organizationId: "org_a", projectName: "one" };
const others = [
  { organizationId: "org_a", projectName: "two" },
  { organizationId: "org_b", projectName: "one" },
];

function response(id: string, more: object = {}) {
  const output = [{ id: `msg_${id}`, type: "message" }];
  return {
    id,
    engine: undefined,
    previousId: undefined,
    input: [{ type: "message" }],
    response: { id, output },
    ...more,
  };
}

onEachDatabase("stored responses", ({ open }) => {
  test("are found, continued and removed by their project only", async () => {
    const stored = new StoredResponses(await open(), { retentionDays: 1, logger });
    assert.equal(await stored.add(a, response("r1")), true);
    assert.equal(await stored.add(a, response("r2", { previousId: "r1", engine: "openai" })), true);
    assert.equal(await stored.add(a, response("r3", { previousId: "r1" })), true);
    const found = await stored.find(a, "r3");
    assert.deepEqual([found?.previousId, found?.output], ["r1", [{ id: "msg_r3", type: "message" }]]);
    // What an engine has too, it continues itself.
    assert.deepEqual(
      (await stored.conversation(a, "r2")).map(({ id }) => id),
      ["r2"],
    );
    assert.deepEqual(
      (await stored.conversation(a, "r3")).map(({ id }) => id),
      ["r1", "r3"],
    );
    assert.deepEqual([...(await stored.holders(a, ["msg_r1", "msg_r9"]))], [["msg_r1", "r1"]]);
    for (const other of others) {
      assert.equal(await stored.find(other, "r1"), undefined);
      assert.equal((await stored.holders(other, ["msg_r1"])).size, 0);
      assert.equal(await stored.remove(other, "r1"), false);
      await assert.rejects(stored.conversation(other, "r1"), { wireCode: "previous_response_not_found" });
    }
    assert.equal(await stored.remove(a, "r1"), true);
    assert.equal((await stored.holders(a, ["msg_r1"])).size, 0);
    await assert.rejects(stored.conversation(a, "r3"), { wireCode: "previous_response_not_found" });
  });

  test("are encrypted, with a key that can be changed, and read only where they were stored", async () => {
    const control = await open();
    const [before, after] = [1, 2].map((byte) => parseContentKey(Buffer.alloc(32, byte).toString("hex"))!);
    const cipherOf = (...keys: ContentKey[]) => ({ retentionDays: 1, logger, cipher: createContentCipher(keys) });
    const secret = {
      input: [{ type: "message", text: "the question" }],
      response: { id: "r1", output: [], text: "the answer" },
    };
    await new StoredResponses(control, { retentionDays: 1, logger }).add(a, response("r0", secret));
    await new StoredResponses(control, cipherOf(before!)).add(a, response("r1", secret));
    const rows = await control.read((database) => database.selectFrom("responses").selectAll().orderBy("id").execute());
    assert.match(JSON.stringify(rows[0]), /the question.*the answer/);
    assert.doesNotMatch(JSON.stringify(rows[1]), /the question|the answer/);
    assert.deepEqual(rows[0]!.bytes, rows[1]!.bytes);
    const rotated = new StoredResponses(control, cipherOf(after!, before!));
    for (const id of ["r0", "r1"]) {
      const found = await rotated.find(a, id);
      assert.deepEqual([found!.readInput(), found!.response], [secret.input, secret.response]);
    }
    await assert.rejects(
      new StoredResponses(control, cipherOf(after!)).find(a, "r1"),
      /which the server does not have/,
    );
    const { response: stolen, input } = rows[1]!;
    await control.write((transaction) =>
      transaction.updateTable("responses").set({ response: stolen, input }).where("id", "=", "r0").execute(),
    );
    await assert.rejects(rotated.find(a, "r0"), /copied from another place/);
  });

  test("of the same ID replace each other in a project, and in no other: upstreams choose the IDs", async () => {
    const stored = new StoredResponses(await open(), { retentionDays: 1, logger });
    for (const owner of [a, ...others]) {
      const input = [{ type: "message", of: owner }];
      assert.equal(await stored.add(owner, response("same")), true);
      assert.equal(await stored.add(owner, response("same", { input })), true);
    }
    for (const owner of [a, ...others]) {
      assert.deepEqual((await stored.find(owner, "same"))?.readInput(), [{ type: "message", of: owner }]);
      assert.deepEqual([...(await stored.holders(owner, ["msg_same"]))], [["msg_same", "same"]]);
    }
    assert.equal(await stored.remove(others[1]!, "same"), true);
    assert.notEqual(await stored.find(a, "same"), undefined);
  });

  test("are written together if they end together", async () => {
    const control = await open();
    let transactions = 0;
    const counted: ControlDatabase = Object.create(control, {
      write: {
        value: (change: Parameters<ControlDatabase["write"]>[0]) => {
          transactions += 1;
          return control.write(change);
        },
      },
    });
    const stored = new StoredResponses(counted, { retentionDays: 1, logger });
    const ids = Array.from({ length: 100 }, (_, index) => `r${index}`);
    const results = await Promise.all(ids.map((id, index) => stored.add(index % 2 ? a : others[1]!, response(id))));
    assert.ok(results.every((isStored) => isStored));
    assert.equal(transactions, 7);
    for (const [index, id] of ids.entries()) {
      assert.equal((await stored.find(index % 2 ? a : others[1]!, id))?.id, id);
    }
  });

  test("are not stored if the database fails, which loses no answer", async () => {
    const control = await open();
    const stored = new StoredResponses(control, { retentionDays: 1, logger });
    await control.write((transaction) => transaction.schema.dropTable("response_items").execute());
    assert.equal(await stored.add(a, response("r1")), false);
    assert.equal(await stored.find(a, "r1"), undefined);
  });

  test("are not stored if they are too large, or if nothing is", async () => {
    const control = await open();
    const stored = new StoredResponses(control, { retentionDays: 1, logger });
    assert.equal(await stored.add(a, response("large", { input: [{ text: "x".repeat(1_100_000) }] })), false);
    assert.equal(await new StoredResponses(control, { retentionDays: 0, logger }).add(a, response("r1")), false);
    assert.equal(await stored.find(a, "large"), undefined);
  });

  test("expire", async () => {
    const control = await open();
    const stored = new StoredResponses(control, { retentionDays: 1, logger });
    await stored.add(a, response("r1"));
    await control.write((transaction) => transaction.updateTable("responses").set({ expires_at: 1 }).execute());
    assert.equal(await stored.find(a, "r1"), undefined);
    assert.equal((await stored.holders(a, ["msg_r1"])).size, 0);
    await stored.add(a, response("r2"));
    const rows = await control.read((database) => database.selectFrom("responses").select("id").execute());
    assert.deepEqual(
      rows.map(({ id }) => id),
      ["r2"],
    );
    await control.write((transaction) => transaction.updateTable("responses").set({ expires_at: 1 }).execute());
    await stored.removeExpired();
    assert.deepEqual(await control.read((database) => database.selectFrom("responses").select("id").execute()), []);
  });

  for (const [what, most] of [
    ["number", { bytes: 1_000_000, responses: 10 }],
    ["size", { bytes: 800, responses: 1_000 }],
  ] as const) {
    test(`are limited in ${what} for each organization; the oldest go`, async () => {
      const control = await open();
      const stored = new StoredResponses(control, { retentionDays: 1, logger, most });
      await stored.add(others[1]!, response("of_another"));
      for (let index = 0; index < 40; index++) {
        assert.equal(await stored.add(a, response(`r${String(index).padStart(2, "0")}`)), true);
      }
      // Trimmed with the 33rd at the latest; others came after it.
      const rows = await control.read((database) =>
        database.selectFrom("responses").select("id").orderBy("id").execute(),
      );
      assert.ok(rows.length < 22, `${rows.length}`);
      assert.deepEqual([rows[0]?.id, rows.at(-1)?.id], ["of_another", "r39"]);
    });
  }

  test("are removed with their organization or project", async () => {
    const control = await open();
    const { id: organizationId } = await createOrganization(control, { name: "owner" });
    const project = await createProject(control, { organizationId, name: "one" });
    const stored = new StoredResponses(control, { retentionDays: 1, logger });
    const [one, two] = ["one", "two"].map((projectName) => ({ organizationId, projectName }));
    await stored.add(one!, response("r1"));
    await stored.add(two!, response("r2"));
    await stored.add(a, response("r3"));
    await removeProject(control, project.id);
    assert.deepEqual([await stored.find(one!, "r1"), (await stored.find(two!, "r2"))?.id], [undefined, "r2"]);
    await removeOrganization(control, organizationId);
    assert.deepEqual([await stored.find(two!, "r2"), (await stored.find(a, "r3"))?.id], [undefined, "r3"]);
  });
});
