/** `sounding logout`: removes a profile with its keys, and ends the session of a person. */
import { CliError } from "../cli-error.ts";
import { command, type CommandIo } from "../command.ts";
import { exitCodes } from "../exit-codes.ts";
import { oneLine, writeJson, writeLine } from "../output.ts";
import { revokeSession } from "../profiles/device-login.ts";
import {
  changeProfile,
  defaultProfileName,
  readProfiles,
  showPath,
  type ProfileSession,
} from "../profiles/profile-file.ts";

export const logoutCommand = command({
  name: "logout",
  summary: "Remove the stored keys of a profile",
  description:
    "Deletes the profile from ~/.config/sounding/profiles.json. Keys stay valid; `sounding key revoke` revokes a key. After `sounding login --device`, also ends the session at the server.",
  options: {
    profile: {
      type: "string",
      value: "NAME",
      description: "The profile to remove. Default: SOUNDING_PROFILE, or default.",
    },
  },
  async run({ values, json, io }) {
    const name = values.profile ?? (io.env["SOUNDING_PROFILE"] || defaultProfileName);
    const profiles = await readProfiles(io.env);
    const profile = profiles.get(name);
    if (profile === undefined) {
      const known = [...profiles.keys()].join(", ") || "none";
      throw new CliError(`the profile ${JSON.stringify(name)} does not exist (profiles: ${known})`, exitCodes.notFound);
    }
    const file = await changeProfile(io.env, name, undefined);
    if (profile.session !== undefined) await endSession(profile.baseUrl, profile.session, io);
    if (json) await writeJson(io.stdout, { profile: name, file });
    else await writeLine(io.stdout, `Removed the profile ${name} from ${showPath(file, io.env)}.`);
    return exitCodes.ok;
  },
});

/** The profile is gone in any case. */
async function endSession(url: string, session: ProfileSession, io: CommandIo): Promise<void> {
  try {
    await revokeSession(url, session, io.signal);
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    await writeLine(io.stderr, oneLine(`sounding: the session at the server did not end: ${error.message}`));
  }
}
