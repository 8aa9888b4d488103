/** One project: how its telemetry is stored, and the keys that are bound to it. */
import type { Project } from "../../api/admin-types.ts";
import { request } from "../../api/request.ts";
import { formatTime } from "../../design/format.ts";
import { Notice } from "../../design/states.tsx";
import { href } from "../../state/address.ts";
import { may, session } from "../../state/session.ts";
import { useNames } from "./admin-lists.ts";
import { ConfirmDialog } from "./confirm-dialog.tsx";
import { closeDialog, isDialogOpen, showDialog } from "./dialogs.ts";
import { DeleteObjectDialog } from "./delete-object-dialog.tsx";
import { Fact, Facts, IdFact, ObjectPage, useObject } from "./object-page.tsx";
import { OrganizationLink } from "./organization-link.tsx";
import { ProjectDialog } from "./project-dialog.tsx";

export function ProjectPage({ id }: { readonly id: string }) {
  const query = useObject<Project>(`projects/${id}`);
  const names = useNames().data.value;
  const finish = () => {
    closeDialog();
    query.reload();
  };
  return (
    <ObjectPage
      query={query}
      kind="projects"
      actions={({ archived_at }) => (
        <>
          {archived_at === null && (
            <>
              <button type="button" class="button" onClick={() => showDialog("edit")}>
                Edit
              </button>
              <button type="button" class="button danger" onClick={() => showDialog("archive")}>
                Archive
              </button>
            </>
          )}
          <button type="button" class="button danger" onClick={() => showDialog("delete")}>
            Delete
          </button>
        </>
      )}
    >
      {(project) => (
        <>
          {project.archived_at !== null && (
            <Notice>
              Archived on {formatTime(project.archived_at * 1000)}. Its telemetry stays until its retention ends.
            </Notice>
          )}
          <Facts>
            <IdFact id={project.id} />
            <Fact name="Organization">
              <OrganizationLink id={project.organization_id} names={names} />
            </Fact>
            <Fact name="Created">{formatTime(project.created_at * 1000)}</Fact>
            <Fact name="Retention">{project.settings.retention_days} days</Fact>
            <Fact name="Prompts and answers">
              {project.settings.record_content ? <span class="badge warning">recorded</span> : "Not recorded"}
            </Fact>
            <Fact name="Contents">
              <a href={href("administration/keys", { project_id: id })}>Bound keys</a>
              {may("telemetry_read") && project.organization_id === session.value?.organization_id && (
                <>
                  {" · "}
                  <a href={href("traces", { project: project.name })}>Traces</a> ·{" "}
                  <a href={href("logs", { project: project.name })}>Logs</a>
                </>
              )}
            </Fact>
          </Facts>
          {isDialogOpen("edit") && (
            <ProjectDialog project={project} names={names} onClose={closeDialog} onDone={finish} />
          )}
          {isDialogOpen("delete") && (
            <DeleteObjectDialog
              title="Delete the project"
              name={project.name}
              path={`projects/${id}`}
              selection={{ organization_id: project.organization_id, project_name: project.name }}
              onClose={closeDialog}
            >
              The keys that are bound to <strong class="foreign">{project.name}</strong> are revoked at once. Then it is
              deleted with these keys and its telemetry.
            </DeleteObjectDialog>
          )}
          {isDialogOpen("archive") && (
            <ConfirmDialog
              title="Archive the project"
              name={project.name}
              action="Archive"
              onClose={closeDialog}
              onConfirm={async () => {
                await request(`admin/v1/projects/${id}/archive`, { method: "POST" });
                finish();
              }}
            >
              The keys that are bound to <strong class="foreign">{project.name}</strong> are revoked. Its telemetry
              stays until its retention of {project.settings.retention_days} days ends. This cannot be undone.
            </ConfirmDialog>
          )}
        </>
      )}
    </ObjectPage>
  );
}
