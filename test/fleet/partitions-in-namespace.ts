/**
 * Three servers, a Postgres and a store on hosts of a network whose links are cut in turn, under load. Run in a new network
 * namespace by partitions.test.ts. Throws, and so exits with 1, at the first expectation that does not hold.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { remotePassword } from "../../packages/server/test/store/remote-server.ts";
import { startScriptedUpstream } from "../../packages/server/test/support/scripted-upstream.ts";
import { startPostgres } from "../../packages/server/test/tenancy/postgres-server.ts";
import { answerEcho, chat, configurationFor, createKey, operatorKey, serveMember, type FleetServer } from "./fleet.ts";
import { createNetwork, type Host } from "./network.ts";

/** Longer than every timeout of the server: what takes longer hangs. */
const hangMs = 30_000;
const paceMs = 250;
/** Requests of each kind that each server must answer while a link is cut. */
const answersPerCut = 5;

interface Member extends FleetServer {
  readonly name: string;
  readonly host: Host;
  readonly address: string;
  /** Requests that were answered as if nothing had happened. */
  readonly served: { chats: number; exports: number };
}

const say = (text: string): void => void process.stdout.write(`${text}\n`);

await using parts = new AsyncDisposableStack();
const network = parts.use(createNetwork());
const directory = await mkdtemp(join(tmpdir(), "sounding-partitions-"));
parts.defer(() => rm(directory, { recursive: true, force: true }));

const database = await network.addHost();
const postgres = parts.use(await startPostgres(database));
const storage = await network.addHost();
const storeUrl = await startStore(storage);
const upstream = parts.use(await startScriptedUpstream(answerEcho, { host: network.address }));
const config = join(directory, "sounding.yaml");
await writeFile(config, `${configurationFor(upstream.url)}telemetry: { query_timeout_ms: 4000 }\n`);
const env = {
  SOUNDING_CONFIG: config,
  SOUNDING_LISTEN_HOST: "0.0.0.0",
  DATABASE_URL: await postgres.newDatabase(),
  SOUNDING_CLICKHOUSE_URL: storeUrl,
  SOUNDING_CLICKHOUSE_USER: "sounding",
  SOUNDING_CLICKHOUSE_PASSWORD: remotePassword,
  SOUNDING_ADMIN_KEY: operatorKey,
};
const members = await Promise.all(["a", "b", "c"].map(startMember));
const key = await createKey({ url: members[0]!.address });
/** Bodies of the log records that were acknowledged. */
const acknowledged = new Set<string>();
const failures: string[] = [];

async function startStore(host: Host): Promise<string> {
  const script = fileURLToPath(new URL("store-process.ts", import.meta.url));
  const [program, ...args] = [...host.prefix, process.execPath, script, host.address];
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"] });
  parts.defer(async () => {
    const exited = once(child, "exit");
    child.kill();
    await exited;
  });
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  return line.toString().trim();
}

async function startMember(name: string): Promise<Member> {
  const host = await network.addHost();
  const server = parts.use(await serveMember({ prefix: host.prefix, data: join(directory, name), env }));
  const address = `http://${host.address}:${new URL(server.url).port}`;
  return { ...server, name, host, address, served: { chats: 0, exports: 0 } };
}

function request(member: Member, path: string, body?: unknown, secret = key): Promise<Response> {
  return fetch(`${member.address}${path}`, {
    headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
    signal: AbortSignal.timeout(hangMs),
    ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
  });
}

async function callModel(member: Member): Promise<void> {
  const response = await chat(member.address, key);
  const text = await response.text();
  // Keys that a server knows, and models, need neither Postgres nor the store.
  assert.equal(response.status, 200, `a chat at ${member.name}: ${text}`);
  member.served.chats += 1;
}

let records = 0;

async function exportRecord(member: Member): Promise<void> {
  const body = `record ${(records += 1)} at ${member.name}`;
  const record = { timeUnixNano: `${Date.now()}000000`, body: { stringValue: body } };
  const resource = { attributes: [{ key: "service.name", value: { stringValue: "partitions" } }] };
  const message = { resourceLogs: [{ resource, scopeLogs: [{ logRecords: [record] }] }] };
  const response = await request(member, "/v1/logs", message);
  const text = await response.text();
  // The journal takes records while the store cannot be reached.
  assert.equal(response.status, 200, `an export to ${member.name}: ${text}`);
  acknowledged.add(body);
  member.served.exports += 1;
}

