/** Serves the requests of the AI Refinery SDK about users, which are people. */
import { governance } from "../api/governance.ts";
import type { Person } from "../api/people.ts";
import { AppError } from "../errors.ts";
import { json, route, type Route } from "../http/route.ts";
import { addPerson, changePerson, requireVisible } from "../tenancy/administer-people.ts";
import type { ControlDatabase } from "../tenancy/control-database.ts";
import { requireRemovable } from "../tenancy/grants.ts";
import { removeMembership } from "../tenancy/memberships.ts";
import { listPeople } from "../tenancy/people-list.ts";
import type { Scope } from "../tenant.ts";
import { readArray } from "./array-page.ts";
import { errorForm, permissionsOfRoles, wholeOrganizationOf } from "./requests.ts";
import { fromSdkRole, toSdkUser, type PermissionsOf } from "./sdk-objects.ts";
import type { SdkUser } from "../api/governance.ts";

export function userRoutes(control: ControlDatabase): Route[] {
  const rolesOf = (people: readonly Person[]): Promise<PermissionsOf> =>
    control.read((database) =>
      permissionsOfRoles(
        database,
        people.flatMap(({ memberships }) => memberships),
      ),
    );
  const show = async (person: Person, organizationId: string): Promise<SdkUser> =>
    toSdkUser(person, organizationId, await rolesOf([person]));
  /** A person of the caller's organization, or for an operator of any. */
  const find = async (scope: Scope, id: string): Promise<Person> => {
    const organizationId = await wholeOrganizationOf(control, scope, undefined);
    const visible = { organizationId: scope.key.operator ? undefined : organizationId, projectId: undefined };
    return control.read((database) => requireVisible(database, id, visible));
  };

  return [
    route(
      governance.listUsers,
      async ({ query, scope }) => {
        const organizationId = await wholeOrganizationOf(control, scope, query.get("org_id"));
        const visible = { organizationId, projectId: undefined };
        const people = await readArray(query, (page) =>
          listPeople(control, { ...page, visible, includeDisabled: true }),
        );
        const roles = await rolesOf(people);
        return json(people.map((person) => toSdkUser(person, organizationId, roles)));
      },
      errorForm,
    ),
    route(
      governance.createUser,
      async ({ body, scope }) => {
        const { display_name: name, email, external_id: external, org_id: named, role } = body;
        if (external !== undefined) {
          throw new AppError(
            "unsupported_parameter",
            "external_id is not supported; people are identified by their mail address.",
            { param: "external_id" },
          );
        }
        const organizationId = await wholeOrganizationOf(control, scope, named);
        const visible = { organizationId, projectId: undefined };
        const { data } = await listPeople(control, {
          limit: 1,
          search: email.toLowerCase(),
          visible,
          includeDisabled: true,
        });
        // The SDK expects the status 400.
        if (data[0]?.email === email.toLowerCase()) {
          throw new AppError(
            "invalid_request",
            `email is ${JSON.stringify(email)}; the organization has this person.`,
            {
              param: "email",
            },
          );
        }
        const person = await addPerson(control, scope, {
          email,
          role: fromSdkRole(role),
          organization_id: organizationId,
          ...(name === undefined ? {} : { name }),
        });
        return json(await show(person, organizationId), 201);
      },
      errorForm,
    ),
    route(
      governance.me,
      async ({ scope }) => {
        if (scope.key.person === undefined)
          throw new AppError("not_found", "The request has an API key of a service, which has no person.");
        const visible = { organizationId: scope.organizationId, projectId: undefined };
        const { id } = scope.key.person;
        const person = await control.read((database) => requireVisible(database, id, visible));
        return json(await show(person, scope.organizationId));
      },
      errorForm,
    ),
    route(
      governance.getUser,
      async ({ path, scope }) => json(await show(await find(scope, idIn(path)), scope.organizationId)),
      errorForm,
    ),
    route(
      governance.updateUser,
      async ({ body: { display_name: name, status }, path, scope }) => {
        if (status === "deleted") {
          throw new AppError(
            "invalid_request",
            'status is "deleted"; expected "active" or "inactive". To remove a person, use DELETE.',
            { param: "status" },
          );
        }
        const body = {
          ...(name === undefined ? {} : { name }),
          ...(status === undefined ? {} : { disabled: status === "inactive" }),
        };
        return json(await show(await changePerson(control, scope, { id: idIn(path), body }), scope.organizationId));
      },
      errorForm,
    ),
    route(
      governance.deleteUser,
      async ({ path, scope }) => {
        const person = await find(scope, idIn(path));
        const before = await show(person, scope.organizationId);
        await control.change(async (transaction) => {
          const own = await transaction
            .selectFrom("memberships")
            .selectAll()
            .where("person_id", "=", person.id)
            .where("organization_id", "=", scope.organizationId)
            .execute();
          await requireRemovable(transaction, scope, own);
          for (const row of own) await removeMembership(transaction, row);
        });
        return json(before);
      },
      errorForm,
    ),
  ];
}

function idIn(path: Readonly<Record<string, string>>): string {
  return path["user_id"] ?? "";
}
