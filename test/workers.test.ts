/** A server of several processes behaves like one: what one worker knows, the others do, and one that dies is replaced. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { startScriptedUpstream, type ScriptedUpstream } from "../packages/server/test/support/scripted-upstream.ts";
import { untilTelemetryReady } from "./support/running-server.ts";
import {
  counted,
  startWorkers,
  untilEnded,
  type WorkerConnection,
  type WorkerServer,
} from "./support/worker-server.ts";
import { beforeTests } from "./support/hooks.ts";

const chat = { model: "scripted", messages: [{ role: "user", content: "Hello" }] };
const completion = {
  id: "1",
  object: "chat.completion",
  created: 1,
  model: "scripted",
  choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: "Hi" } }],
};
const chunk = (content: string) => ({
  id: "1",
  object: "chat.completion.chunk",
  created: 1,
  model: "scripted",
  choices: [{ index: 0, finish_reason: null, delta: { content } }],
});

const configuration = (upstream: string, more = ""): string => `
discovery: { enabled: false }
engines:
  scripted: { type: openai_compatible, base_url: "${upstream}" }
models:
  scripted: { targets: [{ engine: scripted, model: scripted }], retries: { attempts: 0 } }
  failing: { targets: [{ engine: scripted, model: failing }], retries: { attempts: 0 } }
${more}
routing: { failure_threshold: 30, open_ms: 600000 }
`;

function logRecord(body: string): object {
  const timeUnixNano = String(BigInt(Date.now()) * 1_000_000n);
  return {
    resourceLogs: [
      { resource: { attributes: [] }, scopeLogs: [{ logRecords: [{ timeUnixNano, body: { stringValue: body } }] }] },
    ],
  };
}

async function foundBodies(connection: WorkerConnection, part: string): Promise<string[]> {
  const answer = await connection.call("/observability/logs", { search: part, limit: 1000 });
  assert.equal(answer.status, 200, answer.text);
  const { result } = answer.json["data"] as { result: { values: [string, string][] }[] };
  return result.flatMap(({ values }) => values.map(([, line]) => line)).sort();
}

async function pieces(stream: IncomingMessage): Promise<() => Promise<string>> {
  const iterator = stream.setEncoding("utf8")[Symbol.asyncIterator]() as AsyncIterator<string>;
  return async () => (await iterator.next()).value as string;
}

describe("a server of two workers", { timeout: 120_000 }, () => {
  let upstream: ScriptedUpstream;
  let server: WorkerServer;
  let one: WorkerConnection;
  let two: WorkerConnection;

  beforeTests(async (stack) => {
    upstream = await startScriptedUpstream((exchange) => exchange.answer(completion));
    stack.defer(() => upstream.close());
    server = stack.use(await startWorkers(configuration(`${upstream.url}/v1`), { SOUNDING_WORKERS: "2" }));
    await untilTelemetryReady(server.process);
    one = await server.connect(1);
    two = await server.connect(2);
  });

  test("lets both serve the same port, and is started once", async () => {
    for (const connection of [one, two])
      assert.equal((await connection.call("/v1/chat/completions", chat)).status, 200);
    const starts = server.lines().filter((line) => line.includes("the server accepts calls"));
    assert.equal(starts.length, 1);
    assert.equal(server.process.output.stdout.match(/Sounding is running/g)?.length, 1);
  });

  test("counts the calls of all workers, whichever is scraped", async () => {
    const calls = (metrics: string): number => counted(metrics, "sounding_http_requests_total", "createChatCompletion");
    const before = calls((await one.call("/metrics")).text);
    for (const connection of [one, two, two]) await connection.call("/v1/chat/completions", chat);
    for (const connection of [one, two]) {
      // Frequent scrapes get what was rendered a moment ago.
      for (let seen = NaN; seen !== before + 3;) seen = calls((await connection.call("/metrics")).text);
    }
    const { text: metrics } = await two.call("/metrics");
    assert.match(metrics, /^sounding_build_info\{version="[^"]+"\} 1$/m);
    assert.match(metrics, /^process_start_time_seconds \d+$/m);
    assert.match(metrics, /^sounding_check_ok\{check="control_database"\} 1$/m);
  });

  test("refuses a revoked key on every worker as soon as it is revoked on one", async () => {
    const path = "/admin/v1/keys";
    for (const [here, there] of [
      [one, two],
      [two, one],
    ] as const) {
      const { json: created } = await here.call(path, { name: "to be revoked" }, server.operatorKey);
      const { id, secret } = created as { id: string; secret: string };
      assert.equal((await there.call("/v1/models", undefined, secret)).status, 200);
      assert.equal((await here.call(`${path}/${id}/revoke`, {}, server.operatorKey)).status, 200);
      assert.equal((await there.call("/v1/models", undefined, secret)).status, 401);
    }
  });

  test("counts wrong keys over all workers together", async () => {
    const statuses: number[] = [];
    for (const connection of [one, two, one, two]) {
      for (let each = 0; each < 30; each += 1)
        statuses.push((await connection.call("/v1/models", undefined, "sk-wrong")).status);
    }
    const refused = statuses.filter((status) => status === 401).length;
    // 60 a minute, some of which other tests sent; what one worker counts reaches the other a moment later.
    assert.ok(refused >= 50 && refused < 75, `${refused} wrong keys were answered with 401`);
    assert.equal((await two.call("/v1/models")).status, 200);
  });

  test("shows on one worker what another has acknowledged before", async () => {
    for (const [index, [here, there]] of [
      [one, two],
      [two, one],
      [one, two],
    ].entries()) {
      assert.equal((await here!.call("/v1/logs", logRecord(`acknowledged ${index}`))).status, 200);
      assert.deepEqual(await foundBodies(there!, `acknowledged ${index}`), [`acknowledged ${index}`]);
    }
  });

  test("admits no more calls than a limit allows, over all workers together", async () => {
    const limits = { requests_per_minute: 10 };
    const { json: created } = await one.call("/admin/v1/keys", { name: "limited", limits }, server.operatorKey);
    const startMs = performance.now();
    let admitted = 0;
    for (let refused = 0; refused < 4;) {
      const answers = await Promise.all(
        [one, two].map((each) => each.call("/v1/chat/completions", chat, created["secret"] as string)),
      );
      const statuses = answers.map(({ status }) => status);
      admitted += statuses.filter((status) => status === 200).length;
      refused += statuses.filter((status) => status === 429).length;
    }
    const refilled = Math.ceil((performance.now() - startMs) / 6_000);
    assert.ok(admitted >= 9 && admitted <= 10 + refilled, `${admitted} calls were admitted`);
  });

  test("takes a target out of service on all workers when one finds that it fails", async () => {
    upstream.script = (exchange) => exchange.answer({ error: { message: "broken" } }, 500);
    const isOut = async (connection: WorkerConnection): Promise<boolean> =>
      (await connection.call("/v1/chat/completions", { ...chat, model: "failing" })).text.includes("out of service");
    while (!(await isOut(one)));
    const calls = upstream.exchanges.length;
    while (!(await isOut(two)));
    assert.ok(upstream.exchanges.length - calls < 30, "the second worker did not have to find out");
    upstream.script = (exchange) => exchange.answer(completion);
  });

  test("reloads the configuration on all workers, and refuses an invalid one once", async () => {
    const hasModel = async (connection: WorkerConnection): Promise<boolean> =>
      (await connection.call("/v1/models")).text.includes("brought-by-reload");
    const more = "  brought-by-reload: { targets: [{ engine: scripted, model: scripted }] }";
    await writeFile(server.configPath, configuration(`${upstream.url}/v1`, more));
    server.process.child.kill("SIGHUP");
    await server.logged("the configuration was reloaded");
    for (const connection of [one, two]) assert.ok(await hasModel(connection));
    const lines = server.lines().length - 1;
    await writeFile(
      server.configPath,
      configuration(`${upstream.url}/v1`, "  bad: { targets: [{ engine: none, model: x }] }"),
    );
    server.process.child.kill("SIGHUP");
    await server.logged("the current configuration stays active", lines);
    for (const connection of [one, two]) assert.ok(await hasModel(connection));
    await writeFile(server.configPath, configuration(`${upstream.url}/v1`, more));
    assert.ok(
      server
        .lines()
        .slice(lines)
        .every((line) => !line.includes(`"worker"`) || !line.includes(`"level":"error"`)),
    );
  });

  test("replaces a worker that is killed, loses nothing of it, and lets the other one's calls continue", async () => {
    const ask = Promise.withResolvers<void>();
    upstream.script = async (exchange) => {
      exchange.beginEvents();
      await exchange.sendEvents(chunk("first"));
      await ask.promise;
      await exchange.sendEvents(chunk("last"));
      await exchange.send("data: [DONE]\n\n");
      exchange.end();
    };
    const stream = await one.open("/v1/chat/completions", { ...chat, stream: true });
    const next = await pieces(stream);
    assert.match(await next(), /first/);
    const other = await server.connect(1);
    const requests = (metrics: string): number => counted(metrics, "sounding_http_requests_total");
    for (let sent = 0; sent < 20; sent++)
      assert.equal((await two.call("/v1/logs", logRecord(`of the dead ${sent}`))).status, 200);
    const before = requests((await other.call("/metrics")).text);
    const dead = server.pids()[1]!;
    process.kill(dead, "SIGKILL");
    await untilEnded(dead);
    // The replacement inserts what the dead worker acknowledged. A query waits for it, but not forever.
    while ((await foundBodies(other, "of the dead")).length < 20);
    await server.logged("a worker was replaced");
    assert.notEqual(server.pids()[1], dead);
    const replacement = await server.connect(2);
    for (const connection of [other, replacement]) {
      const { text: metrics } = await connection.call("/metrics");
      assert.ok(requests(metrics) >= before, `${requests(metrics)} is less than ${before}`);
    }
    ask.resolve();
    let rest = "";
    for (let piece = await next(); piece !== undefined; piece = await next()) rest += piece;
    assert.match(rest, /last[\s\S]*\[DONE\]/);
    // It starts with the circuits that are open, and with the reloaded configuration.
    const refused = await replacement.call("/v1/chat/completions", { ...chat, model: "failing" });
    assert.match(refused.text, /out of service/);
    assert.match((await replacement.call("/v1/models")).text, /brought-by-reload/);
  });

  test("finishes its calls after SIGTERM, and ends all its processes", async () => {
    const ask = Promise.withResolvers<void>();
    upstream.script = async (exchange) => {
      await ask.promise;
      exchange.answer(completion);
    };
    const connections = [await server.connect(1), await server.connect(2)];
    const calls = connections.map((connection) => connection.call("/v1/chat/completions", chat));
    const arrived = upstream.exchanges.length + 2;
    await upstream.until(
      () => upstream.exchanges.length >= arrived || upstream.exchanges.slice(-2).every(({ gone }) => !gone),
      "both calls",
    );
    const pids = server.pids();
    server.process.child.kill("SIGTERM");
    await server.logged("the server is shutting down");
    ask.resolve();
    assert.deepEqual(
      (await Promise.all(calls)).map(({ status }) => status),
      [200, 200],
    );
    await once(server.process.child, "exit");
    await Promise.all(pids.map(untilEnded));
    assert.ok(server.lines().some((line) => line.includes("the server has stopped")));
  });
});

test(
  "a killed primary leaves no process behind, and the next start inserts what its workers acknowledged",
  { timeout: 120_000 },
  async () => {
    const directory = await mkdtemp(join(tmpdir(), "sounding-workers-data-"));
    const data = join(directory, "data");
    try {
      const acknowledged: string[] = [];
      let key = "";
      {
        await using server = await startWorkers("discovery: { enabled: false }", { SOUNDING_WORKERS: "2" }, data);
        key = server.key;
        await untilTelemetryReady(server.process);
        const connections = await Promise.all([1, 2].map((worker) => server.connect(worker)));
        const engine = JSON.parse(await server.logged("the embedded telemetry store is running")) as { pid: number };
        for (const [index, connection] of connections.entries()) {
          assert.equal((await connection.call("/v1/logs", logRecord(`left by ${index}`))).status, 200);
          acknowledged.push(`left by ${index}`);
        }
        const pids = [...server.pids(), engine.pid];
        assert.equal(await server.process.end("SIGKILL"), null);
        await Promise.all(pids.map(untilEnded));
      }
      const folders = await readdir(join(data, "telemetry/journal"));
      assert.ok(folders.includes("worker-2"), String(folders));
      await using server = await startWorkers("discovery: { enabled: false }", {}, data);
      await untilTelemetryReady(server.process);
      const answer = await fetch(`${server.process.url}/observability/logs`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify({ search: "left by", limit: 10 }),
      });
      const { data: found } = (await answer.json()) as { data: { result: { values: [string, string][] }[] } };
      const lines = found.result.flatMap(({ values }) => values.map(([, line]) => line));
      assert.deepEqual(lines.sort(), acknowledged);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  },
);
