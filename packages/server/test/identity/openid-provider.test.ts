/** Signing in at a real provider, and everything that can be wrong with its answers. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { clientId, clientSecret, TestIdentityProvider } from "../../../../test/support/identity-provider.ts";
import { ProviderBrowser } from "../../../../test/support/provider-browser.ts";
import { beforeEachTest } from "../../../../test/support/hooks.ts";
import type { ProviderSettings } from "../../src/config/sign-in.ts";
import { providerResponseBytes } from "../../src/identity/provider-fetch.ts";
import { OpenIdProvider } from "../../src/identity/openid-provider.ts";
import { startFlow, type SignInFlow } from "../../src/identity/sign-in-flow.ts";
import { silentLogger } from "../../src/logger.ts";
import { providerSettings } from "../support/provider-settings.ts";

const redirectUri = "http://127.0.0.1:1/sign-in/acme/callback";
const { signal } = new AbortController();

let idp: TestIdentityProvider;
let opened: AsyncDisposableStack;

beforeEachTest(async (stack) => {
  opened = stack;
  idp = stack.use(await TestIdentityProvider.start());
});

function open(
  changes: Partial<ProviderSettings> = {},
  { issuer = idp.issuer, now }: { issuer?: string; now?: () => number } = {},
) {
  const provider = new OpenIdProvider({
    name: "acme",
    settings: providerSettings({ issuer, client_id: clientId, client_secret: clientSecret, ...changes }),
    logger: silentLogger,
    ...(now === undefined ? {} : { now }),
  });
  opened.defer(() => provider.close());
  return provider;
}

const newFlow = (): SignInFlow => startFlow("acme", "", Math.floor(Date.now() / 1000));

/** Signs in, and returns the provider's answer. */
async function answerTo(provider: OpenIdProvider, flow: SignInFlow, change: (url: URL) => void = () => {}) {
  const url = new URL(await provider.authorizationUrl(flow, redirectUri, signal));
  change(url);
  return (await new ProviderBrowser().visit(url.href)).searchParams;
}

const rejectsWith = async (promise: Promise<unknown>, code: string, message: RegExp) =>
  await assert.rejects(promise, { name: "AppError", code, message });

test("a person who signs in gets the memberships of the rules, from the ID token and from userinfo", async () => {
  idp.person = {
    sub: "alice",
    email: "alice@acme.example",
    email_verified: true,
    name: "Alice",
    groups: ["dev", "ops"],
  };
  const provider = open({
    scopes: ["profile", "email", "groups"],
    rules: [
      { values: ["ops", "admins"], organization: "acme", role: "admin" },
      { values: ["dev"], organization: "acme", role: "member" },
      { values: ["sales"], organization: "acme", role: "owner" },
      { claim: "email", values: ["*@acme.example"], organization: "acme", project: "web", role: "viewer" },
      { claim: "sub", values: ["al*"], organization: "acme", project: "web", role: "viewer" },
    ],
  });
  const flow = newFlow();
  const { identity, refreshToken } = await provider.finish(await answerTo(provider, flow), {
    flow,
    redirectUri,
    signal,
  });
  assert.deepEqual(identity, {
    provider: "acme",
    subject: "alice",
    email: "alice@acme.example",
    emailVerified: true,
    name: "Alice",
    grants: [
      { organization: "acme", project: undefined, role: "admin" },
      { organization: "acme", project: "web", role: "viewer" },
    ],
  });
  assert.equal(refreshToken, undefined);
  assert.equal(idp.count("/me"), 1);
});

test("an address that the provider did not verify matches no rule", async () => {
  idp.person = { sub: "mallory", email: "boss@acme.example", email_verified: false };
  const provider = open({
    rules: [{ claim: "email", values: ["*@acme.example"], organization: "acme", role: "owner" }],
  });
  const flow = newFlow();
  const { identity } = await provider.finish(await answerTo(provider, flow), { flow, redirectUri, signal });
  assert.deepEqual([identity.emailVerified, identity.grants], [false, []]);
});

