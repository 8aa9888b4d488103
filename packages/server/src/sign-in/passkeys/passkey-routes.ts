/** How a signed-in person adds, names and removes passkeys. */
import {
  createPasskeyOperation,
  createPasskeyOptionsOperation,
  getPasskeyOperation,
  listPasskeysOperation,
  removePasskeyOperation,
  updatePasskeyOperation,
  type PasskeyCreation,
} from "../../api/passkeys.ts";
import { json, route, type Route, type RouteResponse } from "../../http/route.ts";
import type { ControlDatabase } from "../../tenancy/control-database.ts";
import type { PersonRow } from "../../tenancy/people.ts";
import type { ServerAddress } from "../../tenancy/sign-in-link.ts";
import { requirePersonSession, type AccountProof } from "../account-proof.ts";
import { algorithms, checkCreation, invalid, readChallenge } from "./ceremonies.ts";
import { challengeSeconds, type PasskeyChallenges } from "./challenges.ts";
import {
  insertPasskey,
  passkeysOf,
  removePasskey,
  renamePasskey,
  requirePasskey,
  requireRoomForPasskey,
  showPasskey,
  userHandleOf,
  type PasskeyRow,
} from "./passkeys.ts";
import { relyingPartyOf, type RelyingParty } from "./relying-party.ts";

export interface PasskeyRouteParts {
  readonly control: ControlDatabase;
  readonly challenges: PasskeyChallenges;
  readonly proof: AccountProof;
  readonly address: ServerAddress;
  /** @throws AppError permission_denied while the configuration has no accounts */
  readonly requireEnabled: () => void;
}

export function passkeyRoutes({ address, challenges, control, proof, requireEnabled }: PasskeyRouteParts): Route[] {
  const list = async (personId: string): Promise<RouteResponse> =>
    json({ object: "list", data: (await control.read((each) => passkeysOf(each, personId))).map(showPasskey) });

  return [
    route(listPasskeysOperation, ({ session }) => list(requirePersonSession(session).person.id)),
    route(getPasskeyOperation, async ({ path, session }) => {
      const { person } = requirePersonSession(session);
      const row = await control.read((database) => requirePasskey(database, path["passkey_id"] ?? "", person.id));
      return json(showPasskey(row));
    }),
    route(createPasskeyOptionsOperation, async (input) => {
      const { sessionId } = requirePersonSession(input.session);
      const rp = relyingPartyOf(input.origin(), address);
      const value = await proof.change(input, async ({ person }) => async (transaction) => {
        await requireRoomForPasskey(transaction, person.id);
        const existing = await passkeysOf(transaction, person.id);
        return creationOf(person, { rp, existing, challenge: await challenges.create(transaction, { sessionId }) });
      });
      return json(value, 201);
    }),
    route(createPasskeyOperation, async ({ body: { credential, name }, origin, session }) => {
      requireEnabled();
      const { person, sessionId } = requirePersonSession(session);
      const rp = relyingPartyOf(origin(), address);
      const challenge = readChallenge(credential.response.clientDataJSON, "webauthn.create", rp);
      // The session proved the password when it got the challenge.
      if (!(await challenges.take(challenge, sessionId))) throw invalid("invalid_request");
      const created = await checkCreation(credential, { challenge, rp });
      const { transports = [] } = credential.response;
      const row = await control.change(async (transaction) =>
        insertPasskey(transaction, { ...created, name, transports, personId: person.id, rpId: rp.id }),
      );
      return json(showPasskey(row), 201);
    }),
    route(updatePasskeyOperation, async ({ body: { name }, path, session }) => {
      requireEnabled();
      const { person } = requirePersonSession(session);
      const row = await control.change(async (transaction) => {
        const found = await requirePasskey(transaction, path["passkey_id"] ?? "", person.id);
        await renamePasskey(transaction, { id: found.id, name });
        return { ...found, name };
      });
      return json(showPasskey(row));
    }),
    route(removePasskeyOperation, async (input) => {
      const personId = await proof.change(input, async ({ person }) => async (transaction) => {
        const { id } = await requirePasskey(transaction, input.path["passkey_id"] ?? "", person.id);
        await removePasskey(transaction, id);
        return person.id;
      });
      return await list(personId);
    }),
  ];
}

function creationOf(
  person: PersonRow,
  { challenge, existing, rp }: { rp: RelyingParty; existing: readonly PasskeyRow[]; challenge: string },
): PasskeyCreation {
  return {
    object: "passkey_creation",
    public_key: {
      rp: { id: rp.id, name: "Sounding" },
      user: { id: userHandleOf(person.id), name: person.email, displayName: person.name },
      challenge,
      pubKeyCredParams: algorithms.map((alg) => ({ type: "public-key", alg })),
      timeout: challengeSeconds * 1000,
      // The browser refuses to create a second one on the same authenticator.
      excludeCredentials: existing.map((row) => ({
        type: "public-key",
        id: row.credential_id,
        transports: JSON.parse(row.transports) as string[],
      })),
      authenticatorSelection: { residentKey: "required", userVerification: "required" },
      attestation: "none",
    },
  };
}
