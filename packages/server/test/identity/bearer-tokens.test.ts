/** Tokens of a real provider at the API's check, and everything that can be wrong with them. */
import assert from "node:assert/strict";
import { createHmac, generateKeyPairSync } from "node:crypto";
import { test } from "node:test";
import { SignJWT } from "jose";
import { clientId, clientSecret, TestIdentityProvider } from "../../../../test/support/identity-provider.ts";
import { beforeTests } from "../../../../test/support/hooks.ts";
import type { ProviderSettings } from "../../src/config/sign-in.ts";
import { BearerTokens } from "../../src/identity/bearer-tokens.ts";
import { OpenIdProvider } from "../../src/identity/openid-provider.ts";
import { silentLogger } from "../../src/logger.ts";
import { providerSettings } from "../support/provider-settings.ts";

let idp: TestIdentityProvider;
let opened: AsyncDisposableStack;
let nowMs = Date.now();
const now = (): number => nowMs;
const inSeconds = (seconds: number): number => Math.floor(nowMs / 1000) + seconds;

beforeTests(async (stack) => {
  opened = stack;
  idp = stack.use(await TestIdentityProvider.start());
});

function open(changes: Partial<ProviderSettings> = {}): OpenIdProvider {
  const settings = providerSettings({ issuer: idp.issuer, audiences: ["sounding-api"], ...changes });
  const provider = new OpenIdProvider({ name: "acme", settings, logger: silentLogger, now });
  opened.defer(() => provider.close());
  return provider;
}

function tokensOf(...providers: OpenIdProvider[]): BearerTokens {
  const tokens = new BearerTokens(now);
  tokens.accept(providers);
  return tokens;
}

const sign: TestIdentityProvider["sign"] = (changes, header) =>
  idp.sign({ iat: inSeconds(0), exp: inSeconds(300), ...changes }, header);

const claims = { sub: "machine-1", aud: "sounding-api" };

test("a token of the provider's own token endpoint is accepted, with the memberships of the rules", async () => {
  const tokens = tokensOf(
    open({ rules: [{ claim: "client_id", values: [clientId], organization: "acme", project: "ci", role: "member" }] }),
  );
  const response = await fetch(`${idp.issuer}/token`, {
    method: "POST",
    headers: { authorization: `Basic ${btoa(`${clientId}:${clientSecret}`)}` },
    body: new URLSearchParams({ grant_type: "client_credentials" }),
  });
  const { access_token: token } = (await response.json()) as { access_token: string };

  assert.equal(tokens.isToken(token), true);
  const owner = await tokens.check(token);
  assert.deepEqual([owner.provider, owner.subject], ["acme", clientId]);
  assert.deepEqual(owner.grants, [{ organization: "acme", project: "ci", role: "member" }]);
});

test("a checked token is not checked again until it expires", async () => {
  const tokens = tokensOf(open());
  const token = await sign({ ...claims, exp: inSeconds(60) });
  const owner = await tokens.check(token);
  assert.equal(owner, tokens.check(token));
  assert.equal(owner.expiresMs, inSeconds(60 + 30) * 1000);
  nowMs += 91_000;
  assert.throws(() => tokens.check(token), { code: "invalid_api_key", message: /expired/ });
});

test("a token that is not meant for this server, not valid now, or no access token is refused", async () => {
  const tokens = tokensOf(open());
  const cases: [token: string, problem: RegExp][] = [
    [await sign({ ...claims, aud: "another-api" }), /`aud`/],
    [await sign({ sub: "machine-1" }), /`aud`/],
    [await sign({ ...claims, iss: "https://other.example.com" }), /issuer/],
    [await sign({ ...claims, exp: inSeconds(-31) }), /expired/],
    [await sign({ ...claims, nbf: inSeconds(31) }), /not valid yet/],
    [await sign({ ...claims, iat: inSeconds(31) }), /future/],
    [await sign({ ...claims, sub: "" }), /`sub`/],
    [await sign({ aud: "sounding-api" }), /`sub`/],
    [await sign({ ...claims, cnf: { jkt: "thumbprint" } }), /`cnf`/],
    [await sign(claims, { typ: "logout+jwt" }), /`typ`/],
    [await sign(claims, { kid: "unknown" }), /`kid`/],
  ];
  for (const [token, problem] of cases)
    await assert.rejects(async () => await tokens.check(token), { code: "invalid_api_key", message: problem });
});

