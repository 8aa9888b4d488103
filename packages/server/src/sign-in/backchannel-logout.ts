/**
 * Ends the sessions of a person who has signed out at an identity provider.
 * https://openid.net/specs/openid-connect-backchannel-1_0.html
 */
import { AppError } from "../errors.ts";
import { readLogoutToken, type Logout } from "../identity/logout-token.ts";
import type { OpenIdProvider } from "../identity/openid-provider.ts";
import { describeAct } from "../tenancy/audit/current-act.ts";
import type { ControlDatabase, Writer } from "../tenancy/control-database.ts";
import { nowSeconds } from "../tenancy/row-values.ts";

/**
 * @returns how many sessions ended
 * @throws AppError invalid_request if the token is not valid, or was obeyed before; identity_provider_unavailable
 */
export async function backchannelLogout(
  provider: OpenIdProvider,
  token: string,
  control: ControlDatabase,
): Promise<number> {
  const logout = await readLogoutToken(provider, token);
  return await control.change(async (transaction) => {
    await useOnce(transaction, logout);
    const { providerSession, subject } = logout;
    let sessions = transaction.deleteFrom("person_sessions").where("provider", "=", logout.provider);
    if (subject !== undefined) sessions = sessions.where("subject", "=", subject);
    if (providerSession !== undefined) sessions = sessions.where("provider_session", "=", providerSession);
    const ended = await sessions.returning(["person_id", "organization_id"]).execute();
    const { organization_id: organizationId = null, person_id: personId = null } = ended[0] ?? {};
    describeAct({
      actor: { kind: "system", id: null, name: `identity provider ${provider.name}`, organizationId },
      object: { kind: "person", id: personId, name: null },
    });
    return ended.length;
  });
}

async function useOnce(transaction: Writer, { expiresAt, provider, tokenId }: Logout): Promise<void> {
  await transaction.deleteFrom("logout_tokens").where("expires_at", "<=", nowSeconds()).execute();
  const used = await transaction
    .selectFrom("logout_tokens")
    .select("token_id")
    .where("provider", "=", provider)
    .where("token_id", "=", tokenId)
    .executeTakeFirst();
  if (used !== undefined)
    throw new AppError("invalid_request", "The logout token was sent before (`jti`).", { param: "logout_token" });
  await transaction
    .insertInto("logout_tokens")
    .values({ provider, token_id: tokenId, expires_at: expiresAt })
    .execute();
}
