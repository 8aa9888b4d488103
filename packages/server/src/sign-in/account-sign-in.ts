/**
 * Signing in with a mail address and a password, and choosing the password with a link.
 * docs/adr/0246-local-accounts.md
 */
import {
  acceptAccountLinkOperation,
  createAccountSessionOperation,
  type LinkAcceptance,
  type PasswordSignIn,
} from "../api/accounts.ts";
import { AppError } from "../errors.ts";
import { clientNetwork } from "../http/client-address.ts";
import { route, type Route, type RouteInput, type RouteResponse } from "../http/route.ts";
import { personOfLink, takeAccountLink } from "../tenancy/account-links.ts";
import type { ControlDatabase } from "../tenancy/control-database.ts";
import { requirePerson } from "../tenancy/people.ts";
import { updatePerson } from "../tenancy/person-changes.ts";
import type { AccountDelays } from "./account-delays.ts";
import { beginSession, openSession, requireNotDisabled, type AccountSessionParts } from "./account-session.ts";
import { findAccount, replaceAccount, useCode } from "./accounts.ts";
import type { PasswordHash } from "./password-hash.ts";
import { requireGoodPassword } from "./password-rules.ts";
import type { PasswordWork } from "./password-work.ts";
import { openToken } from "./sealed-token.ts";

export interface AccountSignInParts extends AccountSessionParts {
  readonly control: ControlDatabase;
  readonly delays: AccountDelays;
  readonly work: PasswordWork;
  readonly hash: PasswordHash;
  /** UNIX milliseconds. */
  readonly now: () => number;
}

export function accountSignInRoutes(parts: AccountSignInParts): Route[] {
  const { control, delays, hash, now, work } = parts;

  /** Bounded like every use of a password. */
  const begin = <Body>(
    input: RouteInput<Body>,
    open: (input: RouteInput<Body>) => Promise<string>,
  ): Promise<RouteResponse> =>
    beginSession(parts, input, () => work.run(input.clientAddress, input.signal, () => open(input)));

  async function byPassword({ body, clientAddress, headers }: RouteInput<PasswordSignIn>): Promise<string> {
    const at = { email: body.email, network: clientNetwork(clientAddress ?? "") };
    await delays.begin(at);
    const known = await control.read((database) => findAccount(database, { email: body.email }));
    const key = await hash.check(body.password, known?.account.password_hash);
    if (known === undefined || key === undefined)
      throw new AppError("invalid_credentials", "The mail address or the password is wrong.", { param: "password" });
    const { account, person } = known;
    requireNotDisabled(person);
    const isCodeMissing = account.totp_secret !== null && body.code === undefined;
    if (isCodeMissing) {
      await delays.undo(at);
      throw new AppError("second_factor_required", "Enter the code of your authenticator app, or a recovery code.", {
        param: "code",
      });
    }
    return await control.writeAct(async (transaction) => {
      if (account.totp_secret !== null) {
        const secret = openToken(account.totp_secret, key, person.id);
        const code = { code: body.code ?? "", secret: secret ?? "", now: now() / 1000 };
        if (secret === undefined || !(await useCode(transaction, account, code)))
          throw new AppError("invalid_credentials", "The code is wrong, or was used before.", { param: "code" });
      }
      await delays.succeed(transaction, at);
      return await openSession(transaction, person, { clientAddress, headers });
    });
  }

  async function byLink({ body, clientAddress, headers }: RouteInput<LinkAcceptance>): Promise<string> {
    // Anyone can send tokens: only those that exist cost a hash and a lock for writing.
    const id = await control.read((database) => personOfLink(database, body.token));
    if (id === undefined) throw invalidLink();
    const { email } = await control.read((database) => requirePerson(database, id));
    await requireGoodPassword(body.password, { email });
    const { stored } = await hash.create(body.password);
    return await control.change(async (transaction) => {
      const personId = await takeAccountLink(transaction, body.token);
      if (personId === undefined) throw invalidLink();
      const found = await requirePerson(transaction, personId);
      requireNotDisabled(found);
      const person = body.name === undefined ? found : await updatePerson(transaction, personId, { name: body.name });
      await replaceAccount(transaction, personId, stored);
      await transaction.deleteFrom("person_sessions").where("person_id", "=", personId).execute();
      await delays.forget(transaction, person.email);
      await delays.succeed(transaction, { email: person.email, network: clientNetwork(clientAddress ?? "") });
      return await openSession(transaction, person, { clientAddress, headers });
    });
  }

  return [
    route(createAccountSessionOperation, (input) => begin(input, byPassword)),
    route(acceptAccountLinkOperation, (input) => begin(input, byLink)),
  ];
}

function invalidLink(): AppError {
  return new AppError(
    "invalid_sign_in_code",
    "This link is wrong, was already used, or has expired. Ask an operator for another one.",
    { param: "token" },
  );
}
