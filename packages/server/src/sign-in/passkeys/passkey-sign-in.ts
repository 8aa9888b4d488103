/** Signing in with a passkey, which is both factors: the authenticator has the key, and has checked that it is the person. */
import {
  createPasskeyChallengeOperation,
  createPasskeySessionOperation,
  type PasskeyRequest,
  type PasskeySignIn,
} from "../../api/passkeys.ts";
import { refuseOtherOrigins } from "../../http/authenticate-session.ts";
import { clientNetwork } from "../../http/client-address.ts";
import { json, route, type Route, type RouteInput } from "../../http/route.ts";
import type { ControlDatabase } from "../../tenancy/control-database.ts";
import type { ServerAddress } from "../../tenancy/sign-in-link.ts";
import type { AccountDelays } from "../account-delays.ts";
import { beginSession, openSession, requireNotDisabled, type AccountSessionParts } from "../account-session.ts";
import { findAccount } from "../accounts.ts";
import { appendPersonEntry } from "../person-entry.ts";
import { SignInAttempts, signInLimits } from "../sign-in-attempts.ts";
import { checkSignature, invalid, readChallenge } from "./ceremonies.ts";
import { challengeSeconds, type PasskeyChallenges } from "./challenges.ts";
import { passkeyOfCredential, recordUse, userHandleOf } from "./passkeys.ts";
import { relyingPartyOf } from "./relying-party.ts";

export interface PasskeySignInParts extends AccountSessionParts {
  readonly control: ControlDatabase;
  readonly challenges: PasskeyChallenges;
  readonly delays: AccountDelays;
  readonly address: ServerAddress;
  /** UNIX milliseconds. */
  readonly now: () => number;
}

export function passkeySignInRoutes(parts: PasskeySignInParts): Route[] {
  const { address, challenges, control, delays } = parts;
  const begun = new SignInAttempts(parts.now, signInLimits);
  const finished = new SignInAttempts(parts.now, signInLimits);

  async function open({ body: { credential }, clientAddress, headers, origin }: RouteInput<PasskeySignIn>) {
    const rp = relyingPartyOf(origin(), address);
    const { clientDataJSON, userHandle } = credential.response;
    const challenge = readChallenge(clientDataJSON, "webauthn.get", rp);
    if (!(await challenges.take(challenge))) throw invalid("invalid_credentials");
    const passkey = await control.read((database) => passkeyOfCredential(database, credential.id));
    const known = passkey && (await control.read((database) => findAccount(database, { id: passkey.person_id })));
    if (known === undefined || passkey === undefined || userHandle !== userHandleOf(known.person.id))
      throw invalid("invalid_credentials");
    const { person } = known;
    const key = { credentialId: passkey.credential_id, publicKey: passkey.public_key };
    const signature = await checkSignature(credential, { challenge, key, rp });
    requireNotDisabled(person);
    const network = clientNetwork(clientAddress ?? "");
    let isCopied = false;
    try {
      return await control.writeAct(async (transaction) => {
        isCopied = !(await recordUse(transaction, passkey.id, signature));
        if (isCopied) throw invalid("invalid_credentials");
        await delays.succeed(transaction, { email: person.email, network });
        return await openSession(transaction, person, { clientAddress, headers });
      });
    } finally {
      if (isCopied) {
        const details = { passkey_id: passkey.id, counter: signature.counter };
        await control.write((transaction) =>
          appendPersonEntry(transaction, person, { action: "refuseCopiedPasskey", details, network }),
        );
      }
    }
  }

  return [
    route(createPasskeyChallengeOperation, async ({ clientAddress, headers, origin }) => {
      refuseOtherOrigins(headers, origin());
      parts.requireEnabled();
      const rp = relyingPartyOf(origin(), address);
      const network = clientNetwork(clientAddress ?? "");
      const challenge = await begun.run(clientAddress, () =>
        control.write((transaction) => challenges.create(transaction, { network })),
      );
      const value: PasskeyRequest = {
        object: "passkey_request",
        public_key: { challenge, rpId: rp.id, timeout: challengeSeconds * 1000, userVerification: "required" },
      };
      return json(value, 201);
    }),
    route(createPasskeySessionOperation, (input) =>
      beginSession(parts, input, () => finished.run(input.clientAddress, () => open(input))),
    ),
  ];
}
