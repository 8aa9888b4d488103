/** One organization: limits with their usage, models, projects and keys. */
import { useSignal } from "@preact/signals";
import type { Organization } from "../../api/admin-types.ts";
import { request } from "../../api/request.ts";
import { formatTime } from "../../design/format.ts";
import { Notice } from "../../design/states.tsx";
import { href } from "../../state/address.ts";
import { session } from "../../state/session.ts";
import { ConfirmDialog } from "./confirm-dialog.tsx";
import { DeleteDataDialog } from "./delete-data-dialog.tsx";
import { DeleteObjectDialog } from "./delete-object-dialog.tsx";
import { DeletionsOfOrganization } from "./deletion-list.tsx";
import { closeDialog, isDialogOpen, showDialog } from "./dialogs.ts";
import { Fact, Facts, IdFact, ObjectPage, useObject } from "./object-page.tsx";
import { OrganizationDialog } from "./organization-dialog.tsx";
import { UsageBars } from "./usage-bars.tsx";

export function OrganizationPage({ id }: { readonly id: string }) {
  const query = useObject<Organization>(`organizations/${id}`);
  const operator = session.value?.operator === true;
  const deletions = useSignal(0);
  const finish = () => {
    closeDialog();
    query.reload();
  };
  return (
    <ObjectPage
      query={query}
      kind="organizations"
      actions={({ archived_at }) => (
        <>
          {operator && archived_at === null && (
            <button type="button" class="button" onClick={() => showDialog("edit")}>
              Edit
            </button>
          )}
          <button type="button" class="button danger" onClick={() => showDialog("delete_data")}>
            Delete data
          </button>
          {operator && archived_at === null && (
            <button type="button" class="button danger" onClick={() => showDialog("archive")}>
              Archive
            </button>
          )}
          {operator && (
            <button type="button" class="button danger" onClick={() => showDialog("delete")}>
              Delete
            </button>
          )}
        </>
      )}
    >
      {(organization) => (
        <>
          {organization.archived_at !== null && (
            <Notice>Archived on {formatTime(organization.archived_at * 1000)}. Its keys are revoked.</Notice>
          )}
          <Facts>
            <IdFact id={organization.id} />
            <Fact name="Created">{formatTime(organization.created_at * 1000)}</Fact>
            <Fact name="Models that it may call">
              {organization.allowed_models === null ? (
                "All"
              ) : (
                <span class="foreign">{organization.allowed_models.join(", ")}</span>
              )}
            </Fact>
            <Fact name="Contents">
              <a href={href("administration/projects", { organization: id })}>Projects</a> ·{" "}
              <a href={href("administration/keys", { organization: id })}>Keys</a>
            </Fact>
          </Facts>
          <h2>Limits and current usage</h2>
          <UsageBars path={`organizations/${id}`} />
          <DeletionsOfOrganization organizationId={id} version={deletions.value} />
          {isDialogOpen("delete_data") && (
            <DeleteDataDialog
              organization={organization}
              onClose={closeDialog}
              onDone={() => {
                closeDialog();
                deletions.value += 1;
              }}
            />
          )}
          {operator && isDialogOpen("edit") && (
            <OrganizationDialog organization={organization} onClose={closeDialog} onDone={finish} />
          )}
          {operator && isDialogOpen("delete") && (
            <DeleteObjectDialog
              title="Delete the organization"
              name={organization.name}
              path={`organizations/${id}`}
              selection={{ organization_id: id }}
              onClose={closeDialog}
            >
              All keys of <strong class="foreign">{organization.name}</strong> are revoked at once. Then it is deleted
              with its projects, keys, alert rules and telemetry.
            </DeleteObjectDialog>
          )}
          {operator && isDialogOpen("archive") && (
            <ConfirmDialog
              title="Archive the organization"
              name={organization.name}
              action="Archive"
              onClose={closeDialog}
              onConfirm={async () => {
                await request(`admin/v1/organizations/${id}/archive`, { method: "POST" });
                finish();
              }}
            >
              All keys of <strong class="foreign">{organization.name}</strong> are revoked and its projects are
              archived. Its applications stop working at once. This cannot be undone.
            </ConfirmDialog>
          )}
        </>
      )}
    </ObjectPage>
  );
}
