/**
 * Acknowledged rows are stored exactly once, whichever process is killed. SOUNDING_TEST_KILLS sets the number of kills (20 for the long
 * version), SOUNDING_TEST_PAUSE_MS how long the store is down.
 */
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { randomBytes } from "node:crypto";
import { appendFile, mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import type { AppError } from "../../src/errors.ts";
import { silentLogger, type Logger } from "../../src/logger.ts";
import { findFaults, sendLoad } from "./load.ts";
import { countSpans, numberedSpans, openTestStore, spanBatch, temporaryDirectory, untilStored } from "./test-store.ts";
import { onlyAsRoot } from "../../../../test/support/needs.ts";

const kills = Number(process.env["SOUNDING_TEST_KILLS"] ?? 3);
const pauseMs = Number(process.env["SOUNDING_TEST_PAUSE_MS"] ?? 1500);

/** Starts of the engine that fail one after the other until the test does. */
const mostFailedStarts = 3;

/** Collects the process IDs of the engine, newest last. */
function watchEngine(): { logger: Logger; pids: number[]; untilStarts(count: number): Promise<void> } {
  const pids: number[] = [];
  let onStart: () => void = () => {};
  let failedStarts = 0;
  let failure: unknown;
  return {
    pids,
    logger: {
      ...silentLogger,
      error({ error }, message) {
        if (!/cannot be started|telemetry is off/.test(message)) return;
        failedStarts += 1;
        if (failedStarts < mostFailedStarts) return;
        failure = error;
        onStart();
      },
      info(fields) {
        if (typeof fields["pid"] !== "number") return;
        pids.push(fields["pid"]);
        failedStarts = 0;
        onStart();
      },
    },
    async untilStarts(count) {
      while (pids.length < count) {
        if (failure !== undefined) throw new Error("The engine cannot be started.", { cause: failure });
        await new Promise<void>((resolve) => (onStart = resolve));
      }
    },
  };
}

/** Resolves when this many more batches are acknowledged. */
function createLedger(): { acknowledged: string[]; add(batch: string): void; untilMore(count: number): Promise<void> } {
  const acknowledged: string[] = [];
  let onMore: () => void = () => {};
  return {
    acknowledged,
    add(batch) {
      acknowledged.push(batch);
      onMore();
    },
    async untilMore(count) {
      const goal = acknowledged.length + count;
      while (acknowledged.length < goal) await new Promise<void>((resolve) => (onMore = resolve));
    },
  };
}

/** A wait that ends with the load's error if that fails. */
async function during<Result>(load: Promise<unknown>, wait: Promise<Result>): Promise<Result> {
  const ended = load.then(() => {
    throw new Error("The load has ended.");
  });
  return Promise.race([wait, ended]);
}

/** As after a power cut in the middle of a write: behind what was flushed, the files end with anything. */
async function tearJournal(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (name.endsWith(".journal")) await appendFile(join(folder, name), randomBytes(Math.floor(Math.random() * 300)));
  }
}

