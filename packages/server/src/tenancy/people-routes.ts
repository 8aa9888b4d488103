/** Routes of the admin API for people, under the rules of authority.ts and grants.ts. */
import {
  createPersonOperation,
  getPersonOperation,
  listPeopleOperation,
  updatePersonOperation,
} from "../api/people-operations.ts";
import { json, route, type Route } from "../http/route.ts";
import { addPerson, changePerson, requireVisible, visibleMemberships } from "./administer-people.ts";
import type { ControlDatabase } from "./control-database.ts";
import { booleanParameter, pageRequest } from "./list-query.ts";
import { listPeople } from "./people-list.ts";

export function peopleRoutes(control: ControlDatabase): Route[] {
  return [
    route(listPeopleOperation, async ({ query, scope }) =>
      json(
        await listPeople(control, {
          ...pageRequest(query),
          visible: await visibleMemberships(control, scope, query),
          includeDisabled: booleanParameter(query, "include_disabled"),
        }),
      ),
    ),
    route(createPersonOperation, async ({ body, scope }) => json(await addPerson(control, scope, body), 201)),
    route(getPersonOperation, async ({ path, scope }) => {
      const visible = await visibleMemberships(control, scope);
      return json(await control.read((database) => requireVisible(database, idIn(path), visible)));
    }),
    route(updatePersonOperation, async ({ body, path, scope }) =>
      json(await changePerson(control, scope, { id: idIn(path), body })),
    ),
  ];
}

function idIn(path: Readonly<Record<string, string>>): string {
  return path["person_id"] ?? "";
}
