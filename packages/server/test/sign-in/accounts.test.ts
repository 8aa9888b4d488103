/** People with a password: invitations, sign-ins, one-time codes, and guesses at all of them. */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { beforeTests } from "../../../../test/support/hooks.ts";
import { totpCode, totpStep } from "../../src/sign-in/totp.ts";
import { openControlDatabase, type ControlDatabase } from "../../src/tenancy/control-database.ts";
import type { TestBrowser } from "../tenancy/session-server.ts";
import { goodPassword, startAccountServer } from "./account-server.ts";

const secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";
let control: ControlDatabase;
let server: Awaited<ReturnType<typeof startAccountServer>>;
beforeTests(async (stack) => {
  const dataDirectory = await mkdtemp(join(tmpdir(), "sounding-accounts-"));
  stack.defer(() => rm(dataDirectory, { recursive: true }));
  control = await openControlDatabase({ dataDirectory });
  stack.defer(() => control.close());
  server = stack.use(await startAccountServer(control));
});

const codeNow = (stepsOff = 0) => totpCode(secret, totpStep(server.clock.ms / 1000) + stepsOff);
const accept = (browser: TestBrowser, token: string, password = goodPassword) =>
  browser.request("POST", "/authentication/account_links", { body: { token, password } });

async function addCodes(browser: TestBrowser) {
  const { body, status } = await browser.request("POST", "/authentication/account/one_time_codes", {
    body: { current_password: goodPassword, secret, code: codeNow() },
  });
  assert.equal(status, 201, JSON.stringify(body));
  server.clock.ms += 60_000;
  return body["codes"] as string[];
}

describe("invitations", () => {
  test("a link gives a password and a session once, with the person's roles", async () => {
    const { email, id } = await server.add("acme", "admin");
    const token = await server.link(id);
    const browser = server.browser();
    const { body, status } = await accept(browser, token);
    assert.deepEqual([status, body["organization"], body["role"], body["provider"]], [201, "acme", "admin", null]);
    assert.equal((await browser.request("GET", "/administration")).status, 200);
    const again = await accept(server.browser(), token);
    assert.deepEqual([again.status, again.body.error?.code], [401, "invalid_sign_in_code"]);
    const other = server.browser();
    assert.equal((await server.signIn(other, email.toUpperCase())).status, 201);
    assert.equal((await other.request("GET", "/authentication/session")).body["organization"], "acme");
  });

  test("of two requests with one link at the same time, one succeeds", async () => {
    const { id } = await server.add();
    const token = await server.link(id);
    const answers = await Promise.all([accept(server.browser(), token), accept(server.browser(), token)]);
    assert.deepEqual(
      answers.map(({ status }) => status).toSorted((left, right) => left - right),
      [201, 401],
    );
  });

  test("a changed token, an older link and one of a disabled person are refused", async () => {
    const { id } = await server.add();
    const older = await server.link(id);
    const token = await server.link(id);
    for (const wrong of [older, `${token.slice(0, -1)}${token.endsWith("A") ? "B" : "A"}`, token.slice(1), `${token}A`])
      assert.equal((await accept(server.browser(), wrong)).status, 401);
    await server.admin("PATCH", `/people/${id}`, { disabled: true });
    assert.equal((await accept(server.browser(), token)).status, 403);
    assert.equal((await server.admin("POST", `/people/${id}/account_link`)).status, 409);
  });

  test("only operators create links, and other pages cannot use one", async () => {
    const { id } = await server.add("globex");
    for (const organization of ["acme", "globex"]) {
      const { browser } = await server.join(organization, "owner");
      const { status } = await browser.request("POST", `/admin/v1/people/${id}/account_link`);
      assert.equal(status, 403);
    }
    const foreign = await server.browser().request("POST", "/authentication/account_links", {
      body: { token: await server.link(id), password: goodPassword },
      headers: { "sec-fetch-site": "cross-site" },
    });
    assert.equal(foreign.body.error?.code, "cross_origin");
  });

  test("a person of one organization reaches nothing of another", async () => {
    const acme = await server.join("acme", "owner");
    const globex = await server.join("globex", "owner");
    assert.equal((await acme.browser.request("GET", `/admin/v1/people/${globex.id}`)).status, 404);
    const { body } = await acme.browser.request("GET", "/authentication/account");
    assert.equal(body["person_id"], acme.id);
  });

  test("short, common and personal passwords are refused, and the link stays usable", async () => {
    const { email, id } = await server.add();
    const token = await server.link(id);
    for (const bad of [
      "elevenchars",
      "ten      chars",
      "password1234",
      "Password 1234",
      "Qazwsxedc123",
      "aaaaaaaaaaaaaa",
      email,
    ]) {
      const { body, status } = await accept(server.browser(), token, bad);
      assert.deepEqual([status, body.error?.param], [400, "password"], bad);
      assert.ok(!body.error!.message.includes(bad), "the answer does not repeat the password");
    }
    const { body, status } = await accept(server.browser(), token, "x1".repeat(65));
    assert.equal(status, 400);
    assert.ok(!JSON.stringify(body).includes("x1x1x1"));
    assert.equal((await accept(server.browser(), token)).status, 201);
  });

  test("a reset ends sessions, and removes the password and the one-time codes", async () => {
    const { browser, email, id } = await server.join();
    await addCodes(browser);
    const newPassword = "eight loud lanterns";
    assert.equal((await accept(server.browser(), await server.link(id), newPassword)).status, 201);
    assert.equal((await browser.request("GET", "/authentication/session")).body.error?.code, "invalid_session");
    assert.equal((await server.signIn(server.browser(), email)).status, 401);
    assert.equal((await server.signIn(server.browser(), email, { password: newPassword })).status, 201);
  });
});

