/** A server whose clock is set forward and back while it runs: calls, exports and queries go on, and revoked keys do not return. */
import assert from "node:assert/strict";
import { globSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { startScriptedUpstream } from "../packages/server/test/support/scripted-upstream.ts";
import { answerEcho, chat, configurationFor, operatorKey, serveMember } from "./fleet/fleet.ts";
import { otlpSender } from "./support/otlp-sender.ts";
import { needs } from "./support/needs.ts";

const [library] = globSync("/usr/lib/*/faketime/libfaketimeMT.so.1");
const skip = needs("faketime");
const hourMs = 3_600_000;

test("a server whose clock is set forward and back", { skip }, async () => {
  await using parts = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), "sounding-clock-"));
  parts.defer(() => rm(directory, { recursive: true, force: true }));
  const upstream = parts.use(await startScriptedUpstream(answerEcho));
  const config = join(directory, "sounding.yaml");
  await writeFile(config, `${configurationFor(upstream.url)}limits: { key: { requests_per_minute: 1000 } }\n`);
  const clock = join(directory, "clock");
  const setClock = (hours: number): Promise<void> => writeFile(clock, `${hours < 0 ? "" : "+"}${hours}h\n`);
  await setClock(0);
  const server = parts.use(
    await serveMember({
      data: join(directory, "data"),
      env: {
        SOUNDING_CONFIG: config,
        SOUNDING_ADMIN_KEY: operatorKey,
        LD_PRELOAD: library!,
        FAKETIME_TIMESTAMP_FILE: clock,
        FAKETIME_NO_CACHE: "1",
        // As an administrator sets a clock: the monotonic one, which timers use, goes on.
        FAKETIME_DONT_FAKE_MONOTONIC: "1",
      },
    }),
  );
  const key = server.firstKey!;
  const admin = (path: string, body?: object): Promise<Response> =>
    fetch(`${server.url}/admin/v1${path}`, {
      headers: { authorization: `Bearer ${operatorKey}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
    });
  const count = async (atMs: number): Promise<number> => {
    const query = new URLSearchParams({
      query: 'sum(count_over_time({service_name="clock"}[2h]))',
      time: String(atMs / 1000 + 3600),
    });
    const response = await fetch(`${server.url}/loki/api/v1/query?${query.toString()}`, {
      headers: { authorization: `Bearer ${key}` },
    });
    const { data } = (await response.json()) as { data: { result: readonly { value: [number, string] }[] } };
    return Number(data.result[0]?.value[1] ?? 0);
  };

  /** Node renews the header once a second. */
  const serverTime = async (): Promise<number> =>
    Date.parse((await fetch(`${server.url}/healthz`)).headers.get("date")!);

  for (const hours of [0, 3, -3, 0]) {
    await setClock(hours);
    const nowMs = Date.now() + hours * hourMs;
    while (Math.abs((await serverTime()) - nowMs) > hourMs / 2) await new Promise((resolve) => setTimeout(resolve, 50));
    const answered = await chat(server.url, key);
    assert.equal(answered.status, 200, await answered.text());
    const unixNano = BigInt(nowMs) * 1_000_000n;
    const before = await count(nowMs);
    await otlpSender(server.url, key).logs({ "service.name": "clock" }, [{ unixNano, body: `${hours} ${nowMs}` }]);
    assert.equal(await count(nowMs), before + 1);

    const created = (await (await admin("/keys", { name: `at ${hours}` })).json()) as { id: string; secret: string };
    assert.equal((await chat(server.url, created.secret)).status, 200);
    await admin(`/keys/${created.id}/revoke`, {});
    assert.equal((await chat(server.url, created.secret)).status, 401, "a revoked key");
    assert.equal((await fetch(`${server.url}/readyz`)).status, 200);
  }
});
