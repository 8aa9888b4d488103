import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { appendFile, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { startServer, untilTelemetryReady, type RunningServer } from "../../../test/support/running-server.ts";
import { runSounding, type Outcome, type RunOptions } from "./run-sounding.ts";
import { beforeTests, useAll } from "../../../test/support/hooks.ts";

const recordCount = 5000;

describe("sounding export and import", { timeout: 240_000 }, () => {
  let from: RunningServer;
  let to: RunningServer;
  let directory: string;
  beforeTests(async (stack) => {
    directory = await mkdtemp(join(tmpdir(), "sounding-export-"));
    stack.defer(() => rm(directory, { recursive: true, force: true }));
    [from, to] = await useAll(stack, [startServer("", { telemetry: true }), startServer("", { telemetry: true })]);
    await Promise.all([untilTelemetryReady(from), untilTelemetryReady(to)]);
    const nowMs = Date.now();
    for (let start = 0; start < recordCount; start += 1000) {
      const logRecords = Array.from({ length: 1000 }, (_, index) => ({
        timeUnixNano: `${nowMs - start - index}000000`,
        body: { stringValue: `record ${start + index}` },
      }));
      await send("/v1/logs", { resourceLogs: [{ scopeLogs: [{ logRecords }] }] }, "shop/eu");
    }
    const span = { traceId: "ab".repeat(16), spanId: "cd".repeat(8), name: "s", startTimeUnixNano: `${nowMs}000000` };
    await send(
      "/v1/traces",
      { resourceSpans: [{ scopeSpans: [{ spans: [{ ...span, endTimeUnixNano: `${nowMs}000001` }] }] }] },
      "other",
    );
  });

  async function send(path: string, body: object, project: string): Promise<void> {
    const response = await from.call(path, body, { "x-project": project });
    assert.equal(response.status, 200, await response.text());
  }
  function sounding({ key, url }: RunningServer, words: readonly string[], options: RunOptions = {}): Promise<Outcome> {
    return runSounding(words, { ...options, env: { SOUNDING_API_KEY: key, SOUNDING_BASE_URL: url } });
  }
  async function count({ call }: RunningServer, project: string): Promise<number> {
    const query = encodeURIComponent('sum(count_over_time({service_name=~".+"}[2h]))');
    const response = await call(`/loki/api/v1/query?query=${query}`, undefined, { "x-project": project });
    const { data } = (await response.json()) as { data: { result: readonly { value: [number, string] }[] } };
    return Number(data.result[0]?.value[1] ?? 0);
  }

  test("saves every project, continues when it was killed, and a server that imports it has the same", async () => {
    const folder = join(directory, "all");
    const killed = await sounding(from, ["export", folder], {
      during: (child) => {
        const poll = setInterval(() => {
          const state = existsSync(join(folder, "export.json"))
            ? readFileSync(join(folder, "export.json"), "utf8")
            : "";
          if (/"cursor": "/.test(state)) child.kill("SIGKILL");
        }, 1);
        child.once("exit", () => clearInterval(poll));
      },
    });
    const logs = join(folder, "shop%2Feu/logs.jsonl");
    if (killed.code !== 0) await appendFile(logs, '{"resourceLogs":[{"half of a pa');
    const exported = await sounding(from, ["export", folder]);
    assert.equal(exported.code, 0, exported.stderr);
    if (killed.code !== 0) assert.match(exported.stderr, /^Continuing the export/);
    assert.match(exported.stdout, /^Exported [\d.]+ (?:KiB|MiB) to /);
    assert.deepEqual((await readdir(folder)).toSorted(), ["export.json", "other", "shop%2Feu"]);
    const lines = (await readFile(logs, "utf8")).trimEnd().split("\n");
    assert.equal(lines.flatMap((line) => line.match(/"body"/g)!).length, recordCount);
    assert.equal((await stat(logs)).mode & 0o777, 0o600);

    for (let round = 0; round < 2; round++) {
      const imported = await sounding(to, ["import", folder, "--json"]);
      assert.equal(imported.code, 0, imported.stderr);
      const { rejected, requests } = JSON.parse(imported.stdout) as { rejected: number; requests: number };
      assert.deepEqual([requests, rejected], [lines.length + 1, 0]);
    }
    assert.equal(await count(to, "shop/eu"), recordCount);
  });

  test("exports one signal of one project, and imports it into another project twice, each record once", async () => {
    const folder = join(directory, "one");
    const words = ["export", folder, "--project", "shop/eu", "--signal", "logs", "--since", "1h"];
    assert.equal((await sounding(from, words)).code, 0);
    assert.deepEqual((await readdir(folder)).toSorted(), ["export.json", "shop%2Feu"]);
    for (let round = 0; round < 2; round++) {
      await rm(join(folder, "import.json"), { force: true });
      const imported = await sounding(to, ["import", folder, "--project", "copy"]);
      assert.equal(imported.code, 0, imported.stderr);
    }
    assert.equal(await count(to, "copy"), recordCount);
  });

  test("explains what is wrong", async () => {
    const folder = join(directory, "broken");
    const none = await sounding(to, ["import", folder]);
    assert.deepEqual([none.code, none.stderr.includes("has no export")], [1, true], none.stderr);
    await sounding(from, ["export", folder, "--project", "other", "--signal", "traces"]);
    const other = await sounding(to, ["export", folder]);
    assert.deepEqual([other.code, /the folder has an export of/.test(other.stderr)], [2, true], other.stderr);
    await writeFile(join(folder, "export.json"), "{}");
    const damaged = await sounding(to, ["import", folder]);
    assert.match(damaged.stderr, /is not the state of an export of this version/);
    const missing = await runSounding(["export", folder], { env: {} });
    assert.equal(missing.code, 4, missing.stderr);
  });
});
