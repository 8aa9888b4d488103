import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { after, describe, test } from "node:test";
import { openAdministration } from "@sounding/server";
import { run } from "../src/run.ts";

const folder = await mkdtemp(join(tmpdir(), "sounding-administration-"));
after(() => rm(folder, { recursive: true }));

let installations = 0;

/** A configuration with its own database, as the environment that selects it. */
async function newInstallation(): Promise<{ env: Record<string, string>; dataDirectory: string }> {
  installations += 1;
  const dataDirectory = join(folder, `data-${installations}`);
  const file = join(folder, `sounding-${installations}.yaml`);
  await writeFile(file, `storage:\n  data_dir: ${JSON.stringify(dataDirectory)}\n`);
  return { env: { SOUNDING_CONFIG: file }, dataDirectory };
}

async function sounding(words: string, env: Record<string, string>) {
  const stdout = new PassThrough({ highWaterMark: 1_000_000 });
  const stderr = new PassThrough({ highWaterMark: 1_000_000 });
  const code = await run(words.split(" "), {
    stdin: Readable.from([]),
    stdout,
    stderr,
    isTTY: { stdin: false, stdout: false, stderr: false },
    env,
    signal: new AbortController().signal,
    abortedExitCode: () => 130,
  });
  stdout.end();
  stderr.end();
  return { code, stdout: await text(stdout), stderr: await text(stderr) };
}

/** The output of a command with --json that must succeed. */
async function succeed<Value>(words: string, env: Record<string, string>): Promise<Value> {
  const result = await sounding(`${words} --json`, env);
  assert.deepEqual([result.code, result.stderr], [0, ""]);
  return JSON.parse(result.stdout) as Value;
}

interface Shown {
  readonly id: string;
  readonly name: string;
  readonly [member: string]: unknown;
}

