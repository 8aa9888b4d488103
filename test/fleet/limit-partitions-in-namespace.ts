/**
 * Three servers that share a limit, under a flood of calls, on hosts of a network whose links to the limit's backend are cut in
 * turn. Run by partitions.test.ts in a new network namespace, with the name of the backend. Throws, and so exits with 1, at the
 * first expectation that does not hold.
 */
import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startValkey } from "../../packages/server/test/limits/valkey-server.ts";
import { startScriptedUpstream } from "../../packages/server/test/support/scripted-upstream.ts";
import { startPostgres } from "../../packages/server/test/tenancy/postgres-server.ts";
import { answerEcho, chat, configurationFor, createKey, operatorKey, serveMember } from "./fleet.ts";
import { createNetwork, type Host } from "./network.ts";

const backend = process.argv[2] === "postgres" ? "postgres" : "valkey";
const limit = 300;
const minuteMs = 60_000;
/** Long enough that servers that count alone would admit far more than the tolerance allows. */
const windowMs = 6_000;
const tolerance = 5;
const pauseAfterRefusalMs = 100;

interface Member {
  readonly name: string;
  readonly host: Host;
  readonly url: string;
  /** Calls by the status of their response. */
  readonly counts: Record<200 | 429 | 503, number>;
}

await using parts = new AsyncDisposableStack();
const network = parts.use(createNetwork());
const directory = await mkdtemp(join(tmpdir(), "sounding-limit-partitions-"));
parts.defer(() => rm(directory, { recursive: true, force: true }));
const database = await network.addHost();
const postgres = parts.use(await startPostgres(database));
const databaseUrl = await postgres.newDatabase();
const cache = await network.addHost();
const valkey = parts.use(await startValkey([], cache));
const counting = backend === "postgres" ? database : cache;
const upstream = parts.use(await startScriptedUpstream(answerEcho, { host: network.address }));

async function startMember(name: string, whenUnreachable: "allow" | "refuse"): Promise<Member> {
  const host = await network.addHost();
  const config = join(directory, `${name}.yaml`);
  await writeFile(
    config,
    `${configurationFor(upstream.url)}telemetry: { enabled: false }
limits:
  key: { requests_per_minute: ${limit} }
  shared: { backend: ${backend}, valkey_url: "${valkey.url}", when_unreachable: ${whenUnreachable}, timeout_ms: 5000 }
`,
  );
  const env = {
    SOUNDING_CONFIG: config,
    SOUNDING_LISTEN_HOST: "0.0.0.0",
    DATABASE_URL: databaseUrl,
    SOUNDING_ADMIN_KEY: operatorKey,
  };
  const server = parts.use(await serveMember({ prefix: host.prefix, data: join(directory, name), env }));
  const url = `http://${host.address}:${new URL(server.url).port}`;
  return { name, host, url, counts: { 200: 0, 429: 0, 503: 0 } };
}

const members = await Promise.all([
  startMember("a", "allow"),
  startMember("b", "allow"),
  startMember("c", "refuse"),
] as const);
const [alone, , refusing] = members;
const key = await createKey(members[0]);

const ending = new AbortController();
/** One call at a time for each server. */
const flood = Promise.all(
  members.map(async ({ name, url, counts }) => {
    while (!ending.signal.aborted) {
      const response = await chat(url, key);
      const text = await response.text();
      const { status } = response;
      assert.ok(status === 200 || status === 429 || status === 503, `${status} at ${name}: ${text}`);
      counts[status] += 1;
      if (status === 200) continue;
      assert.ok(Number(response.headers.get("retry-after")) > 0, text);
      await new Promise((resolve) => setTimeout(resolve, pauseAfterRefusalMs));
    }
  }),
);
flood.catch(() => {});

async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadlineMs = performance.now() + 120_000;
  while (!(await holds())) {
    const seen = members.map(({ name, counts }) => `${name}: ${JSON.stringify(counts)}`).join(", ");
    assert.ok(performance.now() < deadlineMs, `${what} did not happen; ${seen}`);
    // A call that got an unexpected response ends the test.
    await Promise.race([flood, new Promise((resolve) => setTimeout(resolve, 50))]);
  }
}

async function countsTogether({ url }: Member): Promise<boolean> {
  const { checks } = (await (await fetch(`${url}/readyz`)).json()) as { checks: Record<string, string> };
  return checks["shared_limits"] === "ok";
}

/** Resolves when each of the servers has had `times` more responses of the status. */
async function untilAnswered(
  status: 200 | 429 | 503,
  times: number,
  those: readonly Member[] = members,
): Promise<void> {
  const before = those.map(({ counts }) => counts[status]);
  await until(`${times} responses ${status} of ${those.map(({ name }) => name).join(", ")}`, () =>
    those.every(({ counts }, index) => counts[status] >= before[index]! + times),
  );
}

function admittedBy(those: readonly Member[]): number {
  return those.reduce((sum, { counts }) => sum + counts[200], 0);
}

/** Starts to count; the function it returns checks what the servers have admitted since then. */
function measure(those: readonly Member[]): (what: string, least?: "all") => void {
  const [startMs, before] = [performance.now(), admittedBy(those)];
  return (what, least) => {
    const elapsedMs = performance.now() - startMs;
    const [admitted, allowed] = [admittedBy(those) - before, (limit * elapsedMs) / minuteMs];
    const numbers = `${what}: ${admitted} admitted in ${(elapsedMs / 1000).toFixed(1)} s, where ${allowed.toFixed(1)} are allowed`;
    process.stdout.write(`# ${backend}: ${numbers}\n`);
    assert.ok(admitted <= allowed + tolerance, numbers);
    if (least === "all") assert.ok(admitted >= allowed - tolerance, numbers);
  };
}

/** All servers are one limit. */
async function expectOneLimit(what: string): Promise<void> {
  for (const member of members) await until(`${member.name} counting with others`, () => countsTogether(member));
  // What a server knew alone is used up.
  await untilAnswered(429, 10);
  const check = measure(members);
  await new Promise((resolve) => setTimeout(resolve, windowMs));
  await untilAnswered(429, 1);
  check(what, "all");
}

await expectOneLimit("all links work");

for (const cut of [alone, refusing]) {
  const others = members.filter((each) => each !== cut);
  const checkCut = measure([cut]);
  const checkOthers = measure(others);
  network.cut(cut.host, counting);
  await until(`${cut.name} counting alone`, async () => !(await countsTogether(cut)));
  if (cut === alone) await untilAnswered(200, 10, [cut]);
  else {
    await untilAnswered(503, 10, [cut]);
    const admitted = cut.counts[200];
    await untilAnswered(503, 20, [cut]);
    assert.equal(cut.counts[200], admitted, `${cut.name} admits no call while it refuses`);
  }
  await untilAnswered(429, 10, others);
  checkCut(`${cut.name} has lost the backend`);
  checkOthers(`the others while ${cut.name} has lost the backend`);
  network.heal(cut.host, counting);
  await expectOneLimit(`the link of ${cut.name} is healed`);
}

ending.abort();
await flood;
for (const { name, counts } of members.filter((each) => each !== refusing))
  assert.equal(counts[503], 0, `${name} refuses no call for want of the backend`);
