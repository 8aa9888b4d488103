/** A console page of a person who has just chosen a password. */
import assert from "node:assert/strict";
import { openConsole, type Browser, type ConsolePage } from "./browser.ts";
import { administer, type RunningServer } from "./console-server.ts";

export const password = "seven quiet lanterns";

/** @param url of the page; absent: the server's */
export async function openAsPerson(
  browser: Browser,
  server: RunningServer,
  { email, role, url = server.url }: { readonly email: string; readonly role: string; readonly url?: string },
): Promise<ConsolePage> {
  const { id } = await administer<{ id: string }>(server, "people", { email, role });
  const { token } = await administer<{ token: string }>(server, `people/${id}/account_link`, {});
  const console = await openConsole(browser, { url });
  const answer = await console.context.request.post(`${url}/authentication/account_links`, {
    data: { token, password },
  });
  assert.equal(answer.status(), 201, await answer.text());
  return console;
}