/** What the commands do, on a local database or a remote server. */
async function administer(env: Record<string, string>, where: string): Promise<void> {
  const run = <Value = Shown>(words: string) => succeed<Value>(`${words}${where}`, env);
  const acme = await run(
    "org create acme --tokens-per-month 500 --compute-seconds-per-minute 30 --allow-model gpt-* --allow-model tiny",
  );
  assert.deepEqual(
    [acme["limits"], acme["allowed_models"]],
    [{ compute_seconds_per_minute: 30, tokens_per_month: 500 }, ["gpt-*", "tiny"]],
  );
  const changed = await run(
    "org update acme --name apex --tokens-per-month none --compute-seconds-per-minute none --allow-all-models",
  );
  assert.deepEqual([changed.name, changed["limits"], changed["allowed_models"]], ["apex", {}, null]);

  const bot = await run("project create bot -o apex --retention-days 7 --record-content");
  assert.deepEqual(bot["settings"], { retention_days: 7, record_content: true });
  const quiet = await run("project update bot -o apex --no-record-content");
  assert.deepEqual(quiet["settings"], { retention_days: 7, record_content: false });
  const redacting = await run("project update bot -o apex --redact email --redact iban");
  assert.deepEqual(redacting["settings"], { retention_days: 7, record_content: false, redact: ["email", "iban"] });
  const open = await run("project update bot -o apex --redact none");
  assert.deepEqual(open["settings"], { retention_days: 7, record_content: false, redact: [] });
  const projects = await run<Shown[]>("project list -o apex");
  assert.deepEqual(
    projects.map(({ name }) => name),
    ["default", "bot"],
  );

  const key = await run(
    "key create ci -o apex -p bot --permission inference --expires 90d --requests-per-minute 5 --no-record-content",
  );
  assert.match(String(key["secret"]), /^sk-/);
  assert.equal(key["project_id"], bot.id);
  assert.ok(Math.abs(Number(key["expires_at"]) - Date.now() / 1000 - 90 * 86_400) < 60);
  assert.equal(key["record_content"], false);
  const updated = await run(`key update ${key.id} --name build --expires never --record-content`);
  assert.equal(updated["record_content"], true);
  assert.deepEqual([updated.name, updated["expires_at"], updated["secret"]], ["build", null, undefined]);
  assert.deepEqual(await run<Shown[]>("key list -o apex -p bot"), [updated]);
  const budget = await run(
    "budget create pilot -o apex --amount 1.5 --key build --thresholds 80,50 --time-zone Asia/Tokyo",
  );
  assert.deepEqual(
    ["amount", "subject", "value", "thresholds", "period", "time_zone", "used", "remaining"].map(
      (name) => budget[name],
    ),
    [1.5, "key", key.id, [50, 80], "month", "Asia/Tokyo", 0, 1.5],
  );
  const teams = await run("budget create teams -o apex --amount 2 --each tag:team --period day --only-report");
  assert.deepEqual(
    ["subject", "tag", "value", "enforced", "values"].map((name) => teams[name]),
    ["tag", "team", null, false, undefined],
  );
  assert.deepEqual(await run<Shown[]>("budget list -o apex"), [budget, teams]);
  assert.deepEqual((await run("budget show teams"))["values"], []);
  const raised = await run("budget update pilot --amount 2 --only-report --unpriced allow --thresholds none");
  assert.deepEqual(
    ["amount", "enforced", "unpriced", "thresholds"].map((name) => raised[name]),
    [2, false, "allow", []],
  );
  for (const { id } of [budget, teams]) assert.equal((await run(`budget delete ${id}`)).id, id);
  assert.deepEqual(await run<Shown[]>("budget list -o apex"), []);
  const graced = await run<Shown & { replaced: Shown }>("key rotate build -o apex --grace 1h");
  assert.match(String(graced["secret"]), /^sk-/);
  assert.notEqual(graced["secret"], key["secret"]);
  for (const member of ["name", "organization_id", "project_id", "permissions", "limits", "operator", "expires_at"]) {
    assert.deepEqual(graced[member], updated[member], member);
  }
  assert.equal(graced.replaced.id, key.id);
  assert.equal(graced.replaced["revoked_at"], null);
  assert.ok(Math.abs(Number(graced.replaced["expires_at"]) - Date.now() / 1000 - 3600) < 60);
  const ambiguous = await sounding(`key revoke build${where}`, env);
  assert.equal(ambiguous.code, 2);
  assert.match(ambiguous.stderr, /2 keys are named "build"; use an ID: key_\w+ \(sk-.{4}….{4}, apex\), key_/);
  const rotated = await run<Shown & { replaced: Shown }>(`key rotate ${graced.id} --expires 2d`);
  assert.notEqual(rotated.replaced["revoked_at"], null);
  assert.ok(Math.abs(Number(rotated["expires_at"]) - Date.now() / 1000 - 2 * 86_400) < 60);
  assert.equal((await sounding(`key rotate ${graced.id}${where}`, env)).code, 1);

  assert.notEqual((await run(`key revoke ${key.id}`))["revoked_at"], null);
  assert.equal((await run("key show build")).id, rotated.id);
  assert.notEqual((await run("key revoke build -o apex"))["revoked_at"], null);
  assert.deepEqual(await run<Shown[]>("key list -o apex"), []);
  assert.equal((await run<Shown[]>("key list -o apex --revoked")).length, 3);

  await administerPeople(run);
  assert.equal((await sounding(`people show nobody@example.com${where}`, env)).code, 5);
  assert.match((await sounding(`people list -o apex${where}`, env)).stdout, /ada@example.com .*owner/);
  assert.match((await sounding(`member list -o apex${where}`, env)).stdout, /bob@example.com +admin +bot +admin/);
  assert.match((await sounding(`role list -o apex${where}`, env)).stdout, /reviewer +telemetry_read, content_read/);
  assert.match((await sounding(`key list -o apex${where}`, env)).stdout, /role reviewer/);

  assert.notEqual((await run("project archive bot -o apex"))["archived_at"], null);
  assert.equal((await run(`project show ${bot.id}`)).id, bot.id);
  assert.notEqual((await run("org archive apex"))["archived_at"], null);
  assert.ok(!(await run<Shown[]>("org list")).some(({ name }) => name === "apex"));

  const events = await run<{ action: string; actor: Shown; target: Shown; outcome: string }[]>("audit list");
  const refused = events.filter(({ outcome }) => outcome === "refused");
  assert.deepEqual(
    refused.map(({ action }) => action),
    ["rotateKey"],
  );
  assert.deepEqual([events[0]!.action, events[0]!.target.name], ["createOrganization", "acme"]);
  assert.deepEqual([events.at(-1)!.action, events.at(-1)!.actor["kind"]], ["archiveOrganization", "local"]);
  const ofProject = await run<unknown[]>("audit list --target project --action createProject --limit 1");
  assert.equal(ofProject.length, 1);
  const { valid, last_hash, last_sequence } = await run<{ valid: boolean; last_hash: string; last_sequence: number }>(
    "audit verify",
  );
  assert.equal(valid, true);
  assert.equal((await run(`audit verify --anchor ${last_sequence}:${last_hash}`))["valid"], true);
}

