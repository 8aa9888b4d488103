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
import { json, route, type Route, type RouteInput } from "../http/route.ts";
import type { ControlDatabase, Writer } from "../tenancy/control-database.ts";
import { requirePersonSession, type AccountProof } from "./account-proof.ts";
import {
  countRecoveryCodes,
  findAccount,
  removeSecondFactor,
  replaceRecoveryCodes,
  updateAccount,
} from "./accounts.ts";
import type { PasswordHash } from "./password-hash.ts";
import { requireGoodPassword } from "./password-rules.ts";
import { openToken, sealToken } from "./sealed-token.ts";
import { stepOfCode } from "./totp.ts";

export interface AccountRouteParts {
  readonly control: ControlDatabase;
  readonly hash: PasswordHash;
  readonly proof: AccountProof;
  /** UNIX milliseconds. */
  readonly now: () => number;
}

export function accountRoutes(parts: AccountRouteParts): Route[] {
  const { control, hash, now, proof } = parts;
  const { change } = proof;

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
        await requireGoodPassword(input.body.password, { email: person.email });
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

function recoveryCodesOf(codes: readonly string[]): RecoveryCodes {
  return { object: "recovery_codes", codes: [...codes] };
}
