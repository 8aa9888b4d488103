import assert from "node:assert/strict";
import { cp, mkdir, mkdtemp, open, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, mock, test } from "node:test";
import { AppError } from "../../src/errors.ts";
import { silentLogger } from "../../src/logger.ts";
import { Journal, type JournalOptions } from "../../src/store/journal/journal.ts";
import { readSegment, SegmentWriter } from "../../src/store/journal/segment-file.ts";
import type { TableName } from "../../src/store/schema.ts";
import { StoreError } from "../../src/store/store-error.ts";
import type { Batch, WriteReport } from "../../src/store/store.ts";
import { refusal, ScriptedStore, transientError } from "./scripted-store.ts";

const root = await mkdtemp(join(tmpdir(), "sounding-journal-"));
after(() => rm(root, { recursive: true, force: true }));
let folders = 0;
const newFolder = (): string => join(root, String((folders += 1)));

interface OpenJournal extends AsyncDisposable {
  readonly journal: Journal;
  readonly store: ScriptedStore;
  readonly directory: string;
  readonly reports: WriteReport[];
}

async function openJournal(options: Partial<JournalOptions> = {}, store = new ScriptedStore()): Promise<OpenJournal> {
  const directory = options.directory ?? newFolder();
  const reports: WriteReport[] = [];
  const journal = await Journal.open({
    insert: store.insert,
    whenReady: store.whenReady,
    logger: silentLogger,
    observe: (report) => reports.push(report),
    queue: { totalBytes: 100_000_000, organizationBytes: 100_000_000 },
    journal: { totalBytes: 100_000_000, organizationBytes: 100_000_000 },
    writeTimeoutMs: 30_000,
    ...options,
    directory,
  });
  return { journal, store, directory, reports, [Symbol.asyncDispose]: () => journal.close() };
}

function batch(organizationId: string, text: string, table: TableName = "spans"): Batch {
  return { organizationId, table, block: Buffer.from(text), rowCount: 1 };
}

const segmentsIn = async (directory: string): Promise<string[]> =>
  (await readdir(directory)).filter((name) => name.endsWith(".journal")).sort();

function isAppError(code: string): (error: unknown) => boolean {
  return (error) => error instanceof AppError && error.code === code;
}