/** In the organization `apex` with the project `bot`. */
async function administerPeople(run: <Value = Shown>(words: string) => Promise<Value>): Promise<void> {
  const ada = await run("people add Ada@example.com -o apex --role owner --name Ada");
  assert.deepEqual([ada["email"], ada.name], ["ada@example.com", "Ada"]);
  const role = await run("role create checker -o apex --permission telemetry_read --permission content_read");
  assert.equal((await run("role update checker -o apex --name reviewer --allow-model tiny")).name, "reviewer");
  const bob = await run("people add bob@example.com -o apex --role reviewer");
  assert.equal((bob["memberships"] as Shown[])[0]!["role"], role.id);
  assert.equal((await run("member set bob@example.com -o apex -p bot --role admin"))["role"], "admin");
  assert.equal((await run<Shown[]>("member list -o apex")).length, 3);
  assert.equal((await run("member remove bob@example.com -o apex"))["role"], role.id);
  const invited = await run("people invite eve@example.com -o apex --role viewer");
  const reset = await run("people reset eve@example.com");
  for (const link of [invited, reset]) assert.match(String(link["url"]), /\/console\/sign-in#link=[\w-]{43}&/);
  assert.notEqual(invited["url"], reset["url"]);
  assert.notEqual((await run("people disable eve@example.com"))["disabled_at"], null);
  assert.notEqual((await run("people disable bob@example.com"))["disabled_at"], null);
  assert.equal((await run<Shown[]>("people list -o apex")).length, 1);
  assert.equal((await run("people enable bob@example.com"))["disabled_at"], null);
  const key = await run("key create dashboards -o apex --role reviewer --allow-model tiny");
  assert.deepEqual([key["role"], key["allowed_models"]], [role.id, ["tiny"]]);
  assert.equal((await run("key update dashboards --allow-all-models"))["allowed_models"], null);
  const unused = await run("role create unused -o apex --permission inference");
  assert.equal((await run("role delete unused -o apex")).id, unused.id);
}

describe("sounding org, project, key and budget on the database of this machine", () => {
  test("create, list, show, update, revoke and archive", async () => {
    const { env } = await newInstallation();
    await administer(env, "");
  });

  test("write tables and objects for people, and a new key's secret alone to standard output", async () => {
    const { env } = await newInstallation();
    await sounding("org create acme", env);
    const { code, stdout, stderr } = await sounding("key create laptop", env);
    assert.equal(code, 0);
    assert.match(stdout, /^sk-[\w-]{43}\n$/);
    assert.match(stderr, /^permissions +inference, telemetry_write, telemetry_read$/m);
    const list = await sounding("key list", env);
    assert.match(
      list.stdout,
      /^NAME +ORGANIZATION +KEY +PERMISSIONS +LAST USED +EXPIRES +ID\nlaptop +acme +sk-.{4}….{4} .* key_\w+\n$/,
    );
    assert.ok(!list.stdout.includes(stdout.trim()));
    await sounding("budget create all --amount 10 --key laptop --period total", env);
    assert.match(
      (await sounding("budget list", env)).stdout,
      /^NAME +ORGANIZATION +FOR +AMOUNT .*\nall +acme +key key_\w+ +10 USD +total +0 +░{10} +0 +10 +- +bgt_\w+\n$/,
    );
    assert.match((await sounding("budget show all", env)).stdout, /^resets_at +-$/m);
    assert.match((await sounding("org show acme", env)).stdout, /^allowed_models +-$/m);
  });

  test("show the audit log, and fail if somebody has changed it", async () => {
    const { env, dataDirectory } = await newInstallation();
    await sounding("org create acme", env);
    const list = await sounding("audit list --utc", env);
    assert.match(
      list.stdout,
      /^TIME +ACTOR +ACTION +TARGET +OUTCOME +ADDRESS\n[-\d]+ [:\d]+Z +local \S+ +createOrganization +organization acme +done +-\n$/,
    );
    const verified = await sounding("audit verify --local", env);
    assert.deepEqual([verified.code, verified.stderr], [0, ""]);
    assert.match(verified.stdout, /^The audit log is valid: 1 entry\.\nAnchor: 1:[0-9a-f]{64}\n$/);
    const database = new DatabaseSync(join(dataDirectory, "control.sqlite"));
    database.exec("update audit_events set actor_name = 'somebody else'");
    database.close();
    const tampered = await sounding("audit verify", env);
    assert.equal(tampered.code, 1);
    assert.match(tampered.stdout, /^The entry 1 \(aud_\w+\) is not what was written\.\nThe audit log is NOT valid\.\n/);
    const misspelt = await sounding("audit verify --anchor 1", env);
    assert.deepEqual([misspelt.code, misspelt.stdout], [2, ""]);
    assert.match(misspelt.stderr, /--anchor is "1"; expected SEQUENCE:HASH/);
    assert.equal((await sounding("audit list --limit many", env)).code, 2);
  });

  test("use the only organization if none is named, and ask which if there are several", async () => {
    const { env } = await newInstallation();
    assert.match(
      (await sounding("key create k", env)).stderr,
      /no organization exists yet; .*create an organization with `sounding org create/,
    );
    await sounding("org create acme", env);
    assert.equal((await sounding("key create k", env)).code, 0);
    await sounding("org create globex", env);
    const asked = await sounding("key create k", env);
    assert.equal(asked.code, 2);
    assert.match(asked.stderr, /--organization is missing; it must be one of "acme", "globex"/);
  });

  for (const [words, code, message] of [
    ["org show nobody", 5, /the organization "nobody" does not exist/],
    ["org show org_00000000000000000000000000000000", 5, /The organization "org_0+" does not exist/],
    ["key revoke key_none", 5, /the key "key_none" does not exist; `sounding key list`/],
    ["org create acme", 1, /name is "acme"; another organization already has this name/],
    ["org update acme", 2, /no change was given/],
    ["org update acme --requests-per-minute many", 2, /--requests-per-minute is "many"; it must be a whole number/],
    ["org update acme --requests-per-minute 0", 2, /--requests-per-minute is 0; expected an integer/],
    ["project create p --retention-days 0", 2, /--retention-days is 0/],
    ["key create k --expires tomorrow", 2, /--expires is "tomorrow"; it must be a duration such as 90d/],
    ["key create k --expires 2001-01-01", 2, /--expires is 978307200, which is in the past/],
    ["key create k --operator", 2, /--operator is true; this requires the permission "admin"/],
    ["budget create b", 2, /--amount is missing/],
    ["budget create b --amount much", 2, /--amount is "much"; it must be a number above 0/],
    ["budget create b --amount 1 --user a --model m", 2, /--user and --model exclude each other/],
    [
      "budget create b --amount 1 --each nobody",
      2,
      /--each is "nobody"; it must be project, key, user, model or tag:NAME/,
    ],
    ["budget create b --amount 1 --tag team", 2, /--tag is "team"; it must be a name and a value/],
    ["budget create b --amount 1 --time-zone Nowhere", 2, /--time-zone is "Nowhere"; expected an IANA name/],
    ["budget update b --enforce --only-report", 2, /contradict each other/],
    ["budget delete nothing", 5, /the budget "nothing" does not exist; `sounding budget list`/],
    ["key rotate key_none --grace soon", 2, /--grace is "soon"; it must be a duration such as 30m/],
    ["key create k --permission root", 2, /--permission is "root"/],
    ["org list --url http://127.0.0.1:9", 4, /no key to administer http:.*set SOUNDING_ADMIN_KEY, or use --local/],
    ["org list --local --url http://127.0.0.1:9", 2, /--url calls a server, --local .* use one of them/],
  ] as const) {
    test(`reports what is wrong with: sounding ${words}`, async () => {
      const { env } = await newInstallation();
      await sounding("org create acme", env);
      const result = await sounding(words, env);
      assert.deepEqual([result.code, result.stdout], [code, ""]);
      assert.match(result.stderr, message);
    });
  }
});

describe("sounding org, project and key on a server", () => {
  /** The admin API over real HTTP, for any holder of the key. */
  async function startServer() {
    const { dataDirectory } = await newInstallation();
    const administration = await openAdministration({ dataDirectory, currency: "USD" });
    const reply = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
      response.setHeader("content-type", "application/json");
      try {
        const denied = { status: 401, message: "Incorrect API key." };
        if (request.headers.authorization !== "Bearer sk-right") throw denied;
        const sent = await text(request);
        const body: unknown = sent === "" ? undefined : JSON.parse(sent);
        response.end(JSON.stringify(await administration.request(request.method!, request.url!, body)));
      } catch (error) {
        const { status, message } = error as { status?: number; message: string };
        response.writeHead(status ?? 500).end(JSON.stringify({ error: { message } }));
      }
    };
    const server = createServer((request, response) => void reply(request, response)).listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    return {
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      async [Symbol.asyncDispose]() {
        server.close();
        server.closeAllConnections();
        await administration.close();
      },
    };
  }

  test("do the same through the admin API", async () => {
    await using server = await startServer();
    await administer({ SOUNDING_ADMIN_KEY: "sk-right" }, ` --url ${server.url}/`);
  });

  test("give the server's errors their exit codes", async () => {
    await using server = await startServer();
    const denied = await sounding(`org list --url ${server.url}`, { SOUNDING_ADMIN_KEY: "sk-wrong" });
    assert.equal(denied.code, 4);
    assert.match(
      denied.stderr,
      /^sounding: Incorrect API key\. Set a key with the permission admin in SOUNDING_ADMIN_KEY/,
    );
    const env = { SOUNDING_ADMIN_KEY: "sk-right" };
    assert.equal((await sounding(`key show key_none --url ${server.url}`, env)).code, 5);
    const unreachable = await sounding("org list --url http://127.0.0.1:1", env);
    assert.equal(unreachable.code, 3);
    assert.match(
      unreachable.stderr,
      /^sounding: http:\/\/127\.0\.0\.1:1 could not be reached\. Start the server, or use --local/,
    );
  });
});

describe("sounding delete", () => {
  /** A server with one organization and a deletion of two steps. */
  async function startAdmin() {
    const organization = { id: `org_${"0".repeat(32)}`, name: "acme" };
    const requests: string[] = [];
    let shown = 0;
    const rows = { spans: 3, logs: 2, points: 1, distribution_points: 1 };
    const server = createServer((request, response) => {
      void text(request).then((body) => {
        requests.push(`${request.method} ${request.url} ${body}`.trim());
        const isDryRun = body.includes('"dry_run":true');
        if (request.method === "GET" && request.url!.startsWith("/admin/v1/deletions/")) shown += 1;
        const deletion = {
          object: "deletion",
          id: isDryRun ? null : "del_1",
          kind: "telemetry",
          status: isDryRun ? "dry_run" : shown > 0 ? "done" : "running",
          rows,
          hidden_at: null,
        };
        const isList = request.url!.startsWith("/admin/v1/organizations?");
        const isOrganization = request.url === `/admin/v1/organizations/${organization.id}` && request.method === "GET";
        const list = { data: [organization], has_more: false, last_id: null };
        response.end(JSON.stringify(isList ? list : isOrganization ? organization : deletion));
      });
    });
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const env = { SOUNDING_BASE_URL: `http://127.0.0.1:${port}`, SOUNDING_ADMIN_KEY: "sk-admin" };
    return { env, requests, organization, [Symbol.dispose]: () => void server.close() };
  }

  test("counts with --dry-run, waits with --wait, and deletes nothing without a confirmation", async () => {
    using admin = await startAdmin();
    const { env, organization, requests } = admin;
    const preview = await succeed<{ status: string }>("delete telemetry -o acme --conversation c1 --dry-run", env);
    assert.equal(preview.status, "dry_run");
    const selection = `"organization_id":"${organization.id}","conversation_id":"c1"`;
    assert.equal(requests.at(-1), `POST /admin/v1/deletions {${selection},"dry_run":true}`);

    const refused = await sounding("delete telemetry -o acme --conversation c1", env);
    assert.equal(refused.code, 2);
    assert.match(refused.stderr, /cannot be undone.*add --yes/);
    assert.ok(!requests.includes(`POST /admin/v1/deletions {${selection}}`));

    const done = await succeed<{ status: string }>("delete telemetry -o acme --conversation c1 --yes --wait", env);
    assert.equal(done.status, "done");
    assert.ok(requests.includes(`POST /admin/v1/deletions {${selection}}`));
    await succeed(`delete org acme --yes`, env);
    assert.equal(requests.at(-1), `DELETE /admin/v1/organizations/${organization.id}`);
    assert.equal((await sounding("delete telemetry --conversation a --end-user b", env)).code, 2);
  });
});