describe("passwords", () => {
  test("an unknown address, a person without an account and a wrong password have the same answer", async () => {
    const { email } = await server.join();
    const invited = await server.add();
    const answers = await Promise.all(
      [email, invited.email, "nobody@acme.example"].map((each) =>
        server.signIn(server.browser(), each, { password: "wrong wrong wrong" }),
      ),
    );
    assert.deepEqual(new Set(answers.map(({ body, status }) => JSON.stringify([status, body]))).size, 1);
    assert.equal(answers[0]!.body.error?.code, "invalid_credentials");
  });

  test("changing it needs the current one, and ends the other sessions only", async () => {
    const { browser, email } = await server.join();
    const other = server.browser();
    await server.signIn(other, email);
    const change = (current: string, password: string) =>
      browser.request("POST", "/authentication/account/password", { body: { current_password: current, password } });
    const wrong = await change("wrong wrong wrong", "eight loud lanterns");
    assert.deepEqual([wrong.status, wrong.body.error?.param], [400, "current_password"]);
    assert.equal((await change(goodPassword, "eight loud lanterns")).status, 200);
    assert.equal((await browser.request("GET", "/authentication/session")).status, 200);
    assert.equal((await other.request("GET", "/authentication/session")).status, 401);
    assert.equal((await server.signIn(server.browser(), email)).status, 401);
  });

  test("guesses of one network are delayed, longer each time, and do not lock out the person", async () => {
    const { browser, email } = await server.join();
    const home = server.browser("198.51.100.7");
    assert.equal((await server.signIn(home, email)).status, 201);
    const attacker = server.browser();
    const guess = () => server.signIn(attacker, email, { password: "wrong wrong wrong" });
    for (let count = 0; count < 5; count++) assert.equal((await guess()).status, 401);
    const waits: number[] = [];
    for (let count = 0; count < 4; count++) {
      const { headers, status } = await guess();
      assert.equal(status, 429);
      waits.push(Number(headers.get("retry-after-ms")));
      server.clock.ms += waits.at(-1)!;
      assert.equal((await guess()).status, 401);
    }
    assert.deepEqual(waits, [1000, 2000, 4000, 8000]);
    assert.equal((await server.signIn(attacker, email)).status, 429, "also with the right password");
    assert.equal((await server.signIn(home, email)).status, 201);
    assert.equal((await browser.request("GET", "/authentication/session")).status, 200);
  });

  test("guesses of many networks delay new ones, for a bounded time, and not the person's own", async () => {
    const { email } = await server.join();
    const home = server.browser("198.51.100.8");
    await server.signIn(home, email);
    for (let count = 0; count < 20; count++)
      assert.equal((await server.signIn(server.browser(), email, { password: "wrong wrong wrong" })).status, 401);
    assert.equal((await server.signIn(server.browser(), email)).status, 429);
    assert.equal((await server.signIn(home, email)).status, 201);
    assert.equal((await server.signIn(server.browser(), email)).status, 201, "a sign-in ends the delay");
  });

  test("guesses at the same time do not get more attempts", async () => {
    const { email } = await server.join();
    const attacker = server.browser();
    const guess = () => server.signIn(attacker, email, { password: "wrong wrong wrong" });
    const statuses: number[] = [];
    for (let round = 0; round < 4; round++)
      statuses.push(...(await Promise.all([guess(), guess(), guess(), guess()])).map(({ status }) => status));
    assert.equal(statuses.filter((status) => status === 401).length, 5);
  });

  test("one address has a bounded number of passwords checked at once", async () => {
    const attacker = server.browser();
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        server.signIn(attacker, `nobody-${index}@acme.example`, { password: "wrong wrong wrong" }),
      ),
    );
    assert.ok(answers.some(({ status }) => status === 429));
    const { email } = await server.join();
    assert.equal((await server.signIn(server.browser(), email)).status, 201);
  });

  test("a person without a membership, and one who is disabled, are refused", async () => {
    const { browser, email, id } = await server.join();
    const { body } = await server.admin("GET", `/people/${id}`);
    const [{ id: membership }] = (body as unknown as { memberships: [{ id: string }] }).memberships;
    await server.admin("DELETE", `/memberships/${membership}`);
    const refused = await server.signIn(server.browser(), email);
    assert.deepEqual([refused.status, refused.body.error?.code], [403, "sign_in_refused"]);
    assert.equal((await browser.request("GET", "/authentication/session")).status, 401);
  });
});

