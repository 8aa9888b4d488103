/** In a real browser with a virtual authenticator, a person adds a passkey, signs in with it, and removes it. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { beforeTests } from "../../../test/support/hooks.ts";
import { needs } from "../../../test/support/needs.ts";
import { assertAccessible, launchBrowser, type Browser, type Page } from "./support/browser.ts";
import { startConsoleServer, type RunningServer } from "./support/console-server.ts";
import { openAsPerson, password } from "./support/open-as-person.ts";

/** https://chromedevtools.github.io/devtools-protocol/tot/WebAuthn/ */
async function addAuthenticator(page: Page) {
  const protocol = await page.context().newCDPSession(page);
  await protocol.send("WebAuthn.enable");
  const { authenticatorId } = await protocol.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return {
    verify: (isUserVerified: boolean) => protocol.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified }),
  };
}

describe("passkeys in the console", { skip: needs("chromium") }, () => {
  let server: RunningServer;
  let browser: Browser;
  /** Browsers know no passkeys for IP addresses. */
  let url: string;
  beforeTests(async (stack) => {
    server = stack.use(await startConsoleServer("", { telemetry: false }));
    url = server.url.replace("127.0.0.1", "localhost");
    browser = await launchBrowser();
    stack.defer(() => browser.close());
  });

  async function openPreferences(email: string, at = url) {
    const console = await openAsPerson(browser, server, { email, role: "viewer", url: at });
    await console.open("preferences");
    return console;
  }

  async function add(page: Page, name: string): Promise<void> {
    await page.getByRole("button", { name: "Add a passkey" }).click();
    await page.getByLabel("Name", { exact: true }).fill(name);
    await page.getByLabel("Current password").fill(password);
    await page.getByRole("button", { name: "Add", exact: true }).click();
  }

  test("are added with the password, sign in without it, and are renamed and removed", async () => {
    await using console = await openPreferences("ada@example.com");
    const { page } = console;
    await addAuthenticator(page);
    await add(page, "Ada's laptop");
    const list = page.getByRole("list", { name: "Passkeys" });
    await list.getByText("Ada's laptop").first().waitFor();
    assert.match(await list.innerText(), /never used · on one device/);
    await assertAccessible(page);

    await add(page, "The same again");
    await page.getByText("There is a passkey for your account on this device already.").waitFor();
    await page.getByRole("button", { name: "Cancel" }).click();

    await page.getByRole("button", { name: "Account" }).click();
    await page.getByText("Sign out", { exact: true }).click();
    await page.getByRole("button", { name: "Sign in with a passkey" }).waitFor();
    await assertAccessible(page);
    await page.getByRole("button", { name: "Sign in with a passkey" }).click();
    await page.getByRole("navigation", { name: "Views" }).waitFor();
    await console.open("preferences");
    await list.getByText(/· used /).waitFor();

    await page.getByRole("button", { name: "Rename Ada's laptop" }).click();
    await page.getByLabel("Name", { exact: true }).fill("The old laptop");
    await page.getByRole("button", { name: "Rename", exact: true }).click();
    await page.getByRole("button", { name: "Remove The old laptop" }).click();
    await page.getByLabel("Current password").fill(password);
    await page.getByRole("button", { name: "Remove", exact: true }).click();
    await list.getByText("The old laptop").first().waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Account" }).click();
    await page.getByText("Sign out", { exact: true }).click();
    await page.getByRole("button", { name: "Sign in with the password" }).waitFor();
    assert.equal(await page.getByRole("button", { name: "Sign in with a passkey" }).count(), 0, "nobody has one");
    assert.deepEqual(console.problems, []);
  });

  test("need the person at the authenticator", async () => {
    await using console = await openPreferences("bob@example.com");
    const { page } = console;
    const authenticator = await addAuthenticator(page);
    await authenticator.verify(false);
    await add(page, "Phone");
    await page.getByText("No passkey was used").waitFor();
  });

  test("are refused with what to do where the address has no host name", async () => {
    await using console = await openPreferences("eve@example.com", server.url);
    const { page } = console;
    await add(page, "Phone");
    await page.getByText(/Passkeys need a current browser|Set server\.public_url/).waitFor();
  });
});