test("an answer with another state, another flow's state, or without one is refused", async () => {
  const provider = open();
  const flow = newFlow();
  const answer = await answerTo(provider, flow);
  for (const state of ["wrong", undefined]) {
    const changed = new URLSearchParams(answer);
    if (state === undefined) changed.delete("state");
    else changed.set("state", state);
    await rejectsWith(provider.finish(changed, { flow, redirectUri, signal }), "sign_in_failed", /state/);
  }
  await rejectsWith(provider.finish(answer, { flow: newFlow(), redirectUri, signal }), "sign_in_failed", /state/);
  const repeated = new URLSearchParams([...answer, ["state", "second"]]);
  await rejectsWith(provider.finish(repeated, { flow, redirectUri, signal }), "sign_in_failed", /state/);
});

test("an ID token with another nonce is refused", async () => {
  const provider = open();
  const flow = newFlow();
  const answer = await answerTo(provider, flow, (url) => url.searchParams.set("nonce", "another"));
  await rejectsWith(provider.finish(answer, { flow, redirectUri, signal }), "sign_in_failed", /nonce/);
});

test("a code is bound to the browser that asked for it, and works once", async () => {
  const provider = open();
  const flow = newFlow();
  const stolen = await answerTo(provider, flow, (url) => url.searchParams.set("code_challenge", "A".repeat(43)));
  await rejectsWith(provider.finish(stolen, { flow, redirectUri, signal }), "sign_in_failed", /invalid_grant/);
  const answer = await answerTo(provider, flow);
  await provider.finish(answer, { flow, redirectUri, signal });
  await rejectsWith(provider.finish(answer, { flow, redirectUri, signal }), "sign_in_failed", /invalid_grant/);
});

test("an answer of one provider is refused by the sign-in at another (mix-up)", async () => {
  await using other = await TestIdentityProvider.start();
  const [provider, otherProvider] = [open(), open({}, { issuer: other.issuer })];
  const flow = newFlow();
  const answer = await answerTo(provider, flow);
  assert.equal(answer.get("iss"), idp.issuer);
  const swapped = new URLSearchParams(answer);
  swapped.set("iss", other.issuer);
  await rejectsWith(provider.finish(swapped, { flow, redirectUri, signal }), "sign_in_failed", /iss/);
  await rejectsWith(otherProvider.finish(answer, { flow, redirectUri, signal }), "sign_in_failed", /iss/);
  const missing = new URLSearchParams(answer);
  missing.delete("iss");
  await rejectsWith(provider.finish(missing, { flow, redirectUri, signal }), "sign_in_failed", /iss/);
  assert.equal(other.count("/token"), 0);
});

test("a person whom the provider refuses is told so", async () => {
  idp.person = undefined;
  const provider = open({ label: "Acme's login" });
  const flow = newFlow();
  const finishing = provider.finish(await answerTo(provider, flow), { flow, redirectUri, signal });
  await rejectsWith(
    finishing,
    "sign_in_failed",
    /Acme's login did not sign you in \(access_denied: Nobody is here\.\)/,
  );
});

test("ID tokens of another issuer, for another client, too old or from the future are refused", async () => {
  const provider = open({ clock_skew_seconds: 30 });
  const nowSeconds = Math.floor(Date.now() / 1000);
  const cases: [changes: Record<string, unknown>, problem: RegExp][] = [
    [{ iss: "https://other.example.com" }, /iss/],
    [{ aud: "another-client" }, /aud/],
    [{ aud: [clientId, "another-client"] }, /aud/],
    [{ exp: nowSeconds - 60 }, /exp/],
    [{ nbf: nowSeconds + 60 }, /nbf/],
    [{ iat: nowSeconds + 3600, exp: nowSeconds + 7200 }, /iat/],
    [{ sub: "" }, /sub/],
    [{ sub: "s".repeat(256) }, /sub/],
  ];
  for (const [changes, problem] of cases) {
    idp.changeIdToken = (claims) => ({ ...claims, ...changes });
    const flow = newFlow();
    const finishing = provider.finish(await answerTo(provider, flow), { flow, redirectUri, signal });
    await rejectsWith(finishing, "sign_in_failed", problem);
  }
  idp.changeIdToken = (claims) => ({ ...claims, exp: nowSeconds - 5, iat: nowSeconds + 5 });
  const flow = newFlow();
  await provider.finish(await answerTo(provider, flow), { flow, redirectUri, signal });
});

