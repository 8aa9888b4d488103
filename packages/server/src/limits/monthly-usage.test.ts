import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Logger } from "../logger.ts";
import { MonthlyUsage, type UsageEntry } from "./monthly-usage.ts";

const november = Date.UTC(2026, 10, 21);
const december = Date.UTC(2026, 11, 1);
const owner = { keyId: "key-1", organizationId: "org-1" };

/** A ledger in memory that can be made to fail. */
function memoryLedger() {
  const kept = new Map<string, UsageEntry>();
  return {
    failing: false,
    kept,
    async add(entries: readonly UsageEntry[]) {
      if (this.failing) throw new Error("the database is away");
      for (const entry of entries) {
        const id = `${entry.month} ${entry.keyId}`;
        kept.set(id, { ...entry, tokens: entry.tokens + (kept.get(id)?.tokens ?? 0) });
      }
    },
    async read(month: string) {
      if (this.failing) throw new Error("the database is away");
      return [...kept.values()].filter((entry) => entry.month === month);
    },
    tokens(month: string, keyId = "key-1") {
      return kept.get(`${month} ${keyId}`)?.tokens ?? 0;
    },
  };
}

function recordingLogger() {
  const lines: string[] = [];
  const write = (level: string) => (_fields: unknown, message: string) => void lines.push(`${level}: ${message}`);
  const logger: Logger = { debug: write("debug"), info: write("info"), warn: write("warn"), error: write("error") };
  return { lines, logger };
}

async function setUp(ledger = memoryLedger()) {
  const clock = { nowMs: november };
  const { lines, logger } = recordingLogger();
  const usage = await MonthlyUsage.open({ ledger, logger, now: () => clock.nowMs, flushIntervalMs: 3_600_000 });
  return { clock, ledger, lines, usage };
}

describe("the month's usage", () => {
  test("counts by key and by organization, and writes only new usage", async () => {
    const { ledger, usage } = await setUp();
    usage.record(owner, 10, november);
    usage.record({ ...owner, keyId: "key-2" }, 5, november);
    await usage.flush();
    usage.record(owner, 1, november);
    await usage.flush();
    await usage.flush();
    assert.equal(usage.keyTokens("key-1", november), 11);
    assert.equal(usage.organizationTokens("org-1", november), 16);
    assert.equal(ledger.tokens("2026-11"), 11);
    assert.equal(ledger.tokens("2026-11", "key-2"), 5);
    await usage.close();
  });

  test("continues from the ledger's totals after a restart", async () => {
    const { ledger, usage } = await setUp();
    usage.record(owner, 42, november);
    await usage.close();
    const second = await setUp(ledger);
    assert.equal(second.usage.keyTokens("key-1", november), 42);
    assert.equal(second.usage.organizationTokens("org-1", november), 42);
    await second.usage.close();
  });

  test("includes what other processes wrote, and keeps its own unwritten usage", async () => {
    const { ledger, usage } = await setUp();
    usage.record(owner, 10, november);
    await usage.flush();
    await ledger.add([{ ...owner, month: "2026-11", tokens: 100 }]);
    const refreshed = usage.refresh();
    usage.record(owner, 1, november);
    await refreshed;
    assert.equal(usage.keyTokens("key-1", november), 111);
    await usage.close();
    assert.equal(ledger.tokens("2026-11"), 111);
  });

  test("keeps what could not be written, and writes it when the ledger is back", async () => {
    const { ledger, lines, usage } = await setUp();
    ledger.failing = true;
    usage.record(owner, 10, november);
    await usage.flush();
    usage.record(owner, 5, november);
    await usage.refresh();
    assert.equal(usage.keyTokens("key-1", november), 15);
    ledger.failing = false;
    await usage.flush();
    assert.equal(ledger.tokens("2026-11"), 15);
    assert.deepEqual(lines, [
      "warn: token usage could not be saved; it will be retried shortly",
      "warn: token usage could not be saved; it will be retried shortly",
      "warn: token usage totals could not be read; the last known totals stay in use",
    ]);
    await usage.close();
  });

  test("counts the end of a month in that month", async () => {
    const { clock, ledger, usage } = await setUp();
    usage.record(owner, 10, november);
    clock.nowMs = december;
    usage.record(owner, 1, december);
    assert.equal(usage.keyTokens("key-1", december), 1);
    ledger.failing = true;
    await usage.flush();
    ledger.failing = false;
    await usage.close();
    assert.equal(ledger.tokens("2026-11"), 10);
    assert.equal(ledger.tokens("2026-12"), 1);
  });

  test("logs what is lost if the ledger is unavailable at shutdown", async () => {
    const { ledger, lines, usage } = await setUp();
    usage.record(owner, 10, november);
    ledger.failing = true;
    await usage.close();
    assert.match(lines.at(-1) ?? "", /^error: token usage could not be saved before shutdown and is lost/);
  });

  test("does not open on a ledger that cannot be read", async () => {
    const ledger = memoryLedger();
    ledger.failing = true;
    await assert.rejects(setUp(ledger), /the database is away/);
  });
});
