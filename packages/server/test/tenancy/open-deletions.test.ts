/** What deletions that are not done forbid and allow. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { readControlRows, writeOrganizationRows } from "../../src/tenancy/control-rows.ts";
import { beginOrganizationDeletion, beginProjectDeletion } from "../../src/tenancy/delete-tenants.ts";
import { createDeletion, listDeletions, recordProgress } from "../../src/tenancy/deletions.ts";
import { createOrganization } from "../../src/tenancy/organizations.ts";
import { createProject, updateProject } from "../../src/tenancy/projects.ts";
import { bootstrap } from "../../src/tenancy/bootstrap.ts";
import { failure, onEachDatabase } from "./each-database.ts";

const requestedBy = "key_test";

onEachDatabase("deletions that are not done", (databases) => {
  async function openWithOrganization() {
    const control = await databases.open();
    await bootstrap(control);
    return { control, organizationId: (await createOrganization(control, { name: "acme" })).id };
  }

  test("refuse to restore their organization, until they are done", async () => {
    const { control, organizationId } = await openWithOrganization();
    const rows = await readControlRows(control, organizationId, new AbortController().signal);
    const { id } = await beginOrganizationDeletion(control, organizationId, requestedBy);
    const refused = await failure(() => writeOrganizationRows(control, rows));
    assert.equal(refused.code, "conflict");
    assert.match(refused.message, new RegExp(`^The deletion ${id} of the organization .* is not done`));
    await recordProgress(control, id!, { status: "done" });
    await writeOrganizationRows(control, rows);
  });

  test("refuse a new project with the name of one that is deleted", async () => {
    const { control, organizationId } = await openWithOrganization();
    const project = await createProject(control, { organizationId, name: "shop" });
    const { id } = await beginProjectDeletion(control, project.id, requestedBy);
    const refused = await failure(() => createProject(control, { organizationId, name: "shop" }));
    assert.equal(refused.code, "conflict");
    await createProject(control, { organizationId, name: "other" });
    await recordProgress(control, id!, { status: "done" });
    await createProject(control, { organizationId, name: "shop" });
  });

  test("of a retention delete no more than a longer one that is set meanwhile", async () => {
    const { control, organizationId } = await openWithOrganization();
    const { id } = await createProject(control, { organizationId, name: "shop" });
    for (const days of [7, 20, 10])
      await updateProject(control, id, { settings: { retention_days: days }, requestedBy });
    const { data } = await listDeletions(control, { limit: 10, organizationId });
    assert.deepEqual(
      data.map(({ retention_days: days }) => days),
      [20, 10],
    );
  });

  test("of one organization are limited, and those of others are not affected", async () => {
    const { control, organizationId } = await openWithOrganization();
    const create = (id: string) =>
      createDeletion(control, { kind: "telemetry", organizationId: id, selection: {}, requestedBy });
    for (let count = 0; count < 100; count++) await create(organizationId);
    const refused = await failure(() => create(organizationId));
    assert.equal(refused.code, "rate_limited");
    await create((await createOrganization(control, { name: "other" })).id);
  });
});
