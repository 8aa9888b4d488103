/** What a signed-in person sees and changes about the own account. */
import {
  addOneTimeCodesOperation,
  changePasswordOperation,
  createRecoveryCodesOperation,
  getAccountOperation,
  removeOneTimeCodesOperation,
  type Account,
  type RecoveryCodes,
} from "../api/accounts.ts";
import { AppError } from "../errors.ts";
import { clientNetwork } from "../http/client-address.ts";
import { route, type Route, type RouteInput, type RouteResponse } from "../http/route.ts";
import type { PersonSession } from "../session.ts";
import { describeAct } from "../tenancy/audit/current-act.ts";
import type { ControlDatabase, Writer } from "../tenancy/control-database.ts";
import type { AccountDelays } from "./account-delays.ts";
import {
  countRecoveryCodes,
  findAccount,
  removeSecondFactor,
  replaceRecoveryCodes,
  updateAccount,
  type KnownAccount,
} from "./accounts.ts";
import type { PasswordHash } from "./password-hash.ts";
import { requireGoodPassword } from "./password-rules.ts";
import type { PasswordWork } from "./password-work.ts";
import { openToken, sealToken } from "./sealed-token.ts";
import { stepOfCode } from "./totp.ts";

export interface AccountRouteParts {
  readonly control: ControlDatabase;
  readonly delays: AccountDelays;
  readonly work: PasswordWork;
  readonly hash: PasswordHash;
  /** @throws AppError permission_denied while the configuration has no accounts */
  readonly requireEnabled: () => void;
  /** UNIX milliseconds. */
  readonly now: () => number;
}

type Proof = RouteInput<{ readonly current_password: string }>;

export function accountRoutes(parts: AccountRouteParts): Route[] {
  const { control, delays, hash, now, requireEnabled, work } = parts;

  /** The account of the person who calls, and the key that the right password yields. */
  async function prove({ body, clientAddress, session }: Proof): Promise<KnownAccount & { readonly key: string }> {
    const { person } = requirePersonSession(session);
    const known = await control.read((database) => findAccount(database, { id: person.id }));
    if (known === undefined)
      throw new AppError("invalid_request", "You have no password here. Ask an operator for a link to choose one.", {
        param: "current_password",
      });
    const at = { email: known.person.email, network: clientNetwork(clientAddress ?? "") };
    await delays.begin(at);
    const key = await hash.check(body.current_password, known.account.password_hash);
    if (key === undefined)
      throw new AppError("invalid_request", "The current password is wrong.", { param: "current_password" });
    await delays.undo(at);
    return { ...known, key };
  }

  /** Runs a change of the own account after the password was checked. */
  async function change<Result>(
    input: Proof,
    prepare: (proven: KnownAccount & { readonly key: string }) => Promise<(transaction: Writer) => Promise<Result>>,
  ): Promise<Result> {
    requireEnabled();
    requirePersonSession(input.session);
    const { account, person, run } = await work.run(input.clientAddress, input.signal, async () => {
      const proven = await prove(input);
      return { ...proven, run: await prepare(proven) };
    });
    return await control.change(async (transaction) => {
      const current = await findAccount(transaction, { id: person.id });
      if (current?.account.password_hash !== account.password_hash)
        throw new AppError("conflict", "The password was changed in the meantime. Try again.");
      const result = await run(transaction);
      describeAct({ object: { kind: "person", id: person.id, name: person.email } });
      return result;
    });
  }

  async function show({ session }: Pick<RouteInput<unknown>, "session">): Promise<Account> {
    const { person } = requirePersonSession(session);
    return await control.read(async (database) => {
      const known = await findAccount(database, { id: person.id });
      return {
        object: "account" as const,
        person_id: person.id,
        email: person.email,
        password: known !== undefined,
        one_time_codes: known !== undefined && known.account.totp_secret !== null,
        recovery_codes: await countRecoveryCodes(database, person.id),
      };
    });
  }

  return [
    route(getAccountOperation, async (input) => json(await show(input))),
    route(changePasswordOperation, async (input) => {
      await change(input, async ({ account, key, person }) => {
        requireGoodPassword(input.body.password, { email: person.email });
        const { key: newKey, stored } = await hash.create(input.body.password);
        const secret = account.totp_secret === null ? undefined : openToken(account.totp_secret, key, person.id);
        return async (transaction) => {
          await updateAccount(transaction, person.id, {
            password_hash: stored,
            totp_secret: secret === undefined ? null : sealToken(secret, newKey, person.id),
          });
          await endOtherSessions(transaction, input.session);
        };
      });
      return json(await show(input));
    }),
    route(addOneTimeCodesOperation, async (input) => {
      const { code, secret } = input.body;
      const codes = await change(input, async ({ key, person }) => {
        const step = stepOfCode(secret, code, { nowSeconds: now() / 1000 });
        if (step === undefined)
          throw new AppError("invalid_request", "The code is not the current one. Check the clock of your device.", {
            param: "code",
          });
        return async (transaction) => {
          await updateAccount(transaction, person.id, {
            totp_secret: sealToken(secret, key, person.id),
            totp_step: step,
          });
          await endOtherSessions(transaction, input.session);
          return await replaceRecoveryCodes(transaction, person.id);
        };
      });
      return json(recoveryCodesOf(codes), 201);
    }),
    route(removeOneTimeCodesOperation, async (input) => {
      await change(
        input,
        async ({ person }) =>
          (transaction) =>
            removeSecondFactor(transaction, person.id),
      );
      return json(await show(input));
    }),
    route(createRecoveryCodesOperation, async (input) => {
      const codes = await change(input, async ({ account, person }) => {
        if (account.totp_secret === null)
          throw new AppError("conflict", "Your account needs no one-time codes, so recovery codes have no use.");
        return (transaction) => replaceRecoveryCodes(transaction, person.id);
      });
      return json(recoveryCodesOf(codes), 201);
    }),
  ];
}

async function endOtherSessions(transaction: Writer, session: RouteInput<unknown>["session"]): Promise<void> {
  const { person, sessionId } = requirePersonSession(session);
  await transaction
    .deleteFrom("person_sessions")
    .where("person_id", "=", person.id)
    .where("id", "!=", sessionId)
    .execute();
}

function requirePersonSession(session: RouteInput<unknown>["session"]): PersonSession {
  if (session?.person !== undefined) return session;
  throw new AppError(
    "permission_denied",
    "Only a person who is signed in to the console has an account; a key and a terminal have none.",
  );
}

function recoveryCodesOf(codes: readonly string[]): RecoveryCodes {
  return { object: "recovery_codes", codes: [...codes] };
}

function json(value: unknown, status = 200): RouteResponse {
  return { kind: "json", value, status, headers: { "cache-control": "no-store" } };
}
