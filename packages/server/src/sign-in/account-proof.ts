/** The proof with the current password that changes of the own account need. */
import { AppError } from "../errors.ts";
import { clientNetwork } from "../http/client-address.ts";
import type { RouteInput } from "../http/route.ts";
import type { PersonSession } from "../session.ts";
import { describeAct } from "../tenancy/audit/current-act.ts";
import type { ControlDatabase, Writer } from "../tenancy/control-database.ts";
import type { AccountDelays } from "./account-delays.ts";
import { findAccount, type KnownAccount } from "./accounts.ts";
import type { PasswordHash } from "./password-hash.ts";
import type { PasswordWork } from "./password-work.ts";

export interface AccountProofParts {
  readonly control: ControlDatabase;
  readonly delays: AccountDelays;
  readonly work: PasswordWork;
  readonly hash: PasswordHash;
  /** @throws AppError permission_denied while the configuration has no accounts */
  readonly requireEnabled: () => void;
}

type Proof = RouteInput<{ readonly current_password: string }>;
/** With the key that the password yields. */
type ProvenAccount = KnownAccount & { readonly key: string };

export interface AccountProof {
  /**
   * Runs a change of the caller's account after the password was checked.
   * @param prepare runs before the transaction
   * @throws AppError invalid_request if the password is wrong, permission_denied to a caller who is no person, and what limits guesses
   */
  change<Result>(
    input: Proof,
    prepare: (proven: ProvenAccount) => Promise<(transaction: Writer) => Promise<Result>>,
  ): Promise<Result>;
}

export function createAccountProof(parts: AccountProofParts): AccountProof {
  const { control, delays, hash, requireEnabled, work } = parts;

  async function prove({ body, clientAddress, session }: Proof): Promise<ProvenAccount> {
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

  return {
    async change(input, prepare) {
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
    },
  };
}

/** @throws AppError permission_denied */
export function requirePersonSession(session: RouteInput<unknown>["session"]): PersonSession {
  if (session?.person !== undefined) return session;
  throw new AppError(
    "permission_denied",
    "Only a person who is signed in to the console has an account; a key and a terminal have none.",
  );
}
