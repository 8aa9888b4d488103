/** A server of several processes when one of them hangs, and when it is stopped behind a load balancer. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type ClientHttp2Session } from "node:http2";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { freePorts } from "../bench/free-ports.ts";
import { logRequest } from "../packages/server/test/otlp/example-requests.ts";
import { encode } from "../packages/server/test/otlp/oracle.ts";
import { startScriptedUpstream } from "../packages/server/test/support/scripted-upstream.ts";
import { untilTelemetryReady } from "./support/running-server.ts";
import { startWorkers, untilEnded, type WorkerServer } from "./support/worker-server.ts";

const exportLogs = "/opentelemetry.proto.collector.logs.v1.LogsService/Export";

/** The status of one unary call of gRPC. */
async function sendLog(session: ClientHttp2Session, key: string, body: string): Promise<string> {
  const message = encode("ExportLogsServiceRequest", logRequest({ body: { stringValue: body } }));
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(message.length, 1);
  const stream = session.request({
    ":method": "POST",
    ":path": exportLogs,
    "content-type": "application/grpc+proto",
    te: "trailers",
    authorization: `Bearer ${key}`,
  });
  let status = "";
  stream.on("response", (headers) => (status ||= String(headers["grpc-status"] ?? "")));
  stream.on("trailers", (headers) => (status ||= String(headers["grpc-status"] ?? "")));
  stream.resume();
  stream.end(Buffer.concat([prefix, message]));
  await once(stream, "close");
  return status;
}

async function openSession(address: string): Promise<ClientHttp2Session> {
  const session = connect(address);
  session.on("error", () => {});
  await once(session, "connect");
  return session;
}

async function storedBodies(server: WorkerServer, part: string): Promise<string[]> {
  const answer = await fetch(`${server.process.url}/observability/logs`, {
    method: "POST",
    headers: { authorization: `Bearer ${server.key}`, "content-type": "application/json" },
    body: JSON.stringify({ search: part, limit: 100 }),
  });
  assert.equal(answer.status, 200, await answer.clone().text());
  const { data } = (await answer.json()) as { data: { result: { values: [string, string][] }[] } };
  return data.result.flatMap(({ values }) => values.map(([, line]) => line)).sort();
}

test("a worker that hangs is replaced; others serve, and connections that it did not take are served", async () => {
  await using upstream = await startScriptedUpstream(async (exchange) => {
    exchange.beginEvents();
    const choices = [{ index: 0, finish_reason: null, delta: { content: "first" } }];
    await exchange.sendEvents({ id: "1", object: "chat.completion.chunk", created: 1, model: "m", choices });
  });
  const yaml = `
server: { worker_silence_ms: 3000 }
telemetry: { enabled: false }
discovery: { enabled: false }
engines: { scripted: { type: openai_compatible, base_url: "${upstream.url}/v1" } }
models: { scripted: { targets: [{ engine: scripted, model: m }] } }`;
  await using server = await startWorkers(yaml, { SOUNDING_WORKERS: "2" });
  const [first, second] = [await server.connect(1), await server.connect(2)];
  const chat = { model: "scripted", stream: true, messages: [{ role: "user", content: "Hello" }] };
  const stream = await first.open("/v1/chat/completions", chat);
  assert.equal(stream.statusCode, 200);
  second.close();
  const hung = server.pids()[1]!;
  const fromLine = server.lines().length - 1;
  process.kill(hung, "SIGSTOP");
  // Both workers are offered one of these connections, and the one that hangs will not take its own.
  const statuses = await Promise.all(
    Array.from({ length: 6 }, async () => (await fetch(`${server.process.url}/healthz`)).status),
  );
  assert.deepEqual(
    statuses,
    Array.from({ length: 6 }, () => 200),
  );
  const line = JSON.parse(await server.logged("a worker does not respond", fromLine)) as object;
  assert.partialDeepStrictEqual(line, { worker: 2, pid: hung, silence_ms: 3000 });
  await untilEnded(hung);
  await server.logged("a worker was replaced", fromLine);
  assert.equal((await (await server.connect(1)).call("/metrics")).status, 200);
  const replacement = await server.connect(2);
  assert.equal((await replacement.call("/healthz")).status, 200);
  assert.equal(stream.destroyed, false);
  stream.destroy();
  assert.ok(!server.lines().some((each) => each.includes("does not respond") && each.includes('"worker":1')));
});

describe("a server of two workers with a port for OTLP/gRPC and a shutdown delay", { timeout: 120_000 }, () => {
  test("takes gRPC on both ports, also while it says that it will stop", async () => {
    const [grpcPort] = (await freePorts(1)) as [number];
    const yaml = `
server: { shutdown_delay_ms: 15000 }
otlp: { grpc_port: ${grpcPort} }
discovery: { enabled: false }`;
    await using server = await startWorkers(yaml, { SOUNDING_WORKERS: "2" });
    await untilTelemetryReady(server.process);
    const addresses = [server.process.url, `http://127.0.0.1:${grpcPort}`];
    // More connections than workers, so that both take some of each port.
    const sessions = await Promise.all([...addresses, ...addresses, ...addresses].map(openSession));
    const before = sessions.map((session, index) => sendLog(session, server.key, `before ${index}`));
    assert.deepEqual(new Set(await Promise.all(before)), new Set(["0"]));
    assert.equal((await storedBodies(server, "before")).length, sessions.length);
    assert.equal((await fetch(`${server.process.url}/readyz`)).status, 200);

    server.process.child.kill("SIGTERM");
    let status = 200;
    while (status === 200) ({ status } = await fetch(`${server.process.url}/readyz`));
    assert.equal(status, 503);
    const late = await Promise.all(addresses.map(openSession));
    const meanwhile = [...sessions, ...late].map((session, index) => sendLog(session, server.key, `late ${index}`));
    assert.deepEqual(new Set(await Promise.all(meanwhile)), new Set(["0"]));
    assert.equal((await storedBodies(server, "late")).length, sessions.length + late.length);
    const pids = server.pids();
    await once(server.process.child, "exit");
    await Promise.all(pids.map(untilEnded));
    for (const session of [...sessions, ...late]) session.destroy();
  });
});

test(
  "workers that are killed again and again are replaced at once while none serves",
  { timeout: 120_000 },
  async () => {
    const yaml = "telemetry: { enabled: false }\ndiscovery: { enabled: false }";
    await using server = await startWorkers(yaml, { SOUNDING_WORKERS: "2" });
    const outages: number[] = [];
    for (let round = 0; round < 7; round += 1) {
      const killed = server.pids();
      for (const pid of killed) process.kill(pid, "SIGKILL");
      const killedMs = performance.now();
      while (!(await isServed(`${server.process.url}/healthz`))) await sleep(20);
      outages.push(performance.now() - killedMs);
      while (server.pids().length < 2 || server.pids().some((pid) => killed.includes(pid))) await sleep(20);
    }
    const [first, last] = [outages[0]!, outages.at(-1)!];
    assert.ok(last < 3 * first + 2_000, `the outages took ${outages.map(Math.round).join(", ")} ms`);
  },
);

async function isServed(url: string): Promise<boolean> {
  try {
    return (await fetch(url, { headers: { connection: "close" } })).ok;
  } catch {
    // Its worker was killed.
    return false;
  }
}
