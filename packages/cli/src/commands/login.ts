/** `sounding login`: checks a key, or signs a person in, and stores the result in a profile. */
import { CliError, UsageError } from "../cli-error.ts";
import { command, type CommandIo } from "../command.ts";
import { defaultUrl, isSameServer, normalizeUrl, readKeyFile } from "../connection.ts";
import { exitCodes } from "../exit-codes.ts";
import { openBrowser, whyNoBrowser } from "../open-browser.ts";
import { oneLine, writeJson, writeLine } from "../output.ts";
import { beginDeviceLogin, waitForTokens } from "../profiles/device-login.ts";
import { identifyKey } from "../profiles/key-identity.ts";
import { changeProfile, defaultProfileName, readProfiles, showPath } from "../profiles/profile-file.ts";
import { readSecret } from "../profiles/read-secret.ts";

const ofCalls: ReadonlySet<string> = new Set(["inference", "telemetry_write", "telemetry_read"]);

export const loginCommand = command({
  name: "login",
  summary: "Store an API key, or sign in as a person, for the other commands",
  description: `Asks for the key, or reads it from standard input or --key-file, and checks it with the server. Stores the server's address
and the key in a profile, in ~/.config/sounding/profiles.json (XDG_CONFIG_HOME is respected), which only you can read.

A profile holds one key for calls and one for administration. A key with the permission admin is stored for administration;
log in twice to store both.

With --device, signs you in as a person instead: the command shows a code, and you approve it in the web console, where you sign in with
your identity provider. The terminal gets a session of its own, which \`sounding logout\` ends.`,
  options: {
    url: {
      type: "string",
      value: "URL",
      description: `The server's address. Default: SOUNDING_BASE_URL, the profile's, or ${defaultUrl}.`,
    },
    "key-file": { type: "string", value: "FILE", description: "A file that contains the key." },
    device: { type: "boolean", description: "Sign in as a person, with a code that you approve in the web console." },
    browser: { type: "boolean", default: true, description: "With --device: only print the address." },
    profile: {
      type: "string",
      value: "NAME",
      description: "The profile to create or change. Default: SOUNDING_PROFILE, or default.",
    },
  },
  examples: [
    ["sounding login", "Store a key of the server on this machine."],
    ["sounding login --device --url https://sounding.example.com", "Sign in as a person."],
    ["sounding login --url https://sounding.example.com --profile work < key.txt", "Another server, without a prompt."],
  ],
  async run({ values, json, io }) {
    const name = values.profile ?? (io.env["SOUNDING_PROFILE"] || defaultProfileName);
    const before = (await readProfiles(io.env)).get(name);
    const url = normalizeUrl(values.url ?? (io.env["SOUNDING_BASE_URL"] || before?.baseUrl || defaultUrl));
    const keyFile = values["key-file"];
    if (values.device === true) {
      if (keyFile !== undefined) throw new UsageError("--device and --key-file exclude each other; use one of them");
      return await loginAsPerson({ name, url, json, opensBrowser: values.browser }, io);
    }
    const key = keyFile === undefined ? await readSecret(`API key for ${url}: `, io) : await readKeyFile(keyFile);
    if (key === "") throw new CliError("no API key was entered", exitCodes.denied);
    const identity = await identifyKey(url, key, io.signal);
    const isKept = before !== undefined && before.session === undefined && isSameServer(before.baseUrl, url);
    const kept = isKept ? before : undefined;
    const isForAdministration = identity.permissions.includes("admin");
    // The permission admin comes with others that only read.
    const isForCalls = !isForAdministration || identity.permissions.some((permission) => ofCalls.has(permission));
    const file = await changeProfile(io.env, name, {
      baseUrl: url,
      apiKey: isForCalls ? key : kept?.apiKey,
      operatorKey: isForAdministration ? key : kept?.operatorKey,
      session: undefined,
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

interface PersonLogin {
  /** The profile. */
  readonly name: string;
  readonly url: string;
  readonly json: boolean;
  readonly opensBrowser: boolean;
}

async function loginAsPerson({ json, name, opensBrowser, url }: PersonLogin, io: CommandIo): Promise<number> {
  const codes = await beginDeviceLogin(url, io.signal);
  const page = codes.verification_uri_complete;
  // Standard output has the result only.
  await writeLine(io.stderr, oneLine(`Your code is ${codes.user_code}. Approve it in the web console: ${page}`));
  if (opensBrowser && whyNoBrowser(io.env) === undefined) await openBrowser(page, io.env);
  const { accessToken, session } = await waitForTokens(url, codes, io.signal);
  const identity = await identifyKey(url, accessToken, io.signal);
  const profile = { baseUrl: url, apiKey: accessToken, operatorKey: undefined, session };
  const file = await changeProfile(io.env, name, profile);
  if (json) await writeJson(io.stdout, { profile: name, file, base_url: url, ...identity });
  else
    await writeLine(
      io.stdout,
      oneLine(
        `Signed in as ${identity.key_name} in the organization ${JSON.stringify(identity.organization)}; stored in the profile ${name} (${showPath(file, io.env)}).`,
      ),
    );
  return exitCodes.ok;
}
