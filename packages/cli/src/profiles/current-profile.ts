/** A profile with an access token that has not expired: an expired one is refreshed, and stored for the next command. */
import { CliError } from "../cli-error.ts";
import type { CommandIo } from "../command.ts";
import { exitCodes } from "../exit-codes.ts";
import { refreshTokens } from "./device-login.ts";
import { changeProfile, type Profile } from "./profile-file.ts";

/** A token that expires during the command is refreshed before it. */
const marginSeconds = 60;
const timeoutMs = 30_000;

/** @throws CliError if the session has ended, or the server cannot be asked */
export async function currentProfile(name: string, profile: Profile, env: CommandIo["env"]): Promise<Profile> {
  const { baseUrl, session } = profile;
  if (session === undefined || session.expiresAt - marginSeconds > Date.now() / 1000) return profile;
  const tokens = await refreshTokens(baseUrl, session, AbortSignal.timeout(timeoutMs));
  if (tokens === undefined)
    throw new CliError(`your session at ${baseUrl} has ended; run \`sounding login --device\` again`, exitCodes.denied);
  const current = { ...profile, apiKey: tokens.accessToken, session: tokens.session };
  await changeProfile(env, name, current);
  return current;
}
