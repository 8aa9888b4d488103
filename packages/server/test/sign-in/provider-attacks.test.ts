/** Attacks on signing in at a provider, and a provider that is down. */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { TestIdentityProvider } from "../../../../test/support/identity-provider.ts";
import { beforeTests } from "../../../../test/support/hooks.ts";
import { FailedKeys } from "../../src/http/failed-keys.ts";
import { openControlDatabase, type ControlDatabase } from "../../src/tenancy/control-database.ts";
import { PersonBrowser } from "./person-browser.ts";
import { createOrganizations, newPerson, startProviderServer } from "./provider-server.ts";

let idp: TestIdentityProvider;
beforeTests(async (stack) => {
  idp = stack.use(await TestIdentityProvider.start());
});

describe("attacks on signing in at a provider", () => {
  const opened = new AsyncDisposableStack();
  after(() => opened.disposeAsync());
  const open = async (): Promise<ControlDatabase> => {
    const dataDirectory = await mkdtemp(join(tmpdir(), "sounding-sign-in-"));
    opened.defer(() => rm(dataDirectory, { recursive: true }));
    const control = await openControlDatabase({ dataDirectory });
    opened.defer(() => control.close());
    return control;
  };

  test("cookies are for TLS only behind TLS, and redirect URIs follow the documented address", async () => {
    const control = await open();
    await createOrganizations(control);
    await using server = await startProviderServer(
      control,
      idp,
      {},
      { publicUrl: "https://sounding.example.com/ai/", settings: { trusted_proxies: ["127.0.0.1"] } },
    );
    const browser = new PersonBrowser(server.url, { "x-forwarded-proto": "https", "x-forwarded-host": "evil.example" });
    const { headers } = await browser.open("/sign-in/acme?return_to=traces");
    assert.match(
      headers.get("set-cookie")!,
      /^__Host-sounding_sign_in_\w{8}=acme\.\d+\.[\w-]{43}\.traces; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax; Secure$/,
    );
    const url = new URL(headers.get("location")!);
    assert.equal(url.searchParams.get("redirect_uri"), "https://sounding.example.com/ai/sign-in/acme/callback");
    assert.equal(url.searchParams.get("code_challenge_method"), "S256");
    const secrets = ["state", "nonce", "code_challenge"].map((name) => url.searchParams.get(name)!);
    for (const secret of secrets) assert.match(secret, /^[\w-]{43}$/);
    assert.equal(new Set(secrets).size, 3);
  });

  test("a name that the client invents is in no redirect URI", async () => {
    const control = await open();
    await createOrganizations(control);
    await using server = await startProviderServer(control, idp);
    const browser = new PersonBrowser(server.url, { "x-forwarded-host": "evil.example" });
    const { headers } = await browser.open("/sign-in/acme");
    const redirectUri = new URL(headers.get("location")!).searchParams.get("redirect_uri")!;
    assert.match(redirectUri, /^http:\/\/127\.0\.0\.1:\d+\/sign-in\/acme\/callback$/);
  });

  test("the way back leads nowhere but to the console", async () => {
    const control = await open();
    await createOrganizations(control);
    await using server = await startProviderServer(control, idp);
    idp.person = newPerson("alice", "dev");
    const cases: [sent: string, expected: string][] = [
      ["device?code=BCDF-GHJK", "device?code=BCDF-GHJK"],
      ["//evil.example", ""],
      ["https://evil.example", ""],
      ["../../evil", ""],
      ["\\evil.example", ""],
      ["javascript:alert(1)", ""],
      ["traces\r\nset-cookie: a=b", ""],
      ["t".repeat(400), ""],
    ];
    for (const [sent, expected] of cases) {
      const answer = await new PersonBrowser(server.url).signIn(`/sign-in/acme?return_to=${encodeURIComponent(sent)}`);
      assert.equal(answer.headers.get("location"), `../../console/${expected}`, sent);
    }
  });

  test("what a provider says is shown as text", async () => {
    const control = await open();
    await createOrganizations(control);
    await using server = await startProviderServer(control, idp);
    idp.person = undefined;
    const browser = new PersonBrowser(server.url);
    const back = await browser.toProvider("/sign-in/acme");
    back.searchParams.set("error_description", "<script>alert(1)</script>");
    const answer = await browser.open(`${back.pathname}${back.search}`);
    assert.equal(answer.status, 400);
    assert.match(answer.text, /&lt;script&gt;alert\(1\)&lt;\/script&gt;/);
    assert.doesNotMatch(answer.text, /<script/);
  });

  test("wrong answers count as wrong keys, and sign-ins of one address are limited", async () => {
    const control = await open();
    await createOrganizations(control);
    await using server = await startProviderServer(control, idp, {}, { failedKeys: new FailedKeys(3) });
    const statuses: number[] = [];
    for (let time = 0; time < 4; time += 1)
      statuses.push((await new PersonBrowser(server.url).open("/sign-in/acme/callback?code=a&state=b")).status);
    assert.deepEqual(statuses, [400, 400, 400, 429]);
  });

  test("another site's page cannot use the session, and the list of providers shows no secrets", async () => {
    const control = await open();
    await createOrganizations(control);
    await using server = await startProviderServer(control, idp);
    idp.person = newPerson("alice", "dev");
    const browser = new PersonBrowser(server.url);
    await browser.signIn();
    assert.equal((await browser.open("/telemetry")).status, 403);
    const { body } = await browser.request("GET", "/authentication/providers");
    assert.deepEqual(body, {
      object: "list",
      data: [{ object: "identity_provider", name: "acme", label: "Acme", available: true, path: "sign-in/acme" }],
      accounts: false,
      passkeys: false,
    });
  });

  test("a provider that is down is shown as such, delays no session, and works once it is up", async () => {
    const control = await open();
    await createOrganizations(control);
    await idp.stop();
    await using server = await startProviderServer(control, idp);
    const browser = new PersonBrowser(server.url);
    const down = await browser.open("/sign-in/acme");
    assert.equal(down.status, 503);
    assert.match(down.text, /The identity provider &quot;acme&quot; is unavailable/);
    assert.equal((await browser.request("GET", "/authentication/providers")).body.data[0].available, false);
    await idp.listen();
    await using later = await startProviderServer(control, idp);
    idp.person = newPerson("alice", "dev");
    const signedIn = new PersonBrowser(later.url);
    assert.equal((await signedIn.signIn()).status, 303);
    await idp.stop();
    assert.equal((await signedIn.request("GET", "/telemetry")).status, 200);
    await idp.listen();
  });
});
