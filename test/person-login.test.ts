/** `sounding login --device`: a person signs a terminal in with a real identity provider, uses it, and ends its session. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { Collected, runInProcess, type Outcome } from "../packages/cli/test/run-sounding.ts";
import { PersonBrowser } from "../packages/server/test/sign-in/person-browser.ts";
import { beforeTests } from "./support/hooks.ts";
import { clientId, clientSecret, TestIdentityProvider } from "./support/identity-provider.ts";
import { startServer, type RunningServer } from "./support/running-server.ts";

const folder = await mkdtemp(join(tmpdir(), "sounding-person-"));
let idp: TestIdentityProvider;
let server: RunningServer;
beforeTests(async (stack) => {
  stack.defer(() => rm(folder, { recursive: true }));
  idp = stack.use(await TestIdentityProvider.start());
  const acme = {
    issuer: idp.issuer,
    client_id: clientId,
    client_secret: clientSecret,
    scopes: ["email", "profile", "groups"],
    rules: [
      { values: ["ops"], organization: "default", role: "admin" },
      { values: ["dev"], organization: "default", role: "member" },
    ],
  };
  server = stack.use(await startServer(JSON.stringify({ sign_in: { providers: { acme } } })));
});

let homes = 0;

/** A person who is signed in to the console, and their terminal. */
async function newPerson(...groups: string[]) {
  const name = `person-${(homes += 1)}`;
  const home = join(folder, name);
  await mkdir(home);
  idp.person = { sub: name, email: `${name}@example.com`, email_verified: true, name, groups };
  const browser = new PersonBrowser(server.url);
  assert.equal((await browser.signIn()).status, 303);
  const sounding = (words: string, stderr = new Collected()): Promise<Outcome> =>
    runInProcess(words.split(" "), { env: { HOME: home }, stderr });
  const login = async (decision: "approve" | "deny"): Promise<Outcome> => {
    const stderr = new Collected();
    const running = sounding(`login --device --no-browser --url ${server.url}`, stderr);
    while (!stderr.text.includes("\n")) await once(stderr, "written");
    const code = /Your code is (\S+)\. /.exec(stderr.text)?.[1];
    const path = `/authentication/device_requests/${code}`;
    assert.equal((await browser.request("POST", path, { decision })).status, 200, stderr.text);
    return await running;
  };
  return { name, browser, sounding, login, profiles: join(home, ".config/sounding/profiles.json") };
}

test("a person signs a terminal in, administers with it, and signs it out", async () => {
  const { login, name, profiles, sounding } = await newPerson("ops");
  const signedIn = await login("approve");
  assert.equal(signedIn.code, 0, signedIn.stderr);
  assert.match(
    signedIn.stdout,
    new RegExp(`^Signed in as ${name}@example.com in the organization "default"; stored in`),
  );
  const stored = await readFile(profiles, "utf8");
  assert.match(stored, /"refresh_token": "sk-refresh-/);
  const created = await sounding("key create ci --permission inference");
  assert.equal(created.code, 0, created.stderr);
  const mine = await sounding("sessions");
  assert.equal(mine.code, 0, mine.stderr);
  assert.match(mine.stdout, /sess_\w{32}.*terminal/);
  assert.match(mine.stdout, /sess_\w{32}.*browser/);
  const all = await sounding("sessions list --all --json");
  assert.ok((JSON.parse(all.stdout) as { data: unknown[] }).data.length >= 2);
  const console_ = await sounding("console --no-browser");
  assert.match(console_.stdout, /sign in there:\n\n {2}http:\/\/127\.0\.0\.1:\d+\/console\/\n/);
  const token = /"refresh_token": "(?<token>[^"]+)"/.exec(stored)!.groups!["token"]!;
  assert.equal((await sounding("logout")).code, 0);
  const refresh = await fetch(`${server.url}/authentication/token`, {
    method: "POST",
    body: new URLSearchParams({ grant_type: "refresh_token", refresh_token: token }),
  });
  assert.equal(refresh.status, 400);
});

test("an expired token is refreshed before the command, and stored", async () => {
  const { login, profiles, sounding } = await newPerson("dev");
  assert.equal((await login("approve")).code, 0);
  const before = await readFile(profiles, "utf8");
  await writeFile(profiles, before.replace(/"expires_at": \d+/, '"expires_at": 1'));
  const whoami = await Promise.all([sounding("whoami --json"), sounding("whoami --json")]);
  for (const { code, stderr } of whoami) assert.equal(code, 0, stderr);
  const after = await readFile(profiles, "utf8");
  assert.notEqual(after, before);
  assert.doesNotMatch(after, /"expires_at": 1\n/);
  assert.equal((await sounding("whoami")).code, 0);
});

test("a session that was ended elsewhere asks for another login", async () => {
  const { browser, login, profiles, sounding } = await newPerson("dev");
  assert.equal((await login("approve")).code, 0);
  const { body } = await browser.request("GET", "/authentication/sessions");
  const terminal = body.data.find(({ kind }: { kind: string }) => kind === "terminal");
  assert.equal((await browser.request("DELETE", `/authentication/sessions/${terminal.id}`)).status, 200);
  const refused = await sounding("whoami");
  assert.equal(refused.code, 4);
  const stored = await readFile(profiles, "utf8");
  await writeFile(profiles, stored.replace(/"expires_at": \d+/, '"expires_at": 1'));
  const ended = await sounding("whoami");
  assert.deepEqual([ended.code, ended.stderr.includes("has ended; run `sounding login --device` again")], [4, true]);
  assert.equal((await sounding("logout")).code, 0);
});

test("a terminal that the person denies stores nothing", async () => {
  const { login, profiles } = await newPerson("dev");
  const denied = await login("deny");
  assert.equal(denied.code, 4);
  assert.match(denied.stderr, /did not approve the terminal/);
  await assert.rejects(readFile(profiles), { code: "ENOENT" });
});
