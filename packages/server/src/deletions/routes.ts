/** Routes of the admin API that delete data, under the rules of tenancy/authority.ts. */
import {
  createDeletionOperation,
  deleteOrganizationOperation,
  deleteProjectOperation,
  getDeletionOperation,
  listDeletionsOperation,
  type Deletion,
  type DeletionCreate,
} from "../api/deletions.ts";
import { AppError } from "../errors.ts";
import { json, route, type Route } from "../http/route.ts";
import { parseTime } from "../query/time-window.ts";
import { bind, callerOrganization, sql } from "../store/statement.ts";
import type { Store } from "../store/store.ts";
import {
  boundProject,
  listedOrganization,
  namedOrganization,
  requireReach,
  requireWholeOrganization,
} from "../tenancy/authority.ts";
import type { ControlDatabase } from "../tenancy/control-database.ts";
import { beginOrganizationDeletion, beginProjectDeletion } from "../tenancy/delete-tenants.ts";
import {
  createDeletion,
  deletionNotFound,
  type DeletionSelection,
  getDeletion,
  listDeletions,
  receiptOf,
} from "../tenancy/deletions.ts";
import { openDeletionScope } from "../tenancy/job-scope.ts";
import { pageRequest } from "../tenancy/list-query.ts";
import { getOrganization } from "../tenancy/organizations.ts";
import { getProject, listProjects } from "../tenancy/projects.ts";
import { countRows } from "./count-rows.ts";
import { SelectedRows, sha256 } from "./selection.ts";

const accepted = 202;
/** Counting reads every row of the organization at worst. */
const previewTimeoutMs = 120_000;

export function deletionRoutes(control: ControlDatabase, store: Store): readonly Route[] {
  return [
    route(createDeletionOperation, async ({ body, scope, signal }) => {
      requireWholeOrganization(scope, "delete telemetry");
      const organizationId = (await namedOrganization(control, scope, body.organization_id)) ?? "";
      await getOrganization(control, organizationId);
      requireStore(store);
      const selection = selectionOf(body);
      if (body.project_name != null)
        await requireProject(control, store, { organizationId, name: body.project_name, signal });
      const deletion = { kind: "telemetry", organizationId, selection, requestedBy: scope.key.keyId } as const;
      if (body.dry_run !== true) return json(await createDeletion(control, deletion), accepted);
      requireReady(store);
      const reader = store.open(openDeletionScope({ organizationId }));
      const rows = await countRows(reader, new SelectedRows(selection), { signal, timeoutMs: previewTimeoutMs });
      return json({
        object: "deletion",
        id: null,
        kind: "telemetry",
        organization_id: organizationId,
        ...receiptOf(selection),
        requested_by: scope.key.keyId,
        status: "dry_run",
        rows,
        error: null,
        created_at: Math.floor(Date.now() / 1000),
        started_at: null,
        hidden_at: null,
        erased_at: null,
        retry_at: null,
      } satisfies Deletion);
    }),
    route(listDeletionsOperation, async ({ query, scope }) => {
      requireWholeOrganization(scope, "see deletions");
      const organizationId = await listedOrganization(control, scope, query);
      return json(await listDeletions(control, { ...pageRequest(query), organizationId }));
    }),
    route(getDeletionOperation, async ({ path, scope }) => {
      requireWholeOrganization(scope, "see deletions");
      const id = path["deletion_id"] ?? "";
      const deletion = await getDeletion(control, id);
      requireReach(scope, deletion.organization_id, deletionNotFound(id));
      return json(deletion);
    }),
    route(deleteProjectOperation, async ({ path, scope }) => {
      const id = path["project_id"] ?? "";
      const project = await getProject(control, id);
      const notFound = `The project ${JSON.stringify(id)} does not exist.`;
      requireReach(scope, project.organization_id, notFound);
      const bound = boundProject(scope);
      if (bound !== undefined && bound !== project.name) throw new AppError("not_found", notFound);
      requireStore(store);
      return json(await beginProjectDeletion(control, id, scope.key.keyId), accepted);
    }),
    route(deleteOrganizationOperation, async ({ path, scope }) => {
      const id = path["organization_id"] ?? "";
      requireReach(scope, id, `The organization ${JSON.stringify(id)} does not exist.`);
      scope.requireOperator("delete an organization");
      requireStore(store);
      return json(await beginOrganizationDeletion(control, id, scope.key.keyId), accepted);
    }),
  ];
}

/** @throws AppError invalid_request */
function selectionOf(body: DeletionCreate): DeletionSelection {
  const { conversation_id: conversation, end, end_user_id: endUser, project_name: project, start } = body;
  if (conversation != null && endUser != null) {
    throw new AppError("invalid_request", "conversation_id and end_user_id are both set; send one of them.", {
      param: "end_user_id",
    });
  }
  const from = start == null ? undefined : parseTime(start, "start");
  const to = end == null ? undefined : parseTime(end, "end");
  if (from !== undefined && to !== undefined && from >= to) {
    throw new AppError(
      "invalid_request",
      `start is ${JSON.stringify(start)}; expected a time before end, which is ${JSON.stringify(end)}.`,
      { param: "start" },
    );
  }
  return {
    ...(project == null ? {} : { project_name: project }),
    ...(conversation == null ? {} : { conversation_sha256: sha256(conversation) }),
    ...(endUser == null ? {} : { end_user_sha256: sha256(endUser) }),
    ...(from === undefined ? {} : { start: String(from) }),
    ...(to === undefined ? {} : { end: String(to) }),
  };
}

interface NamedProject {
  readonly organizationId: string;
  readonly name: string;
  readonly signal: AbortSignal;
}

/** A mistyped name must not look like a project whose data is gone. @throws AppError not_found */
async function requireProject(
  control: ControlDatabase,
  store: Store,
  { name, organizationId, signal }: NamedProject,
): Promise<void> {
  const { data } = await listProjects(control, { organizationId, name, includeArchived: true, limit: 1 });
  if (data.length > 0) return;
  requireReady(store);
  const isNamed = sql`organization = ${callerOrganization} AND project = ${bind.text(name)} LIMIT 1`;
  const rows = await store.open(openDeletionScope({ organizationId })).query(
    sql`SELECT 1 FROM spans WHERE ${isNamed} UNION ALL SELECT 1 FROM logs WHERE ${isNamed}
      UNION ALL SELECT 1 FROM series WHERE ${isNamed}`,
    { signal, duplicates: "kept" },
  );
  if (rows.length > 0) return;
  throw new AppError(
    "not_found",
    `The organization has no project ${JSON.stringify(name)}, and no telemetry names it.`,
    { param: "project_name" },
  );
}

/** Nothing would carry out the deletion. */
function requireStore(store: Store): void {
  const { disabled, reason } = store.state();
  if (disabled === true) throw new AppError("overloaded", reason ?? "This server does not store telemetry.");
}

function requireReady(store: Store): void {
  if (!store.state().ready) throw new AppError("overloaded", "The telemetry store is not ready. Retry later.");
}
