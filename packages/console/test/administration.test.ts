/** The view "Administration" in a real browser: who sees what, keys and their secrets, limits, and what cannot be undone. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { assertAccessible, launchBrowser, openConsole, type ConsolePage } from "./support/browser.ts";
import { administer, startConsoleServer, type RunningServer } from "./support/console-server.ts";
import { beforeTests } from "../../../test/support/hooks.ts";
import { needs } from "../../../test/support/needs.ts";

interface Created {
  readonly id: string;
  readonly secret: string;
}

describe("the view Administration", { skip: needs("chromium") }, () => {
  let server: RunningServer;
  let browser: Browser;
  let operator: Created;
  let acme: Created;
  let acmeAdmin: Created;
  let project: Created;

  beforeTests(async (stack) => {
    server = stack.use(await startConsoleServer("", { telemetry: false }));
    browser = await launchBrowser();
    stack.defer(() => browser.close());
    const permissions = ["admin", "inference"];
    operator = await administer(server, "keys", { name: "root", operator: true, permissions });
    acme = await administer(server, "organizations", {
      name: "acme",
      limits: { requests_per_minute: 120, tokens_per_month: 1000 },
    });
    const organization_id = acme.id;
    acmeAdmin = await administer(server, "keys", { organization_id, name: "acme admin", permissions: ["admin"] });
    project = await administer(server, "projects", { organization_id, name: "support-bot" });
  });

  const openAs = (key: Created): Promise<ConsolePage> => openConsole(browser, { url: server.url, key: key.secret });

  /** The status of a request with the key. */
  async function statusOf(secret: string): Promise<number> {
    const { status } = await fetch(`${server.url}/v1/models`, { headers: { authorization: `Bearer ${secret}` } });
    return status;
  }

  async function submit(page: Page, name: string): Promise<void> {
    await page.getByRole("dialog").getByRole("button", { name, exact: true }).click();
  }

  test("is neither shown to a key without the permission nor opened by a link", async () => {
    await using console = await openConsole(browser, server);
    const { page } = console;
    const asked: string[] = [];
    page.on("request", (request) => void asked.push(request.url()));
    await console.open(`administration/keys/${operator.id}`);
    await page.getByText('Administration needs the permission "configuration_read"').waitFor();
    assert.equal(await page.getByRole("link", { name: "Administration" }).count(), 0);
    assert.deepEqual(
      asked.filter((url) => url.includes("/admin/")),
      [],
    );
    assert.deepEqual(console.problems, []);
  });

  test("shows an organization's admin its own organization only, and does not offer what only operators may do", async () => {
    await using console = await openAs(acmeAdmin);
    const { page } = console;
    await console.open("administration/organizations");
    await page.getByRole("link", { name: "acme", exact: true }).waitFor();
    assert.deepEqual(await page.getByRole("rowheader").allInnerTexts(), ["acme"]);
    assert.equal(await page.getByRole("button", { name: "New organization" }).count(), 0);
    await page.getByRole("link", { name: "acme", exact: true }).click();
    await page.getByText("of 120").first().waitFor();
    assert.equal(await page.getByRole("button", { name: "Archive" }).count(), 0);
    await console.open(`administration/keys/${operator.id}`);
    await page.getByRole("heading", { name: "Not found" }).waitFor();
    await console.open("administration/keys?dialog=create");
    await page.getByRole("checkbox", { name: "admin" }).check();
    assert.equal(await page.getByRole("checkbox", { name: "Operator key" }).count(), 0);
    assert.deepEqual(console.problems, []);
  });

  test("creates a key whose secret is shown once, and asks before it is lost", async () => {
    await using console = await openAs(acmeAdmin);
    const { page } = console;
    await console.open("administration/keys");
    await page.getByRole("button", { name: "New key" }).click();
    await page.getByLabel("Name").fill("no <b>tags</b>");
    await submit(page, "Create");
    const problem = page.getByRole("dialog").getByRole("alert");
    await problem.waitFor();
    assert.match(await problem.innerText(), /^name /);
    assert.equal(await page.getByLabel("Name").getAttribute("aria-invalid"), "true");
    await page.getByLabel("Name").fill("night shift");
    await page.getByLabel("Bound to project").selectOption("support-bot");
    await page.getByLabel("Expires").selectOption("In 30 days");
    await submit(page, "Create");
    const dialog = page.getByRole("dialog", { name: "Save the secret" });
    const secret = await dialog.locator("code").innerText();
    assert.equal(await statusOf(secret), 200);
    await page.keyboard.press("Escape");
    await dialog.getByText("You have not copied the secret").waitFor();
    await submit(page, "Go back");
    await dialog.getByRole("button", { name: "Copy the secret" }).click();
    await submit(page, "Done");
    await page.getByRole("heading", { level: 1, name: "night shift" }).waitFor();
    await page.getByRole("link", { name: "support-bot" }).waitFor();
    assert.equal((await page.content()).includes(secret), false);
    await page.reload();
    await page.getByRole("heading", { level: 1, name: "night shift" }).waitFor();
    assert.equal((await page.content()).includes(secret), false);
    assert.deepEqual(console.problems, []);
  });

  test("rotates a key, and revokes one after its name was typed", async () => {
    const key = await administer<Created>(server, "keys", { organization_id: acme.id, name: "old key" });
    await using console = await openAs(operator);
    const { page } = console;
    await console.open(`administration/keys/${key.id}`);
    await page.getByRole("button", { name: "Rotate" }).click();
    await page.getByLabel("The old key").selectOption("Keep it for a day");
    await submit(page, "Rotate");
    const rotated = await page.getByRole("dialog", { name: "Save the secret" }).locator("code").innerText();
    assert.deepEqual([await statusOf(key.secret), await statusOf(rotated)], [200, 200]);
    await page.getByRole("button", { name: "Copy the secret" }).click();
    await submit(page, "Done");
    await page.waitForURL((url) => !url.pathname.endsWith(key.id));
    await page.getByRole("button", { name: "Revoke" }).click();
    const revoke = page.getByRole("dialog").getByRole("button", { name: "Revoke" });
    assert.equal(await revoke.isDisabled(), true);
    await page.getByLabel("Type old key to confirm").fill("old key");
    await revoke.click();
    await page.getByText("Revoked", { exact: true }).waitFor();
    assert.deepEqual([await statusOf(key.secret), await statusOf(rotated)], [200, 401]);
    assert.equal(await page.getByRole("button", { name: "Rotate" }).count(), 0);
    assert.deepEqual(console.problems, []);
  });

  test("changes limits, which are shown next to their usage, and how a project stores telemetry", async () => {
    await using console = await openAs(operator);
    const { page } = console;
    await console.open(`administration/organizations/${acme.id}?dialog=edit`);
    await page.getByRole("spinbutton", { name: "Requests per minute" }).fill("240");
    await page.getByRole("spinbutton", { name: "Tokens per month" }).fill("");
    await page.getByLabel("Models that it may call").fill("gpt-*\nsounding-trial");
    await submit(page, "Save");
    await page.getByText("of 240").first().waitFor();
    await page.getByText("gpt-*, sounding-trial").waitFor();
    assert.equal(await page.getByText("of 1,000").count(), 0);
    await console.open(`administration/projects/${project.id}`);
    await page.getByRole("button", { name: "Edit" }).click();
    await page.getByLabel("Retention in days").fill("0");
    await submit(page, "Save");
    await page.getByText(/retention_days is 0/).waitFor();
    await page.getByLabel("Retention in days").fill("7");
    await page.getByLabel("Record prompts and answers").check();
    await submit(page, "Save");
    await page.getByText("7 days").waitFor();
    await page.getByText("recorded", { exact: true }).waitFor();
    await page.reload();
    await page.getByText("7 days").waitFor();
    assert.deepEqual(console.problems, []);
  });

  test("creates and changes a budget, shows what is used and reserved of it, and leaves an operator's alone", async () => {
    await using console = await openAs(acmeAdmin);
    const { page } = console;
    await console.open("administration/budgets");
    await page.getByRole("button", { name: "New budget" }).click();
    await page.getByLabel("Name").fill("each user");
    await page.getByLabel("Amount").fill("0.5");
    await page.getByLabel("For", { exact: true }).selectOption("End users");
    await page.getByLabel("Starts again").selectOption("Every day");
    await page.getByLabel("Time zone").fill("Nowhere");
    await submit(page, "Create");
    await page.getByText(/time_zone is "Nowhere"/).waitFor();
    await page.getByLabel("Time zone").fill("Europe/Berlin");
    await submit(page, "Create");
    await page.getByRole("heading", { level: 1, name: "each user" }).waitFor();
    await page.getByText("0.5 USD a day").waitFor();
    await page.getByText("Nothing was used in this period.").waitFor();
    await page.getByRole("button", { name: "Edit" }).click();
    await page.getByLabel("Amount in USD").fill("0.75");
    await page.getByLabel("Refuse calls that do not fit").uncheck();
    await submit(page, "Save");
    await page.getByText("0.75 USD a day").waitFor();
    await page.getByText("are allowed", { exact: true }).waitFor();
    await page.getByRole("link", { name: "All budgets" }).click();
    await page.getByText("only reports").waitFor();
    await page.getByRole("link", { name: "each user" }).click();
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByLabel("Type each user to confirm").fill("each user");
    await submit(page, "Delete");
    await page.getByRole("heading", { name: "No budgets yet" }).waitFor();
    const imposed = await administer<Created>(server, "budgets", {
      organization_id: acme.id,
      name: "imposed",
      amount: 1,
    });
    await console.open(`administration/budgets/${imposed.id}`);
    await page.getByRole("meter", { name: "What is used of the budget" }).waitFor();
    assert.equal(await page.getByRole("button", { name: "Edit" }).count(), 0);
    assert.deepEqual(console.problems, []);
  });

  test("creates and archives an organization, after its name was typed", async () => {
    await using console = await openAs(operator);
    const { page } = console;
    await console.open("administration/organizations");
    await page.getByRole("button", { name: "New organization" }).click();
    await page.getByLabel("Name").fill("acme");
    await submit(page, "Create");
    await page.getByRole("dialog").getByRole("alert").waitFor();
    await page.getByLabel("Name").fill("globex");
    await submit(page, "Create");
    await page.getByRole("heading", { level: 1, name: "globex" }).waitFor();
    await page.getByRole("button", { name: "Archive" }).click();
    await page.getByLabel("Type globex to confirm").fill("globex");
    await submit(page, "Archive");
    await page.getByText(/^Archived on/).waitFor();
    await page.getByRole("link", { name: "All organizations" }).click();
    await page.getByRole("link", { name: "acme", exact: true }).waitFor();
    assert.equal(await page.getByRole("link", { name: "globex" }).count(), 0);
    await page.getByRole("checkbox", { name: "Archived too" }).check();
    await page.getByRole("link", { name: "globex" }).waitFor();
    assert.deepEqual(console.problems, []);
  });

  test("adds a person, changes the role, and disables the person after the address was typed", async () => {
    await using console = await openAs(acmeAdmin);
    const { page } = console;
    await console.open("administration/people");
    await page.getByText("No people yet").waitFor();
    await page.getByRole("button", { name: "Add a person" }).click();
    await page.getByLabel("Mail address").fill("ada@example.com");
    await page.getByRole("dialog").getByLabel("Role").selectOption("viewer");
    await submit(page, "Add");
    await page.getByRole("heading", { level: 1, name: "ada" }).waitFor();
    const role = page.getByRole("combobox", { name: "Role" });
    assert.equal(await role.inputValue(), "viewer");
    await role.selectOption("member");
    await page.getByRole("button", { name: "Give a role" }).click();
    await page.getByRole("dialog").getByLabel("Project").selectOption("support-bot");
    await page.getByRole("dialog").getByLabel("Role").selectOption("admin");
    await submit(page, "Give");
    await page.getByRole("cell", { name: "support-bot" }).waitFor();
    await assertAccessible(page);
    await page.getByRole("button", { name: "Disable" }).click();
    await page.getByLabel("Type ada@example.com").fill("ada@example.com");
    await submit(page, "Disable");
    await page.getByRole("button", { name: "Enable" }).waitFor();
    await page.getByRole("link", { name: "All people" }).click();
    await page.getByText("No people yet").waitFor();
    await page.getByLabel("Disabled too").check();
    await page.getByRole("row", { name: /ada@example\.com .*member.*admin in support-bot/ }).waitFor();
    assert.deepEqual(console.problems, []);
  });

  test("lets a viewer look at everything, and offers no change", async () => {
    const viewer = await administer<Created>(server, "keys", {
      organization_id: acme.id,
      name: "viewer",
      role: "viewer",
    });
    await using console = await openAs(viewer);
    const { page } = console;
    for (const kind of ["organizations", "projects", "people", "keys", "deletions"]) {
      await console.open(`administration/${kind}?dialog=create`);
      await page.getByText("To change it, you need the permission admin").waitFor();
      assert.equal(await page.getByRole("dialog").count(), 0);
      assert.equal(await page.locator("main .button.primary").count(), 0, kind);
    }
    await console.open(`administration/projects/${project.id}?dialog=archive`);
    await page.getByRole("heading", { level: 1, name: "support-bot" }).waitFor();
    assert.deepEqual(
      await page
        .locator("main")
        .getByRole("button", { name: /Archive|Edit|Delete/ })
        .allInnerTexts(),
      [],
    );
    assert.equal(await page.getByRole("dialog").count(), 0);
    assert.deepEqual(console.problems, []);
  });

  test("searches and pages long lists, and the address keeps the search", async () => {
    const organization = await administer<Created>(server, "organizations", { name: "many keys" });
    for (let index = 0; index < 60; index++)
      await administer(server, "keys", { organization_id: organization.id, name: `worker ${index}` });
    await using console = await openAs(operator);
    const { page } = console;
    await console.open(`administration/keys?organization=${organization.id}`);
    await page.getByText("worker 59").waitFor();
    assert.equal(await page.getByRole("rowheader").count(), 50);
    await page.getByRole("button", { name: "Show more" }).click();
    await page.getByText("worker 0", { exact: true }).waitFor();
    assert.equal(await page.getByRole("rowheader").count(), 60);
    await page.getByRole("searchbox").fill("WORKER 3");
    await page.getByText("worker 59").waitFor({ state: "detached" });
    assert.equal(await page.getByRole("rowheader").count(), 11);
    await page.reload();
    await page.getByText("worker 39").waitFor();
    await page.getByRole("searchbox").fill("nobody");
    await page.getByRole("heading", { name: "No keys match" }).waitFor();
    assert.deepEqual(console.problems, []);
  });

  for (const theme of ["light", "dark"] as const) {
    test(`is accessible in the ${theme} theme, and fits a small screen`, async () => {
      for (const width of [1280, 390]) {
        const viewport = { width, height: 800 };
        await using console = await openConsole(browser, { url: server.url, key: operator.secret, theme, viewport });
        const { page } = console;
        for (const [address, shown] of [
          ["administration/organizations", "acme"],
          ["administration/keys?search=acme", "acme admin"],
          ["administration/keys?dialog=create", "New key"],
          ["administration/budgets?dialog=create", "New budget"],
          [`administration/organizations/${acme.id}`, "Telemetry exports"],
          [`administration/projects/${project.id}?dialog=archive`, "Archive the project"],
        ] as const) {
          await console.open(address);
          await page.getByText(shown, { exact: true }).first().waitFor();
          await assertAccessible(page);
          const overflow = await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth");
          assert.equal(overflow, 0, address);
        }
        assert.deepEqual(console.problems, []);
      }
    });
  }

  test("lists the audit log with filters, shows what changed, and verifies it", async () => {
    const organization_id = acme.id;
    const key: Created = await administer(server, "keys", { organization_id, name: "watched", permissions: ["admin"] });
    await fetch(`${server.url}/admin/v1/keys/${key.id}`, {
      method: "PATCH",
      headers: { authorization: `Bearer ${operator.secret}`, "content-type": "application/json" },
      body: JSON.stringify({ name: "watched closely" }),
    });
    await using console = await openAs(operator);
    const { page } = console;
    await console.open("administration/audit");
    await page.getByLabel("Object").fill(key.id);
    await page.getByLabel("Object").press("Enter");
    const row = page.getByRole("row").filter({ hasText: "updateKey" });
    await page.getByText("createKey key watched").waitFor();
    await row.getByText("key root").waitFor();
    assert.equal(await page.getByRole("rowheader").count(), 2);
    await row.locator("summary").click();
    await row.getByText("watched → watched closely").waitFor();
    await page.getByLabel("Outcome").selectOption("refused");
    await page.getByRole("heading", { name: "No entry matches" }).waitFor();
    await page.getByRole("button", { name: "Verify" }).click();
    await page.getByText("The audit log is valid:").waitFor();
    await assertAccessible(page);
    assert.deepEqual(console.problems, []);
    await using ofAcme = await openAs(acmeAdmin);
    await ofAcme.open(`administration/audit?target=${key.id}`);
    await ofAcme.page.getByText("key operator").first().waitFor();
    assert.equal(await ofAcme.page.getByRole("button", { name: "Verify" }).count(), 0);
  });
});
