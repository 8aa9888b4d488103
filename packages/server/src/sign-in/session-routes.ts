/** Routes that list and end sessions: a caller's own, and those of an organization. */
import {
  endOrganizationSessionOperation,
  endSessionOperation,
  getOrganizationSessionOperation,
  listOrganizationSessionsOperation,
  listSessionsOperation,
  updateSessionOperation,
  type SessionEntry,
} from "../api/session-list.ts";
import { AppError } from "../errors.ts";
import { json, route, type Route, type RouteInput } from "../http/route.ts";
import type { SessionLimits } from "../session.ts";
import type { Scope } from "../tenant.ts";
import { namedOrganization } from "../tenancy/authority.ts";
import type { ControlDatabase } from "../tenancy/control-database.ts";
import { identifierParameter, pageRequest } from "../tenancy/list-query.ts";
import { endSessionById, listSessions, sessionNotFound, type SessionFilter } from "./session-list.ts";

/** No caller has more. */
const mostOwn = 100;

interface SessionRouteOptions {
  readonly limits: () => SessionLimits;
  /** Called after a session was ended or changed. */
  readonly onEnd: () => void;
}

export function sessionRoutes(control: ControlDatabase, { limits, onEnd }: SessionRouteOptions): Route[] {
  const ownOf = (scope: Scope): SessionFilter => ({ ...callerOf(scope), limits: limits() });
  return [
    route(listSessionsOperation, async ({ scope, session }) => {
      const entries = await listSessions(control, ownOf(scope), { limit: mostOwn });
      return json({ object: "list", data: entries.map((entry) => withCurrent(entry, session)) });
    }),
    route(endSessionOperation, async ({ path, scope, session }) => {
      const ended = await endSessionById(control, { ...ownOf(scope), id: path["session_id"] ?? "" });
      onEnd();
      return json(withCurrent(ended, session));
    }),
    route(updateSessionOperation, async ({ body, scope, session }) => {
      if (session?.person === undefined)
        throw new AppError("permission_denied", "Only the session of a person can change its organization.");
      const { organization_id: organizationId } = body;
      if (!session.person.memberships.some((membership) => membership.organizationId === organizationId))
        throw new AppError("not_found", `You are not a member of the organization ${JSON.stringify(organizationId)}.`, {
          param: "organization_id",
        });
      await control.change((transaction) =>
        transaction
          .updateTable("person_sessions")
          .set({ organization_id: organizationId })
          .where("id", "=", session.sessionId)
          .execute(),
      );
      onEnd();
      const own = await listSessions(control, { ...ownOf(scope), id: session.sessionId }, { limit: 1 });
      return json(own.map((entry) => withCurrent(entry, session))[0]);
    }),
    route(listOrganizationSessionsOperation, async ({ query, scope, session }) => {
      const { after, limit } = pageRequest(query);
      const filter: SessionFilter = {
        limits: limits(),
        organizationId: await reached(control, scope, query.get("organization_id") ?? undefined),
        personId: identifierParameter(query, "person_id"),
        keyId: identifierParameter(query, "key_id"),
      };
      // One more shows whether others follow.
      const found = await listSessions(control, filter, { after, limit: limit + 1 });
      const data = found.slice(0, limit).map((entry) => withCurrent(entry, session));
      return json({ object: "list", data, has_more: found.length > limit, last_id: data.at(-1)?.id ?? null });
    }),
    route(getOrganizationSessionOperation, async ({ path, scope, session }) => {
      const organizationId = await reached(control, scope, undefined);
      const filter = { organizationId, id: path["session_id"] ?? "", limits: limits() };
      const [found] = await listSessions(control, filter, { limit: 1 });
      if (found === undefined) throw sessionNotFound(filter.id);
      return json(withCurrent(found, session));
    }),
    route(endOrganizationSessionOperation, async ({ path, scope, session }) => {
      const organizationId = await reached(control, scope, undefined);
      const ended = await endSessionById(control, {
        organizationId,
        id: path["session_id"] ?? "",
        limits: limits(),
      });
      onEnd();
      return json(withCurrent(ended, session));
    }),
  ];
}

/** The sessions of the person who calls, or of the key. */
function callerOf({ key }: Scope): Omit<SessionFilter, "limits"> {
  return key.person === undefined ? { keyId: key.keyId } : { personId: key.person.id };
}

/** The organization whose sessions the caller may see; undefined, for all, only for an operator. */
async function reached(control: ControlDatabase, scope: Scope, named: string | undefined): Promise<string | undefined> {
  const organizationId = await namedOrganization(control, scope, named);
  return organizationId ?? (scope.key.operator ? undefined : scope.organizationId);
}

function withCurrent(entry: Omit<SessionEntry, "current">, session: RouteInput<unknown>["session"]): SessionEntry {
  return { ...entry, current: entry.id === session?.sessionId };
}
