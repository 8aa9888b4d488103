/**
 * "From the sign-in to the audit log" of docs/administer/sign-in.md, with a real provider and in a real browser: the configuration, the
 * commands and the query are those of the documents.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { test } from "node:test";
import { Collected, runInProcess, type Outcome } from "../packages/cli/test/run-sounding.ts";
import { assertAccessible, launchBrowser, openConsole, type Page } from "../packages/console/test/support/browser.ts";
import { clientId, clientSecret, TestIdentityProvider } from "./support/identity-provider.ts";
import { needs } from "./support/needs.ts";
import { startServer, untilTelemetryReady, type RunningServer } from "./support/running-server.ts";
import { repository } from "./support/served-process.ts";

const bob = { sub: "bob", email: "bob@example.com", email_verified: true, name: "Bob", groups: ["engineering"] };

async function section(file: string, title: string): Promise<string> {
  const text = await readFile(join(repository, file), "utf8");
  const found = text.split(/^## /m).find((each) => each.startsWith(`${title}\n`));
  assert.ok(found !== undefined, `${file} has no section ${JSON.stringify(title)}`);
  return found;
}

function blocks(text: string, language: string): readonly string[] {
  return [...text.matchAll(/^```(?<language>\w+)\n(?<code>.*?)^```$/gms)]
    .filter(({ groups }) => groups!["language"] === language)
    .map(({ groups }) => groups!["code"]!);
}

/** The configuration of both pages, for the provider of this test. The server has an address that nobody knows before. */
async function documentedConfiguration({ issuer }: TestIdentityProvider): Promise<string> {
  const [signIn] = blocks(await section("docs/administer/sign-in.md", "Set up a provider"), "yaml");
  const [audit] = blocks(await section("docs/administer/audit.md", "Export as log records"), "yaml");
  const replaced = signIn!
    .replace(/^server:\n {2}public_url: .*\n/, "")
    .replace("https://login.example.com/realms/acme", issuer)
    .replace("client_id: sounding", `client_id: ${clientId}`)
    .replace("${ACME_CLIENT_SECRET}", clientSecret);
  assert.ok(replaced.includes(issuer) && replaced.includes(clientSecret) && !replaced.includes("public_url"));
  return replaced + audit!;
}

const walk = await section("docs/administer/sign-in.md", "From the sign-in to the audit log");
const documented = blocks(walk, "sh").flatMap((code) =>
  code.split("\n").filter((line) => line.startsWith("sounding ")),
);

/** Runs commands of the section as printed. @param values what replaces their placeholders */
async function asOperator(server: RunningServer, start: string, placeholder = "", value = ""): Promise<string> {
  const lines = documented.filter((line) => line.startsWith(start));
  assert.ok(lines.length > 0, `The section has no command ${start}`);
  let printed = "";
  for (const line of lines) {
    const words = line.replace(placeholder, value).split(" ").slice(1);
    const env = { SOUNDING_BASE_URL: server.url, SOUNDING_ADMIN_KEY: server.operatorKey };
    const { code, stderr, stdout } = await runInProcess(words, { env });
    assert.equal(code, 0, `${line}: ${stderr}`);
    printed += stdout;
  }
  return printed;
}

async function createKey(page: Page): Promise<number> {
  const init = {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ name: "from the console" }),
  };
  return await page.evaluate<number>(
    `fetch("../admin/v1/keys", ${JSON.stringify(init)}).then((answer) => answer.status)`,
  );
}

/** A terminal in which Bob runs commands. */
async function terminal(server: RunningServer) {
  const home = await mkdtemp(join(tmpdir(), "sounding-bob-"));
  const run = (words: string, stderr = new Collected()): Promise<Outcome> =>
    runInProcess(words.split(" "), { env: { HOME: home }, stderr });
  const login = async (page: Page): Promise<void> => {
    const stderr = new Collected();
    const running = run(`login --device --no-browser --url ${server.url}`, stderr);
    while (!stderr.text.includes("\n")) await once(stderr, "written");
    await page.goto(/https?:\/\/\S+\?\S+/.exec(stderr.text)?.[0] ?? assert.fail(stderr.text));
    await page.getByRole("button", { name: "Approve" }).click();
    const { code } = await running;
    assert.equal(code, 0, stderr.text);
  };
  return { run, login, [Symbol.asyncDispose]: () => rm(home, { recursive: true }) };
}

interface Event {
  readonly action: string;
  readonly actor: { readonly kind: string; readonly name: string | null };
  readonly outcome: string;
  readonly target: { readonly kind: string | null; readonly id: string | null; readonly name: string | null };
}

const summaryOf = ({ action, actor, outcome, target }: Event): string =>
  [action, actor.kind, actor.name, outcome, target.kind].join(" ");