const ending = new AbortController();
const load = members.flatMap((member) =>
  [callModel, exportRecord].map(async (step) => {
    while (!ending.signal.aborted) {
      try {
        await step(member);
      } catch (error) {
        failures.push(`${step.name} at ${member.name}: ${String(error)}`);
      }
      await new Promise((resolve) => setTimeout(resolve, paceMs));
    }
  }),
);

async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadlineMs = performance.now() + 120_000;
  while (!(await holds())) {
    assert.ok(performance.now() < deadlineMs, `${what} did not happen; failures: ${failures.join("; ")}`);
    await new Promise((resolve) => setTimeout(resolve, 150));
  }
}

async function checksOf(member: Member): Promise<Record<string, string>> {
  const { checks } = (await (await request(member, "/readyz")).json()) as { checks: Record<string, string> };
  return checks;
}

/** Every server goes on answering calls and exports. */
async function untilAllServed(): Promise<void> {
  const before = members.map(({ served }) => ({ ...served }));
  await until("every server answering", () =>
    members.every(
      ({ served }, index) =>
        served.chats >= before[index]!.chats + answersPerCut &&
        served.exports >= before[index]!.exports + answersPerCut,
    ),
  );
}

async function countRecords(member: Member): Promise<Response> {
  return request(
    member,
    `/loki/api/v1/query?query=${encodeURIComponent('sum(count_over_time({service_name="partitions"}[1h]))')}`,
  );
}

async function untilHealthy(): Promise<void> {
  for (const member of members)
    await until(
      `${member.name} being healthy`,
      async () =>
        (await request(member, "/readyz")).status === 200 &&
        Object.values(await checksOf(member)).every((value) => value === "ok"),
    );
}

await untilAllServed();
say("# three servers share a Postgres and a store");

for (const member of members) {
  network.cut(member.host, database);
  await until(`${member.name} reporting Postgres`, async () => (await checksOf(member))["control_database"] !== "ok");
  const refused = await request(member, "/admin/v1/organizations", undefined, operatorKey);
  assert.equal(refused.status, 503, await refused.text());
  assert.ok(Number(refused.headers.get("retry-after")) > 0);
  await untilAllServed();
  for (const other of members.filter((each) => each !== member))
    assert.equal((await request(other, "/admin/v1/organizations", undefined, operatorKey)).status, 200);
  network.heal(member.host, database);
  await untilHealthy();
  say(`# Postgres was lost to ${member.name}: ${acknowledged.size} records acknowledged`);
}

for (const member of members) {
  network.cut(member.host, storage);
  const refused = await countRecords(member);
  assert.ok([503, 504].includes(refused.status), `${refused.status}: ${await refused.text()}`);
  await untilAllServed();
  for (const other of members.filter((each) => each !== member)) assert.equal((await countRecords(other)).status, 200);
  network.heal(member.host, storage);
  await until(`${member.name} querying again`, async () => (await countRecords(member)).status === 200);
  await untilHealthy();
  say(`# the store was lost to ${member.name}: ${acknowledged.size} records acknowledged`);
}

await postgres.stop();
for (const member of members)
  await until(`${member.name} reporting Postgres`, async () => (await checksOf(member))["control_database"] !== "ok");
await untilAllServed();
await postgres.start();
await untilHealthy();
say(`# Postgres was restarted: ${acknowledged.size} records acknowledged`);

ending.abort();
await Promise.all(load);
assert.deepEqual(failures, []);

const runsJob = (job: string): number =>
  members
    .map(({ log }) =>
      log()
        .split("\n")
        .filter((line) => line.includes(`"job":"${job}"`)),
    )
    .filter((lines) => lines.at(-1)?.includes("this server runs the job")).length;
for (const job of ["alerts", "rollups"]) await until(`one server running ${job}`, () => runsJob(job) === 1);

for (const member of members) {
  await until(`${member.name} finding every record`, async () => {
    const response = await countRecords(member);
    const { data } = (await response.json()) as { data: { result: readonly { value: [number, string] }[] } };
    return Number(data.result[0]?.value[1]) === acknowledged.size;
  });
}
say(`# every server finds the ${acknowledged.size} acknowledged records, each once`);
