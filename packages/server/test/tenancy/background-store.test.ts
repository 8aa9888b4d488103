import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLogger } from "../../src/logger.ts";
import { BackgroundStore, giveUpEarlierProcesses, type NewBackground } from "../../src/tenancy/background-store.ts";
import type { ControlDatabase } from "../../src/tenancy/control-database.ts";
import type { NewEvents } from "../../src/tenancy/event-rows.ts";
import { createContentCipher, parseContentKey } from "../../src/encryption/content-cipher.ts";
import { StoredResponses } from "../../src/tenancy/stored-responses.ts";
import { onEachDatabase } from "./each-database.ts";

const a = { organizationId: "org_a", projectName: "one" };
const others = [
  { organizationId: "org_a", projectName: "two" },
  { organizationId: "org_b", projectName: "one" },
];

function begun(id: string, { isStreamed = true, ...owner }: { isStreamed?: boolean } & Partial<typeof a> = {}) {
  const response = { id, object: "response", status: "queued", output: [] };
  const created: NewBackground = { previousId: undefined, input: [{ ü: 1 }], response, isStreamed };
  return [{ ...a, ...owner, id, status: "queued", begun: created, events: undefined, ending: undefined }] as const;
}

function eventsFrom(first: number, count: number, bytes = 10): NewEvents {
  const events = Array.from({ length: count }, (_, index) => ({
    name: "response.x",
    data: JSON.stringify({ sequence_number: first + index, text: "é".repeat(bytes / 2) }),
  }));
  return { first, events };
}

const going = { status: "in_progress", ending: undefined } as const;
const failed = (id: string) => ({ response: { id, status: "failed" }, eventOf: (next: number) => eventsFrom(next, 1) });

/** All that is read was encrypted. */
const cipher = createContentCipher([parseContentKey(Buffer.alloc(32, 7).toString("hex"))!]);

function open(control: ControlDatabase, process = "p1") {
  return {
    stored: new StoredResponses(control, { retentionDays: 1, logger: silentLogger, cipher }),
    store: new BackgroundStore(control, { process, retentionDays: 1, cipher }),
  };
}

onEachDatabase("responses in the background", ({ open: openDatabase }) => {
  test("have their state, events and items in the store, for their project only", async () => {
    const { store, stored } = open(await openDatabase());
    await store.write(begun("r1"));
    await store.write(begun("r1", others[0]));
    const owner = { ...a, id: "r1" };
    assert.deepEqual((await stored.find(a, "r1"))?.background, {
      status: "queued",
      isStreamed: true,
      isLost: false,
      upstreamId: undefined,
    });
    await assert.rejects(stored.conversation(a, "r1"), /this response is queued, so wait until it is complete/);
    await store.write([{ ...owner, ...going, events: eventsFrom(0, 3) }]);
    await store.write([{ ...owner, ...going, events: eventsFrom(3, 2) }]);
    assert.equal((await stored.find(a, "r1"))?.response["status"], "in_progress");
    assert.deepEqual(await store.events(owner, 1), { ...eventsFrom(0, 3), first: 1, events: eventsFrom(1, 2).events });
    assert.deepEqual(await store.events(owner, 3), eventsFrom(3, 2));
    assert.equal(await store.events(owner, 5), undefined);
    for (const other of others) assert.equal(await store.events({ ...other, id: "r1" }, 0), undefined);
    const response = { id: "r1", status: "completed", output: [{ id: "msg_1", type: "message" }] };
    const ending = { response, engine: "openai", upstreamId: "resp_9" };
    await store.write([{ ...owner, status: "ended", events: eventsFrom(5, 1), ending }]);
    const done = await stored.find(a, "r1");
    assert.deepEqual([done?.response, done?.engine, done?.background?.upstreamId], [response, "openai", "resp_9"]);
    assert.deepEqual([...(await stored.holders(a, ["msg_1"]))], [["msg_1", "r1"]]);
    assert.equal((await stored.holders(others[1]!, ["msg_1"])).size, 0);
    assert.equal((await stored.find(others[0]!, "r1"))?.background?.status, "queued");
    assert.equal(await stored.remove(a, "r1"), true);
    assert.equal(await store.events(owner, 0), undefined);
  });

  test("are written by their own process only, and not once they have ended", async () => {
    const control = await openDatabase();
    const { store } = open(control);
    const other = open(control, "p2").store;
    await store.write(begun("r2"));
    await store.write(begun("r3"));
    const changes = ["r2", "r3"].map((id) => ({ ...a, id, ...going, events: undefined }));
    assert.deepEqual([...(await other.write(changes))], changes);
    assert.equal((await store.write(changes)).size, 0);
    await other.askToCancel({ ...a, id: "r2" });
    const running = ["r2", "r3", "r_deleted"].map((id) => ({ ...a, id }));
    assert.deepEqual(
      [...(await store.orders(running))].map(([{ id }, order]) => [id, order]),
      [
        ["r2", "cancel"],
        ["r_deleted", "forget"],
      ],
    );
    const ending = { response: { id: "r2", status: "cancelled" }, engine: undefined, upstreamId: undefined };
    const ended = { ...a, id: "r2", status: "ended", events: undefined, ending } as const;
    assert.equal((await store.write([ended])).size, 0);
    assert.deepEqual([...(await store.write([ended]))], [ended]);
  });

  test("are given up once their process is gone, and by nobody before", async () => {
    const control = await openDatabase();
    const { store, stored } = open(control);
    for (const id of ["r4", "r5"]) await store.write(begun(id, { isStreamed: id === "r4" }));
    await store.write([{ ...a, id: "r4", ...going, events: eventsFrom(0, 2) }]);
    await store.giveUp({ ...a, id: "r4" }, failed("r4"));
    assert.equal((await stored.find(a, "r4"))?.response["status"], "in_progress");
    await giveUpEarlierProcesses(control);
    for (const id of ["r4", "r5"]) {
      assert.equal((await stored.find(a, id))?.background?.isLost, true);
      for (const other of others) await store.giveUp({ ...other, id }, failed(id));
      assert.equal((await stored.find(a, id))?.background?.isLost, true);
      await store.giveUp({ ...a, id }, failed(id));
      assert.deepEqual((await stored.find(a, id))?.response, { id, status: "failed" });
    }
    assert.deepEqual(await store.events({ ...a, id: "r4" }, 2), eventsFrom(2, 1));
    assert.equal(await store.events({ ...a, id: "r5" }, 0), undefined);
    const late = { ...a, id: "r4", ...going, events: eventsFrom(2, 1) };
    assert.deepEqual([...(await store.write([late]))], [late]);
  });

  test("keep the newest of very many events", { timeout: 120_000 }, async () => {
    const { store } = open(await openDatabase());
    await store.write(begun("r6"));
    for (let round = 0; round < 14; round += 1) {
      const events = eventsFrom(round * 10, 10, 100_000);
      await store.write([{ ...a, id: "r6", ...going, events }]);
    }
    const kept = await store.events({ ...a, id: "r6" }, 0);
    assert.ok(kept!.first > 0 && kept!.first < 140, String(kept!.first));
    assert.equal((await store.events({ ...a, id: "r6" }, 139))?.first, 139);
  });
});