describe("the journal", () => {
  test("acknowledges rows while the store is down, and inserts them as one group when it is up", async ({ mock }) => {
    // A slow disk would let the time pass after which a segment takes no more rows.
    mock.method(performance, "now", () => 0);
    await using opened = await openJournal({}, new ScriptedStore({ isUp: false }));
    const { journal, store, directory } = opened;
    await Promise.all([1, 2, 3].map((number) => journal.append(batch("org_a", `row${number}`))));
    await journal.append(batch("org_b", "row4"));
    assert.deepEqual(store.groups, []);
    assert.ok(journal.bytes > 0);
    store.goUp();
    await journal.whenVisible("org_b");
    assert.deepEqual(store.texts.sort(), ["row1", "row2", "row3", "row4"]);
    assert.equal(store.groups.length, 1);
    assert.equal(journal.bytes, 0);
    assert.deepEqual(await segmentsIn(directory), []);
    assert.equal(journal.whenVisible("org_a"), undefined);
  });

  test("inserts rows before those that refer to them, even if those are in an earlier segment's table", async () => {
    await using opened = await openJournal();
    const { journal, store } = opened;
    const tables: string[] = [];
    store.onInsert = ({ table }) => void tables.push(table);
    await Promise.all([
      journal.append(batch("org_a", "span", "spans")),
      journal.append(batch("org_a", "resource", "resources")),
      journal.append(batch("org_a", "series", "series")),
    ]);
    await journal.whenVisible("org_a");
    assert.deepEqual(tables.sort(), ["resources", "series", "spans"]);
    assert.equal(store.groups.at(-1)!.table, "spans");
  });

  test("inserts what an earlier server left, once, even if it was inserted already", async () => {
    const store = new ScriptedStore();
    const directory = newFolder();
    {
      await using opened = await openJournal({ directory }, new ScriptedStore({ isUp: false }));
      for (const text of ["one", "two"]) await opened.journal.append(batch("org_a", text));
      // As a crash would leave it.
      await cp(directory, `${directory}-crashed`, { recursive: true });
      opened.store.goUp();
    }
    for (let start = 0; start < 3; start += 1) {
      const copy = newFolder();
      await cp(`${directory}-crashed`, copy, { recursive: true });
      await using opened = await openJournal({ directory: copy }, store);
      await opened.journal.whenVisible("org_other");
      assert.deepEqual(await segmentsIn(copy), []);
    }
    assert.deepEqual(store.texts, ["one", "two"]);
  });

  test("leaves rows on the disk when it ends before the store takes them", async () => {
    const directory = newFolder();
    {
      await using opened = await openJournal({ directory, writeTimeoutMs: 50 }, new ScriptedStore({ isUp: false }));
      await opened.journal.append(batch("org_a", "kept"));
    }
    assert.equal((await segmentsIn(directory)).length, 1);
    await using opened = await openJournal({ directory });
    await opened.journal.whenVisible("org_a");
    assert.deepEqual(opened.store.texts, ["kept"]);
  });

  test("tries again, with the same token, when an insert fails or its response is lost", async () => {
    await using opened = await openJournal();
    const { journal, store } = opened;
    const tokens: string[] = [];
    store.onInsert = ({ token }) => {
      tokens.push(token);
      if (tokens.length === 1) throw transientError();
    };
    store.onInserted = () => {
      if (tokens.length === 2) throw transientError();
    };
    await journal.append(batch("org_a", "row"));
    await journal.whenVisible("org_a");
    assert.equal(tokens.length, 3);
    assert.equal(new Set(tokens).size, 1);
    assert.deepEqual(store.texts, ["row"]);
  });

  test("sets aside only the rows that the store refuses, and keeps them in a file", async () => {
    await using opened = await openJournal();
    const { journal, store, directory, reports } = opened;
    store.onInsert = ({ blocks }) => {
      if (blocks.some((block) => Buffer.from(block).toString() === "bad")) throw refusal();
    };
    await Promise.all(["a", "b", "bad", "c", "d"].map((text) => journal.append(batch("org_a", text))));
    await journal.whenVisible("org_a");
    assert.deepEqual(store.texts.sort(), ["a", "b", "c", "d"]);
    const [kept] = await segmentsIn(join(directory, "refused"));
    const { records } = await readSegment(join(directory, "refused", kept!));
    assert.deepEqual(
      records.map(({ organizationId, block }) => [organizationId, Buffer.from(block).toString()]),
      [["org_a", "bad"]],
    );
    assert.deepEqual(await segmentsIn(directory), []);
    assert.equal(reports.filter(({ outcome }) => outcome === "internal").length, 1);
  });

  test("inserts rows that were set aside when their file is moved back", async () => {
    const directory = newFolder();
    const store = new ScriptedStore();
    {
      await using opened = await openJournal({ directory }, store);
      store.onInsert = ({ blocks }) => {
        if (blocks.some((block) => Buffer.from(block).toString() === "bad")) throw refusal();
      };
      await Promise.all(["good", "bad"].map((text) => opened.journal.append(batch("org_a", text))));
      await opened.journal.whenVisible("org_a");
    }
    store.onInsert = () => {};
    const [kept] = await segmentsIn(join(directory, "refused"));
    await rename(join(directory, "refused", kept!), join(directory, kept!));
    await using opened = await openJournal({ directory }, store);
    await opened.journal.whenVisible("org_a");
    assert.deepEqual(store.texts.sort(), ["bad", "good"]);
  });

  test("waits for a store that an operator has made read-only", async () => {
    await using opened = await openJournal();
    const { journal, store, directory } = opened;
    let failures = 0;
    store.onInsert = () => {
      failures += 1;
      if (failures <= 3) throw new StoreError("read-only", { code: 164 });
    };
    await Promise.all(["a", "b"].map((text) => journal.append(batch("org_a", text))));
    await journal.whenVisible("org_a");
    assert.deepEqual(store.texts.sort(), ["a", "b"]);
    assert.deepEqual(await readdir(directory), []);
  });

  test("inserts later rows while a record fails again and again", async () => {
    await using opened = await openJournal({ writeTimeoutMs: 3000 });
    const { journal, store } = opened;
    const failed = Promise.withResolvers<void>();
    store.onInsert = ({ organizationIds }) => {
      if (!organizationIds.has("org_bad")) return;
      failed.resolve();
      throw transientError();
    };
    await journal.append(batch("org_bad", "never"));
    await failed.promise;
    await journal.append(batch("org_good", "later"));
    await journal.whenVisible("org_good");
    assert.deepEqual(store.texts, ["later"]);
  });

  test("sets aside a segment that was damaged in the middle, after inserting the rows before", async () => {
    const directory = newFolder();
    await mkdir(directory);
    const path = join(directory, "000000000001-damaged.journal");
    const writer = await SegmentWriter.create(path);
    const ends: number[] = [];
    for (const text of ["first", "second", "third"]) {
      await writer.append([batch("org_a", text)]);
      ends.push(writer.bytes);
    }
    await writer.close();
    const bytes = await readFile(path);
    bytes[ends[1]! - 1]! ^= 0xff;
    await writeFile(path, bytes);
    await using opened = await openJournal({ directory });
    await opened.journal.whenVisible("org_a");
    assert.deepEqual(opened.store.texts, ["first"]);
    assert.deepEqual(await readFile(join(directory, "refused/000000000001-damaged-refused.journal")), bytes);
  });

  test("sets aside a segment with rows of a table that this version does not have", async () => {
    const directory = newFolder();
    await mkdir(directory);
    const writer = await SegmentWriter.create(join(directory, "000000000001-newer.journal"));
    await writer.append([batch("org_a", "row", "later_table" as TableName)]);
    await writer.close();
    await using opened = await openJournal({ directory });
    await opened.journal.whenVisible("org_a");
    assert.deepEqual(await segmentsIn(join(directory, "refused")), ["000000000001-newer-refused.journal"]);
  });

  test("refuses an organization that fills its share after the timeout, and others are accepted", async () => {
    await using opened = await openJournal(
      { journal: { totalBytes: 1_000_000, organizationBytes: 10_000 }, writeTimeoutMs: 3000 },
      new ScriptedStore({ isUp: false }),
    );
    const { journal, store, reports } = opened;
    const row = "x".repeat(4000);
    await journal.append(batch("org_loud", row));
    await journal.append(batch("org_loud", row));
    const refused = assert.rejects(journal.append(batch("org_loud", row)), isAppError("rate_limited"));
    // Does not wait behind the loud one.
    await journal.append(batch("org_quiet", row));
    assert.deepEqual(reports, []);
    await refused;
    assert.deepEqual(reports, [{ table: "spans", rows: 1, outcome: "rate_limited" }]);
    // Senders that wait continue as soon as there is space.
    const waiting = journal.append(batch("org_loud", "later"));
    store.goUp();
    await waiting;
    await journal.whenVisible("org_loud");
    assert.ok(store.texts.includes("later"));
  });

  test("refuses everyone after the timeout when it is full", async () => {
    await using opened = await openJournal(
      { journal: { totalBytes: 10_000, organizationBytes: 10_000 }, writeTimeoutMs: 3000 },
      new ScriptedStore({ isUp: false }),
    );
    const { journal, store } = opened;
    await journal.append(batch("org_a", "x".repeat(4000)));
    await journal.append(batch("org_b", "x".repeat(4000)));
    const refused = await journal.append(batch("org_c", "x".repeat(9000))).catch((error: unknown) => error);
    assert.ok(refused instanceof AppError && refused.code === "overloaded" && refused.retryAfterMs! > 0);
    store.goUp();
  });

  test("acknowledges nothing of a failed flush, and never appends to that file again", async () => {
    await using opened = await openJournal({}, new ScriptedStore({ isUp: false }));
    const { journal, store, directory } = opened;
    await journal.append(batch("org_a", "before"));
    const [first] = await segmentsIn(directory);
    const handle = await open(join(directory, first!), "r");
    const prototype = Object.getPrototypeOf(handle) as { datasync(): Promise<void> };
    await handle.close();
    const failing = mock.method(prototype, "datasync", async () => {
      throw Object.assign(new Error("EIO: i/o error, fdatasync"), { code: "EIO" });
    });
    const { size } = await readFile(join(directory, first!)).then(({ length }) => ({ size: length }));
    await assert.rejects(journal.append(batch("org_a", "failed")), isAppError("overloaded"));
    failing.mock.restore();
    await journal.append(batch("org_a", "after"));
    const segments = await segmentsIn(directory);
    assert.equal(segments.length, 2);
    assert.ok((await readFile(join(directory, first!))).length > size);
    assert.doesNotMatch((await readFile(join(directory, first!))).toString("latin1"), /after/);
    store.goUp();
    await journal.whenVisible("org_a");
    assert.ok(["before", "after"].every((text) => store.texts.includes(text)));
  });

  test("sets aside a file that is no segment", async () => {
    const directory = newFolder();
    await mkdir(directory);
    await writeFile(join(directory, "000000000001-foreign.journal"), "something else entirely");
    await using opened = await openJournal({ directory });
    await opened.journal.whenVisible("org_a");
    assert.deepEqual(await segmentsIn(directory), []);
    assert.deepEqual(await segmentsIn(join(directory, "refused")), ["000000000001-foreign-refused.journal"]);
  });

  test("takes no rows once it is closed", async () => {
    const { journal } = await openJournal();
    await journal.append(batch("org_a", "last"));
    await journal.close();
    await assert.rejects(journal.append(batch("org_a", "late")), isAppError("overloaded"));
  });
});

