/**
 * SCIM 2.0: the people and groups of one organization, as its identity provider manages them.
 * docs/adr/0242-identity-providers-and-scim.md
 */
import { scim, scimType } from "../api/scim.ts";
import { route, type Route, type RouteInput, type RouteResponse } from "../http/route.ts";
import type { Logger } from "../logger.ts";
import { requireWholeOrganization } from "../tenancy/authority.ts";
import type { ControlDatabase, Reader, Writer } from "../tenancy/control-database.ts";
import { publicAddress, type ServerAddress } from "../tenancy/sign-in-link.ts";
import type { Scope } from "../tenant.ts";
import { configuration, resourceTypes, schemas } from "./discovery.ts";
import { ScimGroups } from "./group-changes.ts";
import { requireGroup, type ScimGroupRow } from "./groups.ts";
import { listGroups, listUsers } from "./lists.ts";
import { readMembers } from "./members.ts";
import type { ProviderRules, RuleParts, ScimOrganization } from "./memberships.ts";
import { patchGroup, patchUser } from "./patch.ts";
import { showGroups, showUsers, shownAttributes, toList, type Resource } from "./resources.ts";
import { errorForm } from "./scim-error.ts";
import { lowerCaseMembers, readText, readUser, requiredText } from "./user-attributes.ts";
import { createUser, deleteUser, requireUser, updateUser, type ScimUserRow } from "./users.ts";

export interface ScimOptions {
  readonly control: ControlDatabase;
  readonly logger: Logger;
  /** The settings of the identity providers, whose rules apply to groups. */
  readonly providers: () => readonly ProviderRules[];
  readonly address: ServerAddress;
}

type Input = Pick<RouteInput<unknown>, "origin" | "query" | "scope">;

export function scimRoutes({ address, control, ...parts }: ScimOptions): readonly Route[] {
  const baseOf = ({ origin }: Input): string => `${publicAddress(origin(), address)}/scim/v2`;
  const shown = (input: Input) => ({ base: baseOf(input), isShown: shownAttributes(input.query) });
  const change: Parts["change"] = (scope, run) => {
    const organization = organizationOf(scope);
    return control.change((transaction) => run(transaction, organization));
  };
  const discovery = [scim.configuration, scim.resourceTypes, scim.schemas] as const;
  const documents = [configuration, resourceTypes, schemas] as const;
  return [
    ...discovery.map((operation, index) =>
      route(operation, (input) => json(documents[index]!(baseOf(input))), errorForm),
    ),
    ...userRoutes({ control, change, shown, parts }),
    ...groupRoutes({ control, shown, parts }),
  ];
}

interface Parts {
  readonly control: ControlDatabase;
  readonly parts: RuleParts;
  /** Runs in a transaction, for the organization of the key. */
  readonly change: <Row>(
    scope: Scope,
    run: (transaction: Writer, organization: ScimOrganization) => Promise<Row>,
  ) => Promise<Row>;
  readonly shown: (input: Input) => { readonly base: string; readonly isShown: (attribute: string) => boolean };
}

function userRoutes({ change, control, parts, shown }: Parts): Route[] {
  const answer = async (input: Input, row: ScimUserRow, status = 200): Promise<RouteResponse> => {
    const [user] = await control.read((database) => showUsers(database, [row], shown(input)));
    return json(user!, status);
  };
  return [
    route(
      scim.listUsers,
      (input) =>
        list(control, async (database) => {
          const page = await listUsers(database, organizationOf(input.scope), input.query);
          return toList(await showUsers(database, page.rows, shown(input)), page);
        }),
      errorForm,
    ),
    route(
      scim.createUser,
      async (input) => {
        const user = readUser(input.body);
        return answer(input, await change(input.scope, (...to) => createUser(...to, user, parts)), 201);
      },
      errorForm,
    ),
    route(
      scim.getUser,
      async (input) => {
        const { scim_user_id: id = "" } = input.path;
        return answer(input, await control.read((database) => requireUser(database, organizationOf(input.scope), id)));
      },
      errorForm,
    ),
    route(
      scim.replaceUser,
      async (input) => {
        const { scim_user_id: id = "" } = input.path;
        const user = readUser(input.body);
        const row = await change(input.scope, (...to) => updateUser(...to, { id, change: () => user }, parts));
        return answer(input, row);
      },
      errorForm,
    ),
    route(
      scim.patchUser,
      async (input) => {
        const { scim_user_id: id = "" } = input.path;
        const changed = { id, change: (user: Parameters<typeof patchUser>[0]) => patchUser(user, input.body) };
        return answer(input, await change(input.scope, (...to) => updateUser(...to, changed, parts)));
      },
      errorForm,
    ),
    route(
      scim.deleteUser,
      async ({ path: { scim_user_id: id = "" }, scope }) => {
        await change(scope, (...from) => deleteUser(...from, id));
        return { kind: "empty", status: 204 };
      },
      errorForm,
    ),
  ];
}

function groupRoutes({ control, parts, shown }: Omit<Parts, "change">): Route[] {
  const groupsOf = (scope: Scope): ScimGroups =>
    new ScimGroups((run) => control.change(run), organizationOf(scope), parts);
  const answer = async (input: Input, row: ScimGroupRow, status = 200): Promise<RouteResponse> => {
    const [group] = await control.read((database) => showGroups(database, [row], shown(input)));
    return json(group!, status);
  };
  return [
    route(
      scim.listGroups,
      (input) =>
        list(control, async (database) => {
          const page = await listGroups(database, organizationOf(input.scope), input.query);
          return toList(await showGroups(database, page.rows, shown(input)), page);
        }),
      errorForm,
    ),
    route(
      scim.createGroup,
      async (input) => {
        const group = readGroup(input.body);
        return answer(input, await groupsOf(input.scope).create(group), 201);
      },
      errorForm,
    ),
    route(
      scim.getGroup,
      async (input) => {
        const { scim_group_id: id = "" } = input.path;
        return answer(input, await control.read((database) => requireGroup(database, organizationOf(input.scope), id)));
      },
      errorForm,
    ),
    route(
      scim.replaceGroup,
      async (input) => {
        const { scim_group_id: id = "" } = input.path;
        const replaced = { ...readGroup(input.body), added: new Set<string>(), removed: new Set<string>() };
        return answer(input, await groupsOf(input.scope).update(id, replaced));
      },
      errorForm,
    ),
    route(
      scim.patchGroup,
      async (input) => {
        const { scim_group_id: id = "" } = input.path;
        return answer(input, await groupsOf(input.scope).update(id, patchGroup(input.body)));
      },
      errorForm,
    ),
    route(
      scim.deleteGroup,
      async ({ path: { scim_group_id: id = "" }, scope }) => {
        await groupsOf(scope).delete(id);
        return { kind: "empty", status: 204 };
      },
      errorForm,
    ),
  ];
}

/** A provider manages the organization of its key, and no other. @throws AppError permission_denied for a role in a project */
function organizationOf(scope: Scope): ScimOrganization {
  requireWholeOrganization(scope, "manage its people by SCIM");
  return { id: scope.organizationId, name: scope.key.organizationName };
}

function readGroup(body: object) {
  const members = lowerCaseMembers({ ...body });
  return {
    displayName: requiredText("displayName", members["displayname"]),
    externalId: readText("externalId", members["externalid"]),
    members: readMembers(members["members"]),
  };
}

async function list(control: ControlDatabase, run: (database: Reader) => Promise<Resource>): Promise<RouteResponse> {
  return json(await control.read(run));
}

function json(value: Resource, status = 200): RouteResponse {
  return { kind: "json", value, status, headers: { "content-type": scimType } };
}