describe("nothing acknowledged is lost or duplicated", () => {
  test(`when the embedded engine is killed ${kills} times under load and restarted`, async () => {
    const engine = watchEngine();
    await using opened = await openTestStore({ logger: engine.logger });
    const ledger = createLedger();
    const end = new AbortController();
    const load = sendLoad({
      store: opened.store,
      organizationId: "org_kill",
      prefix: "k",
      senders: 6,
      signal: end.signal,
      onAcknowledged: ledger.add,
    });
    for (let kill = 0; kill < kills; kill += 1) {
      await during(load, ledger.untilMore(10 + Math.floor(Math.random() * 30)));
      process.kill(engine.pids.at(-1)!, "SIGKILL");
      await during(load, engine.untilStarts(kill + 2));
    }
    await during(load, ledger.untilMore(10));
    end.abort();
    await load;
    assert.deepEqual(findFaults(ledger.acknowledged, await countSpans(opened.store, "org_kill")), []);
  });

  test(`when the server and the engine are killed ${kills} times under load, and the journal's end is torn`, async () => {
    const directory = await temporaryDirectory();
    const acknowledged: string[] = [];
    try {
      for (let kill = 0; kill < kills; kill += 1) {
        const child = spawn(
          process.execPath,
          [fileURLToPath(new URL("load-process.ts", import.meta.url)), directory, "org_tree", `t${kill}`],
          { detached: true, stdio: ["ignore", "pipe", "inherit"] },
        );
        const lines = createInterface({ input: child.stdout });
        const enough = 10 + Math.floor(Math.random() * 30);
        let seen = 0;
        lines.on("line", (batch) => {
          acknowledged.push(batch);
          seen += 1;
          // The process and its engine form their own process group.
          if (seen === enough) process.kill(-child.pid!, "SIGKILL");
        });
        await once(child, "close");
        assert.ok(seen >= enough, "the process ended by itself");
        await tearJournal(join(directory, "telemetry/journal"));
      }
      await using opened = await openTestStore({ directory });
      assert.deepEqual(findFaults(acknowledged, await countSpans(opened.store, "org_tree")), []);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });

  test("when only the server is killed: its engine ends too and releases the folder", async () => {
    const directory = await temporaryDirectory();
    try {
      const child = spawn(
        process.execPath,
        [fileURLToPath(new URL("load-process.ts", import.meta.url)), directory, "org_orphan", "o"],
        { stdio: ["ignore", "pipe", "inherit"] },
      );
      const acknowledged: string[] = [];
      createInterface({ input: child.stdout }).on("line", (batch) => {
        acknowledged.push(batch);
        if (acknowledged.length === 10) child.kill("SIGKILL");
      });
      await once(child, "close");
      // Opening waits until the old engine has exited: two cannot share a folder.
      await using opened = await openTestStore({ directory });
      assert.deepEqual(findFaults(acknowledged, await countSpans(opened.store, "org_orphan")), []);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });

  test(`when the store is suspended for ${pauseMs} ms under load, senders without a journal get errors to retry and memory stays bounded`, async () => {
    const engine = watchEngine();
    const settings = {
      journal: "off",
      queue_bytes: 60_000,
      organization_queue_bytes: 40_000,
      write_timeout_ms: 700,
    } as const;
    await using opened = await openTestStore({ logger: engine.logger, settings });
    const ledger = createLedger();
    const refusals: AppError[] = [];
    const end = new AbortController();
    const loads = ["org_a", "org_b", "org_c"].map((organizationId) =>
      sendLoad({
        store: opened.store,
        organizationId,
        prefix: organizationId,
        senders: 6,
        signal: end.signal,
        onAcknowledged: ledger.add,
        onRefused: (error) => refusals.push(error),
      }),
    );
    const load = Promise.all(loads);
    await during(load, ledger.untilMore(20));
    const pid = engine.pids.at(-1)!;
    process.kill(pid, "SIGSTOP");
    await sleep(pauseMs);
    process.kill(pid, "SIGCONT");
    await during(load, ledger.untilMore(20));
    end.abort();
    await load;
    const codes = new Set(refusals.map(({ code }) => code));
    assert.ok(codes.has("rate_limited"), "an organization above its share is told so");
    assert.ok(codes.has("overloaded"), "senders are told that the store is slow");
    assert.ok([...codes].every((code) => code === "rate_limited" || code === "overloaded"));
    for (const organizationId of ["org_a", "org_b", "org_c"]) {
      const own = ledger.acknowledged.filter((name) => name.startsWith(organizationId));
      assert.ok(own.length > 0, `${organizationId} was served`);
      assert.deepEqual(findFaults(own, await countSpans(opened.store, organizationId)), []);
    }
  });

  test(
    "when the disk is full: writes are refused, reads continue, and everything recovers when space is free",
    { skip: onlyAsRoot() },
    async () => {
      const directory = await temporaryDirectory();
      const disk = join(directory, "disk");
      await mkdir(disk);
      execFileSync("mount", ["-t", "tmpfs", "-o", "size=120m", "tmpfs", disk], { stdio: "ignore" });
      try {
        await using opened = await openTestStore({ directory: disk, settings: { write_timeout_ms: 1500 } });
        const { store } = opened;
        const acknowledged: string[] = [];
        const append = async (name: string): Promise<void> => {
          await store.append(spanBatch("org_full", numberedSpans(name, 50)));
          acknowledged.push(name);
        };
        await append("before");
        // Rows in the journal could not be inserted while the disk is full.
        await untilStored(store);
        // Fills the remaining space.
        await writeFile(join(disk, "filler"), Buffer.alloc(200_000_000)).catch(() => {});
        await assert.rejects(append("during"), (error: AppError) => error.code === "overloaded");
        assert.equal((await countSpans(store, "org_full")).get("before-0"), 1);
        await rm(join(disk, "filler"));
        await append("after");
        assert.deepEqual(findFaults(acknowledged, await countSpans(store, "org_full")), []);
      } finally {
        execFileSync("umount", ["-l", disk]);
        await rm(directory, { recursive: true, force: true });
      }
    },
  );
});