describe("a segment", () => {
  const texts = ["first", "second", "third and a little longer", "last"];

  async function writeTexts(): Promise<{ bytes: Buffer; ends: number[] }> {
    const path = join(root, `segment-${(folders += 1)}.journal`);
    const writer = await SegmentWriter.create(path);
    const ends: number[] = [];
    for (const text of texts) {
      await writer.append([batch("org_a", text)]);
      ends.push(writer.bytes);
    }
    await writer.close();
    return { bytes: await readFile(path), ends };
  }

  async function textsOf(bytes: Uint8Array): Promise<string[]> {
    const path = join(root, "damaged.journal");
    await writeFile(path, bytes);
    const { records, validBytes } = await readSegment(path);
    assert.ok(validBytes <= bytes.length);
    return records.map(({ block }) => Buffer.from(block).toString());
  }

  test("that is cut at any byte has every record before the cut, and no other", async () => {
    const { bytes, ends } = await writeTexts();
    for (let length = 0; length <= bytes.length; length += 1) {
      const whole = ends.filter((end) => end <= length).length;
      assert.deepEqual(await textsOf(bytes.subarray(0, length)), texts.slice(0, whole), `cut at ${length}`);
    }
  });

  test("with any byte of its last records changed has every record before the change, and no other", async () => {
    const { bytes, ends } = await writeTexts();
    for (let at = ends[0]!; at < bytes.length; at += 1) {
      const whole = ends.filter((end) => end <= at).length;
      for (const change of [0x01, 0x80, 0xff]) {
        const damaged = Buffer.from(bytes);
        damaged[at]! ^= change;
        assert.deepEqual(await textsOf(damaged), texts.slice(0, whole), `byte ${at} changed`);
      }
    }
  });

  test("whose end the file system filled with zeros or old bytes has every record before them", async () => {
    const { bytes } = await writeTexts();
    for (const tail of [Buffer.alloc(4096), Buffer.alloc(100, 0xff), bytes.subarray(20, 45)])
      assert.deepEqual(await textsOf(Buffer.concat([bytes, tail])), texts);
  });
});