test(
  "a viewer is refused, promoted and signed out, and all of it is found in the audit log",
  { skip: needs("chromium") },
  async () => {
    await using idp = await TestIdentityProvider.start();
    await using server = await startServer(await documentedConfiguration(idp), { telemetry: true });
    await untilTelemetryReady(server);
    const browser = await launchBrowser();
    await using _closed = { [Symbol.asyncDispose]: () => browser.close() };
    await asOperator(server, "sounding org create");
    const [auditor] = (await asOperator(server, "sounding key create")).trim().split("\n").slice(-1);

    // Signs in as a viewer.
    idp.person = bob;
    await using console_ = await openConsole(browser, { url: server.url });
    const { page } = console_;
    const views = async (): Promise<string> => {
      await page.getByRole("navigation", { name: "Views" }).waitFor();
      return (await page.getByRole("navigation").getByRole("listitem").allInnerTexts()).join(" ");
    };
    await page.goto(`${server.url}/console/`);
    await page.getByRole("link", { name: "Sign in with Acme" }).click();
    await page.waitForURL(`${server.url}/console/**`);

    // Is refused, and sees why.
    assert.ok(!(await views()).includes("Playground"));
    await page.goto(`${server.url}/console/playground`);
    await page.getByText('the permission "inference"').waitFor();
    await page.goto(`${server.url}/console/administration/keys`);
    await page.getByText("To change it, you need the permission").waitFor();
    await page.getByRole("table").waitFor();
    assert.equal(await page.getByRole("button", { name: "New key" }).count(), 0);
    await assertAccessible(page);
    assert.equal(await createKey(page), 403);
    await using bobs = await terminal(server);
    await bobs.login(page);
    const command = /`sounding (?<words>key create [^`]*)`/.exec(walk)!.groups!["words"]!;
    const refused = await bobs.run(command);
    assert.notEqual(refused.code, 0);
    assert.match(refused.stderr, /bob@example\.com with the role "viewer" does not have the permission "admin"/);

    // Is promoted, and may do it.
    await asOperator(server, "sounding member set");
    await page.goto(`${server.url}/console/administration/keys`);
    await page.getByRole("button", { name: "New key" }).waitFor();
    assert.ok((await views()).includes("Playground"));
    assert.equal(await createKey(page), 201);
    const created = await bobs.run(command);
    assert.equal(created.code, 0, created.stderr);

    // Is signed out.
    const sessions = (await asOperator(server, "sounding sessions --all")).split("\n");
    const ids = sessions.filter((line) => line.includes(bob.email)).map((line) => /sess_\w+/.exec(line)![0]);
    assert.equal(ids.length, 2, sessions.join("\n"));
    for (const id of ids) await asOperator(server, "sounding sessions end", "sess_…", id);
    await page.reload();
    await page.getByRole("link", { name: "Sign in with Acme" }).waitFor();
    assert.notEqual((await bobs.run("whoami")).code, 0);

    // The API, the command, the console and LogQL find all of it.
    const expected = [
      "finishSignIn person bob@example.com done person",
      "createKey person bob@example.com refused key",
      "decideDeviceRequest person bob@example.com done user_code",
      "createMembership key operator done membership",
      "createKey person bob@example.com done key",
      "endOrganizationSession key operator done session",
    ];
    const answer = await fetch(`${server.url}/admin/v1/audit?limit=100&order=desc`, {
      headers: { authorization: `Bearer ${server.operatorKey}` },
    });
    const { data } = (await answer.json()) as { data: Event[] };
    const found = new Set(data.map(summaryOf));
    assert.deepEqual(
      expected.filter((each) => !found.has(each)),
      [],
      [...found].join("\n"),
    );
    const listed = await asOperator(server, "sounding audit list");
    for (const action of ["finishSignIn", "createKey", "endOrganizationSession"])
      assert.ok(listed.includes(action), listed);
    assert.match(listed, /createKey +key *permission_denied/);
    await using operators = await openConsole(browser, { url: server.url, key: server.operatorKey });
    await operators.open(`administration/audit?actor=${bob.email}&outcome=refused`);
    await operators.page
      .getByRole("cell", { name: `person ${bob.email}` })
      .first()
      .waitFor();
    await operators.page.getByText("permission_denied").first().waitFor();

    const query = /--data-urlencode 'query=(?<query>.*)'$/m.exec(walk)!.groups!["query"]!;
    const refusals = blocks(await section("docs/administer/audit.md", "Export as log records"), "logql")[0]!.trim();
    const lines = async (key: string, text: string): Promise<readonly string[]> => {
      const response = await fetch(
        `${server.url}/loki/api/v1/query_range?${new URLSearchParams({ query: text }).toString()}`,
        {
          headers: { authorization: `Bearer ${key}` },
        },
      );
      const { data: streams } = (await response.json()) as { data: { result: { values: [string, string][] }[] } };
      return streams.result.flatMap(({ values }) => values.map(([, line]) => line));
    };
    const untilFound = async (text: string, line: string): Promise<void> => {
      while (!(await lines(auditor!, text)).some((each) => each.includes(line))) await delay(50);
    };
    await untilFound(query, "person bob@example.com: createKey key");
    await untilFound(query, "person bob@example.com: finishSignIn person");
    await untilFound(refusals, "person bob@example.com: createKey key: refused (permission_denied)");
    await untilFound(
      '{project_name="audit"} |= "endOrganizationSession"',
      "key operator: endOrganizationSession session",
    );
    await untilFound('{project_name="audit"} |= "createMembership"', "key operator: createMembership membership");
    // Other organizations see none of it.
    assert.deepEqual(await lines(server.key, query), []);
    await using auditors = await openConsole(browser, { url: server.url, key: auditor! });
    await auditors.open("logs?project=audit&q=createKey");
    await auditors.page.getByText("person bob@example.com: createKey key").first().waitFor();
    assert.deepEqual(
      console_.problems.filter((problem) => !problem.includes(idp.issuer)),
      [],
    );
  },
);
