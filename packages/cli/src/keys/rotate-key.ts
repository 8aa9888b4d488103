/** `sounding key rotate`: replaces a key by a new one with the same rights. */
import { withAdminApi } from "../administration.ts";
import { readDuration, readExpiry, withoutUndefined } from "../admin-options.ts";
import { showTime, writeObject } from "../admin-output.ts";
import { command } from "../command.ts";
import { exitCodes } from "../exit-codes.ts";
import { writeJson, writeLine } from "../output.ts";
import { expiresOption, keyArgument, whichOptions, type Key } from "./key.ts";

export const rotateCommand = command({
  name: "rotate",
  summary: "Replace an API key by a new one with the same rights; its secret is shown only once",
  description: `Creates a key with the same name, organization, project, permissions, limits and expiry, and revokes the old one, at once or
after --grace. Prints only the new secret to standard output and everything else to standard error, unless --json is set.
A monthly token limit of the key counts from zero again; that of the organization does not.`,
  arguments: [keyArgument],
  options: {
    grace: {
      type: "string",
      value: "DURATION",
      description: "How long the old key stays valid: 30m, 1h, 7d. Default: it is revoked immediately.",
    },
    expires: expiresOption,
    ...whichOptions,
  },
  examples: [
    ["sounding key rotate ci -o acme", "Replace the key named ci."],
    ["sounding key rotate ci -o acme --grace 1h", "Keep the old key valid for one hour."],
  ],
  async run({ values, positionals, json, io }) {
    const body = withoutUndefined({
      grace_seconds: values.grace === undefined ? undefined : readDuration("grace", values.grace),
      expires_at: values.expires === undefined ? undefined : readExpiry(values.expires, Date.now()),
    });
    const rotated = await withAdminApi(values, io, async (api) =>
      api.call<Key & { secret: string; replaced: Key }>(
        "POST",
        `/keys/${await api.keyId(positionals[0]!, values.organization)}/rotate`,
        body,
      ),
    );
    if (json) {
      await writeJson(io.stdout, rotated);
      return exitCodes.ok;
    }
    const { secret, replaced, ...key } = rotated;
    await writeObject(io.stderr, key, values);
    const end = replaced.revoked_at === null ? `is valid until ${showTime(replaced.expires_at, values)}` : "is revoked";
    await writeLine(io.stderr, `\nThe old key, ${replaced.redacted_secret} (${replaced.id}), ${end}.`);
    await writeLine(io.stderr, "The new API key, shown only once:");
    await writeLine(io.stdout, secret);
    return exitCodes.ok;
  },
});