test("a provider may replace its keys", async () => {
  let nowMs = Date.now();
  const provider = open({}, { now: () => nowMs });
  for (let time = 0; time < 2; time += 1) {
    const flow = newFlow();
    await provider.finish(await answerTo(provider, flow), { flow, redirectUri, signal });
    await idp.rotateKeys();
    nowMs += 11_000;
  }
  assert.equal(idp.count("/jwks"), 2);
});

test("a provider that is down delays nobody, and works once it is up", async () => {
  await idp.stop();
  const provider = open();
  assert.equal(provider.isAvailable, false);
  await rejectsWith(
    provider.authorizationUrl(newFlow(), redirectUri, signal),
    "identity_provider_unavailable",
    /"acme" is unavailable/,
  );
  assert.equal(provider.isAvailable, false);
  await idp.listen();
  let nowMs = Date.now() + 60_000;
  const later = open({}, { now: () => nowMs });
  const flow = newFlow();
  const answer = await answerTo(later, flow);
  assert.equal(later.isAvailable, true);
  await idp.stop();
  await rejectsWith(
    later.finish(answer, { flow, redirectUri, signal }),
    "identity_provider_unavailable",
    /"acme" is unavailable/,
  );
  nowMs += 7_200_000;
  // The metadata are old and cannot be read again; they stay in use.
  assert.match(await later.authorizationUrl(newFlow(), redirectUri, signal), /code_challenge_method=S256/);
});

test("metadata of another issuer, behind a redirect, or too large are not used", async () => {
  idp.failing.set("/.well-known", 302);
  await rejectsWith(
    open().authorizationUrl(newFlow(), redirectUri, signal),
    "identity_provider_unavailable",
    /unavailable/,
  );
  idp.failing.clear();
  await using other = await TestIdentityProvider.start();
  other.changeMetadata = (metadata) => ({ ...metadata, issuer: idp.issuer });
  const ofAnother = open({}, { issuer: other.issuer });
  await rejectsWith(ofAnother.authorizationUrl(newFlow(), redirectUri, signal), "identity_provider_unavailable", /una/);
  await using large = await TestIdentityProvider.start();
  large.changeMetadata = (metadata) => ({ ...metadata, filler: "x".repeat(providerResponseBytes) });
  const ofLarge = open({}, { issuer: large.issuer });
  await rejectsWith(ofLarge.authorizationUrl(newFlow(), redirectUri, signal), "identity_provider_unavailable", /unav/);
});

test("a refresh token tells whether access goes on, and with which memberships", async () => {
  idp.person = { sub: "alice", groups: ["dev"] };
  const provider = open({
    scopes: ["offline_access", "groups"],
    parameters: { prompt: "consent" },
    rules: [
      { values: ["dev"], organization: "acme", role: "member" },
      { values: ["ops"], organization: "acme", role: "admin" },
    ],
  });
  const flow = newFlow();
  const { refreshToken } = await provider.finish(await answerTo(provider, flow), { flow, redirectUri, signal });
  assert.ok(refreshToken);
  const first = await provider.refresh(refreshToken, "alice", signal);
  assert.deepEqual(first?.identity?.grants, [{ organization: "acme", project: undefined, role: "member" }]);
  await rejectsWith(provider.refresh(first.refreshToken, "bob", signal), "sign_in_failed", /another person/);
  idp.forget("alice");
  assert.equal(await provider.refresh(first.refreshToken, "alice", signal), undefined);
});
