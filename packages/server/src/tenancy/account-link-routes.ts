/** The links with which operators let people choose a password. docs/adr/0246-local-accounts.md */
import { createAccountLinkOperation, type AccountLink } from "../api/accounts.ts";
import { AppError } from "../errors.ts";
import { json, route, type Route } from "../http/route.ts";
import { createAccountLink } from "./account-links.ts";
import type { ControlDatabase } from "./control-database.ts";
import { requirePerson } from "./people.ts";
import { publicAddress, type ServerAddress } from "./sign-in-link.ts";

export function accountLinkRoutes(control: ControlDatabase, address: ServerAddress): Route[] {
  return [
    route(createAccountLinkOperation, async ({ origin, path, scope }) => {
      // Anyone who has the link becomes the person, in every organization.
      scope.requireOperator("create a link to choose a password");
      const id = path["person_id"] ?? "";
      const { link, person } = await control.change(async (transaction) => {
        const found = await requirePerson(transaction, id);
        if (found.disabled_at !== null)
          throw new AppError("conflict", `${found.email} is disabled. Enable the person first.`);
        return { person: found, link: await createAccountLink(transaction, id) };
      });
      const fragment = new URLSearchParams({ link: link.token, email: person.email });
      const value: AccountLink = {
        object: "account_link",
        person_id: person.id,
        email: person.email,
        // Browsers send the fragment to no server and no proxy.
        url: `${publicAddress(origin(), address)}/console/sign-in#${fragment.toString()}`,
        token: link.token,
        expires_at: link.expiresAt,
      };
      return json(value, 201);
    }),
  ];
}
