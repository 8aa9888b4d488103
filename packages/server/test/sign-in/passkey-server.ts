/** A server at a public address with people who have passkeys, for tests of them. */
import assert from "node:assert/strict";
import type { ControlDatabase } from "../../src/tenancy/control-database.ts";
import type { TestBrowser } from "../tenancy/session-server.ts";
import { goodPassword, startAccountServer } from "./account-server.ts";
import { TestAuthenticator, type CreationOptions, type Deviation, type RequestOptions } from "./test-authenticator.ts";

export const publicUrl = "https://sounding.example/below";
export const origin = "https://sounding.example";
export const own = "/authentication/account/passkeys";
export const proof = { current_password: goodPassword };

export async function startPasskeyServer(control: ControlDatabase) {
  const server = await startAccountServer(control, { publicUrl });

  async function creationOptions(browser: TestBrowser): Promise<CreationOptions> {
    const { body, status } = await browser.request("POST", "/authentication/account/passkey_options", { body: proof });
    assert.equal(status, 201, JSON.stringify(body));
    return body["public_key"] as CreationOptions;
  }

  async function requestOptions(browser: TestBrowser): Promise<RequestOptions> {
    const { body, status } = await browser.request("POST", "/authentication/passkey_challenges");
    assert.equal(status, 201, JSON.stringify(body));
    return body["public_key"] as RequestOptions;
  }

  const send = (browser: TestBrowser, credential: object, name = "Laptop") =>
    browser.request("POST", own, { body: { name, credential } });
  const use = (browser: TestBrowser, credential: object) =>
    browser.request("POST", "/authentication/passkey_sessions", { body: { credential } });

  /** A person with a passkey. */
  async function joinWithPasskey(organization?: string, role?: string, options?: { counts?: boolean }) {
    const person = await server.join(organization, role);
    const authenticator = new TestAuthenticator(origin, options);
    const { body, status } = await send(person.browser, authenticator.create(await creationOptions(person.browser)));
    assert.equal(status, 201, JSON.stringify(body));
    return { ...person, authenticator, passkey: body["id"] as string };
  }

  async function signInWith(authenticator: TestAuthenticator, wrong: Deviation = {}, browser = server.browser()) {
    return await use(browser, authenticator.get(await requestOptions(browser), wrong));
  }

  return { ...server, creationOptions, requestOptions, send, use, joinWithPasskey, signInWith };
}

type Answer = Awaited<ReturnType<TestBrowser["request"]>>;

export const outcome = ({ body, status }: Answer) => [status, body.error?.code ?? body.error?.param];
export const refusedSignIn = [401, "invalid_credentials"];
export const refusedCreation = [400, "credential"];
