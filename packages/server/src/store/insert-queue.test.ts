import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { AppError } from "../errors.ts";
import { silentLogger } from "../logger.ts";
import { InsertQueue, type InsertQueueOptions } from "./insert-queue.ts";
import type { InsertGroup } from "./row-writer.ts";
import { StoreError } from "./store-error.ts";
import type { Batch } from "./store.ts";

/** A store that records its batches and waits until it is released. */
class ScriptedInserts {
  readonly groups: InsertGroup[] = [];
  readonly #waiting: (() => void)[] = [];
  readonly #outcomes: (StoreError | undefined)[] = [];
  #held = false;
  #onGroup: () => void = () => {};

  readonly insert = async (group: InsertGroup): Promise<void> => {
    this.groups.push(group);
    this.#onGroup();
    if (this.#held) {
      await new Promise<void>((resolve, reject) => {
        this.#waiting.push(resolve);
        group.signal.addEventListener("abort", () => reject(new StoreError("cut")), { once: true });
      });
    }
    const outcome = this.#outcomes.shift();
    if (outcome !== undefined) throw outcome;
  };

  hold(): void {
    this.#held = true;
  }

  letGo(): void {
    this.#held = false;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** Whether the next inserts fail like this, or succeed. */
  script(...outcomes: (StoreError | undefined)[]): void {
    this.#outcomes.push(...outcomes);
  }

  async untilGroups(count: number): Promise<void> {
    while (this.groups.length < count) await new Promise<void>((resolve) => (this.#onGroup = resolve));
  }

  get bodies(): string[] {
    return this.groups.map(({ blocks }) => Buffer.concat(blocks).toString());
  }
}

function openQueue(options: Partial<InsertQueueOptions> = {}): { inserts: ScriptedInserts; queue: InsertQueue } {
  const inserts = new ScriptedInserts();
  const queue = new InsertQueue({
    insert: inserts.insert,
    whenReady: async () => {},
    queue: { totalBytes: 1_000_000, organizationBytes: 100_000 },
    writeTimeoutMs: 30_000,
    logger: silentLogger,
    observe: () => {},
    ...options,
  });
  return { inserts, queue };
}

function batch(organizationId: string, block: string | Buffer, rowCount = 1): Batch {
  return { organizationId, table: "spans", block: Buffer.from(block), rowCount };
}

const transient = new StoreError("not now", { code: 241 });
const permanent = new StoreError("bad rows", { code: 27 });

function isAppError(code: string): (error: unknown) => boolean {
  return (error) => error instanceof AppError && error.code === code;
}

describe("batching inserts", () => {
  test("concurrent batches become one insert; each sender is notified when it is done", async () => {
    const { inserts, queue } = openQueue();
    await Promise.all([queue.append(batch("a", "1")), queue.append(batch("b", "2")), queue.append(batch("a", "3"))]);
    assert.deepEqual(inserts.bodies, ["123"]);
    await queue.close();
    assert.equal(queue.queuedBytes, 0);
  });

  test("batches that arrive during an insert are written together after it", async () => {
    const { inserts, queue } = openQueue();
    inserts.hold();
    const first = queue.append(batch("a", "1"));
    await inserts.untilGroups(1);
    const later = ["2", "3", "4"].map((block) => queue.append(batch("a", block)));
    inserts.letGo();
    await Promise.all([first, ...later]);
    assert.deepEqual(inserts.bodies, ["1", "234"]);
    assert.notEqual(inserts.groups[0]!.token, inserts.groups[1]!.token);
    await queue.close();
  });

  test("organizations take turns: a flood does not delay another one", async () => {
    const { inserts, queue } = openQueue({ queue: { totalBytes: 1e9, organizationBytes: 1e9 } });
    inserts.hold();
    const first = queue.append(batch("flood", "0"));
    await inserts.untilGroups(1);
    const rows = 30_000;
    const flood = Array.from({ length: 20 }, () => queue.append(batch("flood", "F", rows)));
    const small = queue.append(batch("small", "s"));
    inserts.letGo();
    await small;
    // The small one was in the next batch, among the first.
    const withSmall = inserts.bodies.findIndex((body) => body.includes("s"));
    assert.ok(withSmall <= 2, `group ${withSmall}`);
    assert.ok(inserts.bodies[withSmall]!.indexOf("s") <= 1);
    await Promise.all([first, ...flood]);
    assert.ok(inserts.groups.length > 4, "a group of 100 000 rows is full");
    await queue.close();
  });
});

describe("bounds", () => {
  test("an organization above its share gets a 429, others continue", async () => {
    const { inserts, queue } = openQueue({ queue: { totalBytes: 1_000_000, organizationBytes: 10_000 } });
    inserts.hold();
    const running = [queue.append(batch("a", Buffer.alloc(8000)))];
    await assert.rejects(queue.append(batch("a", Buffer.alloc(8000))), isAppError("rate_limited"));
    running.push(queue.append(batch("b", Buffer.alloc(8000))));
    inserts.letGo();
    await Promise.all(running);
    await queue.append(batch("a", Buffer.alloc(8000)));
    await queue.close();
  });

  test("when everything is full, every organization gets a 503 with Retry-After", async () => {
    const { inserts, queue } = openQueue({ queue: { totalBytes: 20_000, organizationBytes: 100_000 } });
    inserts.hold();
    const running = ["a", "b"].map((name) => queue.append(batch(name, Buffer.alloc(9000))));
    await assert.rejects(
      queue.append(batch("a", Buffer.alloc(9000))),
      (error) => isAppError("overloaded")(error) && (error as AppError).retryAfterMs! > 0,
    );
    inserts.letGo();
    await Promise.all(running);
    await queue.close();
  });

  test("floods that fill everything leave room for an organization with little data", async () => {
    const { inserts, queue } = openQueue({ queue: { totalBytes: 20_000, organizationBytes: 100_000 } });
    inserts.hold();
    const running = ["a", "b"].map((name) => queue.append(batch(name, Buffer.alloc(9000))));
    running.push(queue.append(batch("c", Buffer.alloc(3000))));
    await assert.rejects(queue.append(batch("d", Buffer.alloc(9000))), isAppError("overloaded"));
    inserts.letGo();
    await Promise.all(running);
    await queue.close();
  });

  test("a batch larger than the limits is accepted when the queue is empty", async () => {
    const { queue } = openQueue({ queue: { totalBytes: 10, organizationBytes: 10 } });
    await queue.append(batch("a", Buffer.alloc(1000)));
    await queue.close();
    assert.equal(queue.queuedBytes, 0);
  });

  test("a store that hangs costs the sender only its timeout, and the memory is released", async () => {
    const { inserts, queue } = openQueue({ writeTimeoutMs: 150 });
    inserts.hold();
    await assert.rejects(queue.append(batch("a", "1")), isAppError("overloaded"));
    await queue.close();
    assert.equal(queue.queuedBytes, 0);
  });
});

describe("failures", () => {
  test("a temporary failure is retried with the same token", async () => {
    const { inserts, queue } = openQueue();
    inserts.script(transient, transient);
    await queue.append(batch("a", "1"));
    assert.equal(inserts.groups.length, 3);
    assert.equal(new Set(inserts.groups.map(({ token }) => token)).size, 1);
    await queue.close();
  });

  test("a bad batch is refused alone; the others are written, and each is reported", async () => {
    const reports: string[] = [];
    const { inserts, queue } = openQueue({ observe: ({ rows, outcome }) => reports.push(`${rows} ${outcome}`) });
    inserts.script(permanent, undefined, permanent, undefined);
    const outcomes = await Promise.allSettled(["1", "2", "3"].map((block) => queue.append(batch(`o${block}`, block))));
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ["fulfilled", "rejected", "fulfilled"],
    );
    assert.ok(isAppError("internal")((outcomes[1] as PromiseRejectedResult).reason));
    assert.deepEqual(inserts.bodies, ["123", "1", "2", "3"]);
    assert.deepEqual(reports, ["1 written", "1 internal", "1 written"]);
    await queue.close();
  });

  test("closing writes the queue and refuses later batches", async () => {
    const { inserts, queue } = openQueue();
    inserts.hold();
    const waiting = queue.append(batch("a", "1"));
    const closing = queue.close();
    await assert.rejects(queue.append(batch("a", "2")), isAppError("overloaded"));
    inserts.letGo();
    await waiting;
    await closing;
    assert.deepEqual(inserts.bodies, ["1"]);
  });
});
