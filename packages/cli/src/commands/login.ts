/** `sounding login`: checks a key and stores it in a profile. */
import { CliError } from "../cli-error.ts";
import { command } from "../command.ts";
import { defaultUrl, isSameServer, normalizeUrl, readKeyFile } from "../connection.ts";
import { exitCodes } from "../exit-codes.ts";
import { writeJson, writeLine } from "../output.ts";
import { identifyKey } from "../profiles/key-identity.ts";
import { changeProfile, defaultProfileName, readProfiles, showPath } from "../profiles/profile-file.ts";
import { readSecret } from "../profiles/read-secret.ts";

export const loginCommand = command({
  name: "login",
  summary: "Check an API key and store it for the other commands",
  description: `Asks for the key, or reads it from standard input or --key-file, and checks it with the server. Stores the server's address
and the key in a profile, in ~/.config/sounding/profiles.json (XDG_CONFIG_HOME is respected), which only you can read.

A profile holds one key for calls and one for administration. A key with the permission admin is stored for administration;
log in twice to store both.`,
  options: {
    url: {
      type: "string",
      value: "URL",
      description: `The server's address. Default: SOUNDING_BASE_URL, the profile's, or ${defaultUrl}.`,
    },
    "key-file": { type: "string", value: "FILE", description: "A file that contains the key." },
    profile: {
      type: "string",
      value: "NAME",
      description: "The profile to create or change. Default: SOUNDING_PROFILE, or default.",
    },
  },
  examples: [
    ["sounding login", "Store a key of the server on this machine."],
    ["sounding login --url https://sounding.example.com --profile work < key.txt", "Another server, without a prompt."],
  ],
  async run({ values, json, io }) {
    const name = values.profile ?? (io.env["SOUNDING_PROFILE"] || defaultProfileName);
    const before = (await readProfiles(io.env)).get(name);
    const url = normalizeUrl(values.url ?? (io.env["SOUNDING_BASE_URL"] || before?.baseUrl || defaultUrl));
    const keyFile = values["key-file"];
    const key = keyFile === undefined ? await readSecret(`API key for ${url}: `, io) : await readKeyFile(keyFile);
    if (key === "") throw new CliError("no API key was entered", exitCodes.denied);
    const identity = await identifyKey(url, key, io.signal);
    const kept = before !== undefined && isSameServer(before.baseUrl, url) ? before : undefined;
    const isForCalls = identity.permissions.some((permission) => permission !== "admin");
    const isForAdministration = identity.permissions.includes("admin");
    const file = await changeProfile(io.env, name, {
      baseUrl: url,
      apiKey: isForCalls ? key : kept?.apiKey,
      operatorKey: isForAdministration ? key : kept?.operatorKey,
    });
    if (json) await writeJson(io.stdout, { profile: name, file, base_url: url, ...identity });
    else {
      await writeLine(
        io.stdout,
        `Stored the key ${JSON.stringify(identity.key_name)} of the organization ${JSON.stringify(identity.organization)} in the profile ${name} (${showPath(file, io.env)}).`,
      );
    }
    return exitCodes.ok;
  },
});