test("a token without expiry is refused", async () => {
  const token = await sign({ ...claims, exp: undefined as never });
  await assert.rejects(async () => await tokensOf(open()).check(token), { message: /`exp`/ });
});

test("a token without signature, or signed with the public key as a shared secret, is refused", async () => {
  const tokens = tokensOf(open());
  const jwks = (await (await fetch(`${idp.issuer}/jwks`)).json()) as { keys: { kid: string }[] };
  const kid = jwks.keys[0]!.kid;
  const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  const payload = encode({ ...claims, iss: idp.issuer, exp: inSeconds(60) });
  const unsigned = `${encode({ alg: "none", kid })}.${payload}.`;
  const signed = `${encode({ alg: "HS256", kid })}.${payload}`;
  const confused = `${signed}.${createHmac("sha256", JSON.stringify(jwks.keys[0])).update(signed).digest("base64url")}`;
  for (const token of [unsigned, confused])
    await assert.rejects(async () => await tokens.check(token), { code: "invalid_api_key", message: /`alg`/ });
});

test("a token of another key with the same name is refused, as is one whose claims were changed", async () => {
  const tokens = tokensOf(open());
  const genuine = await sign(claims);
  const [header, , signature] = genuine.split(".") as [string, string, string];
  const { kid } = JSON.parse(Buffer.from(header, "base64url").toString()) as { kid: string };
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const forged = await new SignJWT({ ...claims, iss: idp.issuer, exp: inSeconds(60) })
    .setProtectedHeader({ alg: "ES256", kid })
    .sign(privateKey);
  const changed = Buffer.from(JSON.stringify({ ...claims, iss: idp.issuer, exp: inSeconds(9e6) })).toString(
    "base64url",
  );
  for (const token of [forged, `${header}.${changed}.${signature}`])
    await assert.rejects(async () => await tokens.check(token), { code: "invalid_api_key", message: /signature/ });
});

test("an algorithm that the settings do not allow is refused", async () => {
  const tokens = tokensOf(open({ algorithms: ["RS256"] }));
  await assert.rejects(async () => await tokens.check(await sign(claims)), { message: /`alg`/ });
});

test("tokens with invented keys make the server read the provider's keys once in a while only", async () => {
  const tokens = tokensOf(open());
  await tokens.check(await sign(claims));
  const before = idp.count("/jwks");
  nowMs += 11_000;
  for (let number = 0; number < 20; number += 1) {
    const token = await sign(claims, { kid: `invented-${number}` });
    await assert.rejects(async () => await tokens.check(token), { message: /`kid`/ });
  }
  assert.equal(idp.count("/jwks"), before + 1);
});

test("new keys of the provider are accepted, and old tokens stay valid while it is down", async () => {
  const tokens = tokensOf(open());
  const old = await sign(claims);
  await tokens.check(old);
  await idp.rotateKeys();
  nowMs += 11_000;
  await tokens.check(await sign(claims));
  await idp.stop();
  try {
    nowMs += 700_000;
    await tokens.check(await sign({ ...claims, exp: inSeconds(60) }));
    await assert.rejects(async () => await tokensOf(open()).check(await sign({ ...claims, exp: inSeconds(60) })), {
      code: "identity_provider_unavailable",
    });
  } finally {
    await idp.listen();
  }
});

test("keys, and texts that only look like tokens, are no tokens; what is no valid token is refused", async () => {
  const tokens = tokensOf(open());
  for (const text of ["sk-abc", "eyJ", "eyJhbGciOiJub25lIn0.e30", "eyJ hbGci.e30.x", ""])
    assert.equal(tokens.isToken(text), false, text);
  for (const text of ["eyJhbGciOiJub25lIn0.e30.", "eyJ.eyJ.eyJ", "eyJhbGciOiJFUzI1NiJ9.bm90IGpzb24.eyJ"]) {
    assert.equal(tokens.isToken(text), true, text);
    await assert.rejects(async () => await tokens.check(text), { code: "invalid_api_key" });
  }
  assert.equal(tokensOf(open({ audiences: [], client_id: clientId })).isToken("eyJ.eyJ.eyJ"), false);
});

test("other rules apply as soon as they are set", async () => {
  const tokens = tokensOf(open());
  const token = await sign({ ...claims, groups: ["ops"] });
  assert.deepEqual((await tokens.check(token)).grants, []);
  tokens.accept([open({ rules: [{ values: ["ops"], organization: "acme", role: "admin" }] })]);
  assert.deepEqual((await tokens.check(token)).grants, [{ organization: "acme", project: undefined, role: "admin" }]);
});