describe("one-time codes", () => {
  test("are needed once they are set up, and each works once", async () => {
    const { browser, email } = await server.join();
    await addCodes(browser);
    const missing = await server.signIn(server.browser(), email);
    assert.deepEqual([missing.status, missing.body.error?.code], [401, "second_factor_required"]);
    const code = codeNow();
    assert.equal((await server.signIn(server.browser(), email, { code })).status, 201);
    const replayed = await server.signIn(server.browser(), email, { code });
    assert.deepEqual([replayed.status, replayed.body.error?.param], [401, "code"]);
    assert.equal((await server.signIn(server.browser(), email, { code: codeNow(1) })).status, 201);
    assert.equal((await server.signIn(server.browser(), email, { code: codeNow() })).status, 401, "an earlier step");
  });

  test("a wrong password tells nothing about them", async () => {
    const { browser, email } = await server.join();
    await addCodes(browser);
    const { body } = await server.signIn(server.browser(), email, { password: "wrong wrong wrong", code: codeNow() });
    assert.equal(body.error?.code, "invalid_credentials");
    assert.equal((await server.signIn(server.browser(), email, { code: codeNow() })).status, 201, "it was not used up");
  });

  test("guesses are delayed, also between requests without a code", async () => {
    const { browser, email } = await server.join();
    await addCodes(browser);
    const attacker = server.browser();
    const statuses: number[] = [];
    for (let count = 0; count < 7; count++) {
      await server.signIn(attacker, email);
      statuses.push((await server.signIn(attacker, email, { code: "000000" })).status);
    }
    assert.deepEqual(statuses, [401, 401, 401, 401, 401, 429, 429]);
  });

  test("recovery codes replace them once each, in any form", async () => {
    const { browser, email } = await server.join();
    const codes = await addCodes(browser);
    assert.equal(codes.length, 10);
    for (const code of codes) assert.match(code, /^(?:[2-9a-z]{4}-){5}[2-9a-z]{4}$/);
    assert.equal((await server.signIn(server.browser(), email, { code: codes[0]!.toUpperCase() })).status, 201);
    assert.equal((await server.signIn(server.browser(), email, { code: codes[0]! })).status, 401);
    const other = server.browser();
    assert.equal((await server.signIn(other, email, { code: codes[1]!.replaceAll("-", "") })).status, 201);
    assert.equal((await other.request("GET", "/authentication/account")).body["recovery_codes"], 8);
    const renewed = await other.request("POST", "/authentication/account/recovery_codes", {
      body: { current_password: goodPassword },
    });
    assert.equal(renewed.status, 201);
    assert.equal((await server.signIn(server.browser(), email, { code: codes[2]! })).status, 401);
  });

  test("survive a change of the password, and are removed with it only", async () => {
    const { browser, email } = await server.join();
    await addCodes(browser);
    const password = "eight loud lanterns";
    const changed = await browser.request("POST", "/authentication/account/password", {
      body: { current_password: goodPassword, password },
    });
    assert.deepEqual([changed.status, changed.body["one_time_codes"]], [200, true]);
    assert.equal((await server.signIn(server.browser(), email, { password, code: codeNow() })).status, 201);
    const remove = (current: string) =>
      browser.request("POST", "/authentication/account/one_time_codes/remove", { body: { current_password: current } });
    assert.equal((await remove(goodPassword)).status, 400);
    assert.equal((await remove(password)).status, 200);
    assert.equal((await server.signIn(server.browser(), email, { password })).status, 201);
  });

  test("the database alone reveals neither their secret nor a password nor a link", async () => {
    const { browser, id } = await server.join();
    const codes = await addCodes(browser);
    const token = await server.link(id);
    const rows = await control.read(async (database) => ({
      accounts: await database.selectFrom("accounts").selectAll().where("person_id", "=", id).execute(),
      codes: await database.selectFrom("recovery_codes").selectAll().where("person_id", "=", id).execute(),
      links: await database.selectFrom("account_links").selectAll().where("person_id", "=", id).execute(),
    }));
    const text = JSON.stringify(rows);
    for (const hidden of [secret, goodPassword, token, codes[0]!, codes[0]!.replaceAll("-", "")])
      assert.ok(!text.includes(hidden));
  });

  test("setting them up needs the password and a current code, and a key has no account", async () => {
    const { browser } = await server.join();
    const add = (body: object) =>
      browser.request("POST", "/authentication/account/one_time_codes", {
        body: { current_password: goodPassword, secret, code: codeNow(), ...body },
      });
    assert.equal((await add({ code: codeNow(5) })).body.error?.param, "code");
    assert.equal((await add({ current_password: "wrong wrong wrong" })).body.error?.param, "current_password");
    assert.equal((await add({ secret: "A" })).status, 400);
    const withKey = server.browser();
    await withKey.signIn({ key: server.operatorKey });
    assert.equal((await withKey.request("GET", "/authentication/account")).status, 403);
  });
});
