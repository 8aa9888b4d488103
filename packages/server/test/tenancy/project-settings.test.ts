import assert from "node:assert/strict";
import { test } from "node:test";
import { Scope } from "../../src/tenant.ts";
import { createOrganization } from "../../src/tenancy/organizations.ts";
import { createProjectSettings } from "../../src/tenancy/project-settings.ts";
import { archiveProject, createProject, updateProject } from "../../src/tenancy/projects.ts";
import { testKey } from "../support/test-key.ts";
import { onEachDatabase } from "./each-database.ts";

onEachDatabase("a project's settings", ({ open }) => {
  test("are those of the organization's own project, follow changes, and are the defaults without one", async () => {
    const control = await open();
    const settingsOf = createProjectSettings(control);
    const acme = await createOrganization(control, { name: "acme" });
    const globex = await createOrganization(control, { name: "globex" });
    const scope = (organizationId: string, project: string) => Scope.fromKey(testKey({ organizationId }), { project });
    const bot = scope(acme.id, "bot");
    const defaults = { retention_days: 30, record_content: false };
    assert.deepEqual(await settingsOf(bot), defaults);

    const project = await createProject(control, {
      organizationId: acme.id,
      name: "bot",
      settings: { record_content: true },
    });
    assert.deepEqual(await settingsOf(bot), { retention_days: 30, record_content: true });
    assert.ok(!(settingsOf(bot) instanceof Promise), "a hit is at once");
    assert.deepEqual(await settingsOf(scope(globex.id, "bot")), defaults);

    await updateProject(control, project.id, { settings: { retention_days: 5 }, requestedBy: "key_1" });
    assert.deepEqual(await settingsOf(bot), { retention_days: 5, record_content: true });
    await archiveProject(control, project.id);
    assert.deepEqual(await settingsOf(bot), defaults);
  });
});
