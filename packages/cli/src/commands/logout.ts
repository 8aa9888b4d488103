/** `sounding logout`: removes a profile with its keys. */
import { CliError } from "../cli-error.ts";
import { command } from "../command.ts";
import { exitCodes } from "../exit-codes.ts";
import { writeJson, writeLine } from "../output.ts";
import { changeProfile, defaultProfileName, readProfiles, showPath } from "../profiles/profile-file.ts";

export const logoutCommand = command({
  name: "logout",
  summary: "Remove the stored keys of a profile",
  description:
    "Deletes the profile from ~/.config/sounding/profiles.json. The keys stay valid; `sounding key revoke` revokes a key.",
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
    if (!profiles.has(name)) {
      const known = [...profiles.keys()].join(", ") || "none";
      throw new CliError(`the profile ${JSON.stringify(name)} does not exist (profiles: ${known})`, exitCodes.notFound);
    }
    const file = await changeProfile(io.env, name, undefined);
    if (json) await writeJson(io.stdout, { profile: name, file });
    else await writeLine(io.stdout, `Removed the profile ${name} from ${showPath(file, io.env)}.`);
    return exitCodes.ok;
  },
});
