/** Answers of passkeys that are wrong, replayed, late, somebody else's or garbage. */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { beforeTests } from "../../../../test/support/hooks.ts";
import { openControlDatabase, type ControlDatabase } from "../../src/tenancy/control-database.ts";
import { origin, outcome, refusedCreation, refusedSignIn, startPasskeyServer } from "./passkey-server.ts";
import { TestAuthenticator, type Deviation } from "./test-authenticator.ts";

let control: ControlDatabase;
let server: Awaited<ReturnType<typeof startPasskeyServer>>;
beforeTests(async (stack) => {
  const dataDirectory = await mkdtemp(join(tmpdir(), "sounding-passkeys-"));
  stack.defer(() => rm(dataDirectory, { recursive: true }));
  control = await openControlDatabase({ dataDirectory });
  stack.defer(() => control.close());
  server = stack.use(await startPasskeyServer(control));
});

describe("an answer to a challenge", () => {
  test("counts once", async () => {
    const { authenticator, browser } = await server.joinWithPasskey();
    const options = await server.requestOptions(browser);
    const answer = authenticator.get(options);
    const both = await Promise.all([server.use(server.browser(), answer), server.use(server.browser(), answer)]);
    assert.deepEqual(
      both.map(({ status }) => status).toSorted((left, right) => left - right),
      [201, 401],
    );
    assert.deepEqual(outcome(await server.use(server.browser(), authenticator.get(options))), refusedSignIn);
    const creation = await server.creationOptions(browser);
    assert.equal((await server.send(browser, new TestAuthenticator(origin).create(creation))).status, 201);
    assert.deepEqual(
      outcome(await server.send(browser, new TestAuthenticator(origin).create(creation))),
      refusedCreation,
    );
  });

  test("uses the challenge up also if it is wrong", async () => {
    const { authenticator, browser } = await server.joinWithPasskey();
    const options = await server.requestOptions(browser);
    assert.deepEqual(outcome(await server.use(browser, authenticator.get(options, { flags: 1 }))), refusedSignIn);
    assert.deepEqual(outcome(await server.use(browser, authenticator.get(options))), refusedSignIn);
  });

  test("comes within five minutes", async () => {
    const { authenticator, browser } = await server.joinWithPasskey();
    const options = await server.requestOptions(browser);
    const creation = await server.creationOptions(browser);
    server.clock.ms += 301_000;
    assert.deepEqual(outcome(await server.use(server.browser(), authenticator.get(options))), refusedSignIn);
    assert.deepEqual(
      outcome(await server.send(browser, new TestAuthenticator(origin).create(creation))),
      refusedCreation,
    );
  });

  test("belongs to what and whom the challenge was for", async () => {
    const { authenticator, browser } = await server.joinWithPasskey();
    const { browser: stranger } = await server.joinWithPasskey();
    const creation = await server.creationOptions(browser);
    const fresh = new TestAuthenticator(origin);
    assert.deepEqual(outcome(await server.send(stranger, fresh.create(creation))), refusedCreation);
    assert.equal(
      (await server.send(browser, fresh.create(creation))).status,
      201,
      "the other session did not use it up",
    );
    const { challenge } = await server.creationOptions(browser);
    const rpId = "sounding.example";
    assert.deepEqual(outcome(await server.use(browser, authenticator.get({ challenge, rpId }))), refusedSignIn);
    const begun = await server.requestOptions(browser);
    const late = { ...creation, challenge: begun.challenge };
    assert.deepEqual(outcome(await server.send(browser, new TestAuthenticator(origin).create(late))), refusedCreation);
    const made = Buffer.alloc(32, 1).toString("base64url");
    assert.deepEqual(outcome(await server.use(browser, authenticator.get({ challenge: made, rpId }))), refusedSignIn);
  });

  const wrong: Readonly<Record<string, Deviation>> = {
    "another origin": { origin: "https://sounding.example.evil.example" },
    "the origin without TLS": { origin: "http://sounding.example" },
    "another relying party": { rpId: "evil.example" },
    "a person who was not there": { flags: 0 },
    "a person who was not verified": { flags: 1 },
    "a frame of another site": { crossOrigin: true },
  };
  for (const [what, deviation] of Object.entries(wrong))
    test(`is refused with ${what}`, async () => {
      const { authenticator, browser } = await server.joinWithPasskey();
      assert.deepEqual(outcome(await server.signInWith(authenticator, deviation)), refusedSignIn);
      const creation = new TestAuthenticator(origin).create(await server.creationOptions(browser), deviation);
      assert.deepEqual(outcome(await server.send(browser, creation)), refusedCreation);
      assert.equal((await server.signInWith(authenticator)).status, 201);
    });

  test("is refused as one to the other kind of question", async () => {
    const { authenticator, browser } = await server.joinWithPasskey();
    assert.deepEqual(outcome(await server.signInWith(authenticator, { type: "webauthn.create" })), refusedSignIn);
    const creation = new TestAuthenticator(origin).create(await server.creationOptions(browser), {
      type: "webauthn.get",
    });
    assert.deepEqual(outcome(await server.send(browser, creation)), refusedCreation);
  });

  test("of one person does not sign another one in, nor take a passkey over", async () => {
    const victim = await server.joinWithPasskey("acme", "owner");
    const mallory = await server.joinWithPasskey("globex");
    const asVictim = { credentialId: victim.authenticator.credentialId };
    assert.deepEqual(outcome(await server.signInWith(mallory.authenticator, asVictim)), refusedSignIn);
    const handle = { userHandle: Buffer.from(victim.id).toString("base64url") };
    assert.deepEqual(outcome(await server.signInWith(mallory.authenticator, handle)), refusedSignIn);
    assert.deepEqual(outcome(await server.signInWith(victim.authenticator, { userHandle: "cGVyc18x" })), refusedSignIn);
    const taken = mallory.authenticator.create(await server.creationOptions(mallory.browser), asVictim);
    assert.deepEqual(outcome(await server.send(mallory.browser, taken)), [409, "conflict"]);
    assert.equal((await server.signInWith(victim.authenticator)).status, 201);
  });

  test("is refused if the counter did not grow, and the audit log says so", async () => {
    const { authenticator, id } = await server.joinWithPasskey();
    assert.equal((await server.signInWith(authenticator)).status, 201);
    const reached = authenticator.counter!;
    for (const counter of [reached, reached - 1, 0])
      assert.deepEqual(
        outcome(await server.signInWith(authenticator, { counter })),
        refusedSignIn,
        `counter ${counter}`,
      );
    assert.equal((await server.signInWith(authenticator, { counter: reached + 1 })).status, 201);
    const entries = await control.read((database) =>
      database
        .selectFrom("audit_events")
        .select(["action", "outcome"])
        .where("object_id", "=", id)
        .where("action", "=", "refuseCopiedPasskey")
        .execute(),
    );
    assert.equal(entries.length, 3);
  });

  test("may be without a counter", async () => {
    const { authenticator } = await server.joinWithPasskey("acme", "viewer", { counts: false });
    for (let count = 0; count < 2; count++) assert.equal((await server.signInWith(authenticator)).status, 201);
    assert.equal((await server.signInWith(authenticator, { counter: 9 })).status, 201);
    assert.deepEqual(outcome(await server.signInWith(authenticator)), refusedSignIn, "once it counts, it goes on");
  });

  test("has no certificates, which nobody asked for", async () => {
    const { browser } = await server.join();
    const certificates = new Map<string, unknown>([
      ["alg", -7],
      ["sig", new Uint8Array(70)],
      ["x5c", [new Uint8Array(600)]],
    ]);
    for (const format of ["packed", "tpm", "apple", "android-key", "android-safetynet", "fido-u2f", "none"]) {
      const deviation = { format, attestation: certificates };
      const creation = new TestAuthenticator(origin).create(await server.creationOptions(browser), deviation);
      assert.deepEqual(outcome(await server.send(browser, creation)), refusedCreation, format);
    }
  });

  test("that is garbage is refused", async () => {
    const { authenticator, browser } = await server.joinWithPasskey();
    const bytes = (hex: string, count = 1) => Buffer.from(hex.repeat(count), "hex").toString("base64url");
    const garbage = {
      text: "not base64url!",
      empty: bytes("a0"),
      nested: bytes("81", 6000),
      "a map in a map": bytes("a1", 6000),
      "a huge array": bytes("9affffffff"),
      "a huge text": bytes("7bffffffffffffffff"),
      truncated: bytes("a363666d74646e6f6e65"),
    };
    for (const [what, text] of Object.entries(garbage)) {
      const creation = new TestAuthenticator(origin).create(await server.creationOptions(browser));
      const sent = { ...creation, response: { ...creation.response, attestationObject: text } };
      assert.deepEqual(outcome(await server.send(browser, sent)), refusedCreation, what);
      for (const member of ["authenticatorData", "signature"]) {
        if (text.length > 2048) continue;
        const answer = authenticator.get(await server.requestOptions(server.browser()));
        const wrongly = { ...answer, response: { ...answer.response, [member]: text } };
        assert.deepEqual(outcome(await server.use(server.browser(), wrongly)), refusedSignIn, `${member}: ${what}`);
      }
    }
    for (const clientDataJSON of [bytes("00"), Buffer.from("[]").toString("base64url"), bytes("5b", 3000)]) {
      const answer = authenticator.get(await server.requestOptions(server.browser()));
      const wrongly = { ...answer, response: { ...answer.response, clientDataJSON } };
      assert.deepEqual(outcome(await server.use(server.browser(), wrongly)), refusedSignIn);
    }
  });

  test("with another signature is refused", async () => {
    const { authenticator } = await server.joinWithPasskey();
    const other = new TestAuthenticator(origin);
    const answer = authenticator.get(await server.requestOptions(server.browser()));
    const { signature } = other.get({ challenge: "AAAA", rpId: "sounding.example" }).response;
    const wrongly = { ...answer, response: { ...answer.response, signature } };
    assert.deepEqual(outcome(await server.use(server.browser(), wrongly)), refusedSignIn);
  });

  test("of another site's page is refused", async () => {
    const { authenticator, browser } = await server.joinWithPasskey();
    const headers = { "sec-fetch-site": "cross-site" };
    const begun = await browser.request("POST", "/authentication/passkey_challenges", { headers });
    assert.equal(begun.body.error?.code, "cross_origin");
    const body = { credential: authenticator.get(await server.requestOptions(browser)) };
    const sent = await server.browser().request("POST", "/authentication/passkey_sessions", { body, headers });
    assert.equal(sent.body.error?.code, "cross_origin");
  });
});
