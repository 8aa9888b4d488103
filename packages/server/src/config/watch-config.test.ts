import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { mkdtemp, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, afterEach, describe, test } from "node:test";
import type { LogFields, Logger } from "../logger.ts";
import type { Config } from "./config.ts";
import { loadConfig, type LoadedConfig } from "./load-config.ts";
import { watchConfig, type ConfigWatch } from "./watch-config.ts";

const folder = await mkdtemp(join(tmpdir(), "sounding-watch-"));
const file = join(folder, "sounding.yaml");
after(() => rm(folder, { recursive: true }));

const open: ConfigWatch[] = [];
afterEach(async () => {
  for (const watch of open.splice(0)) await watch.close();
});

interface Line {
  readonly level: string;
  readonly message: string;
  readonly fields: LogFields;
}

interface Setup {
  readonly path?: string;
  readonly failing?: () => boolean;
  /** Short if the watch itself is tested; otherwise only the test triggers a reload. */
  readonly debounceMs?: number;
}

/** Watches a file with this text; `applied` and `lines` record what happened, `changes` when. */
async function start(text: string, { path = file, failing = () => false, debounceMs = 3_600_000 }: Setup = {}) {
  await writeFile(path, text);
  const load = { path, env: {} };
  const loaded = await loadConfig(load);
  assert.ok(loaded.config !== undefined);
  const lines: Line[] = [];
  const applied: Config[] = [];
  const changes = new EventEmitter();
  const write = (level: string) => (fields: LogFields, message: string) => void lines.push({ level, message, fields });
  const logger: Logger = { debug: write("debug"), info: write("info"), warn: write("warn"), error: write("error") };
  const watch = watchConfig({
    load,
    loaded: loaded as LoadedConfig & { config: Config },
    logger,
    debounceMs,
    apply(config) {
      if (failing()) throw new Error("the engine does not start");
      applied.push(config);
      changes.emit("applied");
    },
  });
  open.push(watch);
  /** Waits until a configuration like this is applied. */
  const until = async (wanted: (config: Config) => boolean): Promise<void> => {
    const signal = AbortSignal.timeout(20_000);
    while (!applied.some(wanted)) await once(changes, "applied", { signal });
  };
  return { watch, lines, applied, until };
}

describe("a running configuration", () => {
  test("follows the file when it is written in place", async () => {
    const { until } = await start("limits: {key: {requests_per_minute: 1}}", { debounceMs: 20 });
    await writeFile(file, "limits: {key: {requests_per_minute: 2}}");
    await until((config) => config.limits.key.requests_per_minute === 2);
  });

  test("follows the file when it is replaced, repeatedly", async () => {
    const { until } = await start("server: {log_level: info}", { debounceMs: 1 });
    for (const level of ["debug", "warn", "error"]) {
      const next = join(folder, "next");
      await writeFile(next, `server: {log_level: ${level}}`);
      await rename(next, file);
      await until((config) => config.server.log_level === level);
    }
  });

  test("reloads on SIGHUP, even if the file is in another folder", async () => {
    const other = await mkdtemp(join(tmpdir(), "sounding-watch-"));
    after(() => rm(other, { recursive: true }));
    const link = join(folder, "link.yaml");
    await symlink(join(other, "sounding.yaml"), link);
    const { until } = await start("limits: {}", { path: link, debounceMs: 1 });
    await writeFile(join(other, "sounding.yaml"), "limits: {key: {requests_per_minute: 2}}");
    process.kill(process.pid, "SIGHUP");
    await until((config) => config.limits.key.requests_per_minute === 2);
  });

  test("does not change while the file has problems, and reports them", async () => {
    const { watch, lines, applied } = await start("limits: {key: {requests_per_minute: 1}}");
    const before = watch.config;
    await writeFile(file, "limits: {key: {requests_per_minute: none}}");
    await watch.reload();
    assert.equal(watch.config, before);
    assert.deepEqual(applied, []);
    const { level, message, fields } = lines[0]!;
    assert.equal(
      `${level}: ${message}`,
      "error: the configuration file is invalid; the current configuration stays active",
    );
    assert.deepEqual(fields["problems"], [
      `${file}:1:37: limits.key.requests_per_minute is "none"; it must be an integer of at least 1.`,
    ]);
  });

  test("does not change when the file is deleted", async () => {
    const { watch, lines, applied } = await start("limits: {key: {requests_per_minute: 1}}");
    await rm(file);
    await watch.reload();
    assert.deepEqual(applied, []);
    assert.equal(lines[0]?.level, "error");
    assert.equal(watch.config.limits.key.requests_per_minute, 1);
  });

  test("reports which changes need a restart, and applies the others", async () => {
    const { watch, lines } = await start("server: {port: 1, log_level: info}\nstorage: {data_dir: a}");
    await writeFile(file, "server: {port: 2, log_level: warn, docs: false}\nstorage: {data_dir: b}");
    await watch.reload();
    const { server, storage } = watch.config;
    assert.deepEqual(
      [server.port, server.docs, server.log_level, storage.data_dir],
      [1, true, "warn", join(dirname(file), "a")],
    );
    assert.deepEqual(lines.find(({ level }) => level === "warn")?.fields["settings"], [
      "server.port",
      "server.docs",
      "storage.data_dir",
    ]);
  });

  test("applies new transcription settings, and keeps the upload limit until a restart", async () => {
    const { watch, lines } = await start("transcription: {max_upload_bytes: 2000}");
    await writeFile(file, "transcription: {max_upload_bytes: 3000, max_audio_seconds: 60, sentences: true}");
    await watch.reload();
    const { max_upload_bytes, max_audio_seconds, sentences } = watch.config.transcription;
    assert.deepEqual([max_upload_bytes, max_audio_seconds, sentences], [2000, 60, true]);
    assert.deepEqual(lines.find(({ level }) => level === "warn")?.fields["settings"], [
      "transcription.max_upload_bytes",
    ]);
  });

  test("is not applied again if nothing changed", async () => {
    const { watch, applied, lines } = await start("server: {port: 1}");
    await writeFile(file, "# a comment\nserver: {port: 1, log_level: info}");
    await watch.reload();
    assert.deepEqual([applied, lines], [[], []]);
  });

  test("is retried after a change that failed", async () => {
    let broken = true;
    const { watch, lines, applied } = await start("limits: {}", { failing: () => broken });
    await writeFile(file, "limits: {key: {requests_per_minute: 7}}");
    await watch.reload();
    assert.equal(lines[0]?.message, "the new configuration could not be applied");
    assert.deepEqual(watch.config.limits.key, {});
    broken = false;
    await watch.reload();
    assert.equal(applied.length, 1);
    assert.equal(watch.config.limits.key.requests_per_minute, 7);
  });

  test("no longer changes once the watch is closed", async () => {
    const { watch } = await start("limits: {}");
    const listeners = process.listenerCount("SIGHUP");
    await watch.close();
    assert.equal(process.listenerCount("SIGHUP"), listeners - 1);
  });
});
