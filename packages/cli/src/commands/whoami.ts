/** `sounding whoami`: the server and the key that the other commands use, and whom the key belongs to. */
import { command, type CommandIo } from "../command.ts";
import { findConnection, requireKey, serverOptions, type Connection } from "../connection.ts";
import { exitCodes } from "../exit-codes.ts";
import { printable, writeJson, writeLine } from "../output.ts";
import { identifyKey } from "../profiles/key-identity.ts";
import { profileFile, readProfiles, showPath } from "../profiles/profile-file.ts";

export const whoamiCommand = command({
  name: "whoami",
  summary: "Show the server and the key that commands use",
  description:
    "Asks the server for the key's organization, project and permissions, and says where the address and the key come from.",
  options: {
    ...serverOptions,
    "print-key": { type: "boolean", description: "Print only the API key, without asking the server." },
  },
  examples: [
    ["export SOUNDING_API_KEY=$(sounding whoami --print-key)", "Give the key to other programs, such as curl."],
    ["sounding whoami --profile work", "Check another profile."],
  ],
  async run({ values, json, io }) {
    const connection = await findConnection(values, io);
    const { url, key } = requireKey(connection);
    if (values["print-key"] === true) {
      await (json ? writeJson(io.stdout, { key }) : writeLine(io.stdout, key));
      return exitCodes.ok;
    }
    const identity = await identifyKey(url, key, io.signal);
    if (json) {
      await writeJson(io.stdout, {
        base_url: url,
        base_url_source: connection.url?.source ?? "default",
        key_source: connection.apiKey?.source,
        profile: connection.profile ?? null,
        ...identity,
      });
      return exitCodes.ok;
    }
    const rows = [
      ["server", `${url} (${connection.url?.source ?? "the default address"})`],
      ["organization", `${identity.organization} (${identity.organization_id})`],
      ["project", identity.project ?? "any; default if a call names none"],
      ["key", `${identity.key_name} (${identity.key_id}), from ${showSource(connection, io)}`],
      ...(identity.role == null ? [] : [["role", identity.role]]),
      ["permissions", `${identity.permissions.join(", ")}${identity.operator ? " (operator key)" : ""}`],
      ["operator key", connection.operatorKey === undefined ? "none" : `from ${connection.operatorKey.source}`],
      ["profiles", [...(await readProfiles(io.env)).keys()].join(", ") || "none"],
    ];
    for (const [name, value] of rows) await writeLine(io.stdout, printable(`${name!.padEnd(13)} ${value}`));
    return exitCodes.ok;
  },
});

function showSource({ apiKey, profile }: Connection, { env }: CommandIo): string {
  const file = profileFile(env);
  const source = apiKey?.source ?? "nothing";
  return file !== undefined && profile !== undefined && source.includes("profile")
    ? `${source} in ${showPath(file, env)}`
    : source;
}
