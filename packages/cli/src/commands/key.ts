/** `sounding key`: the API keys of an organization. */
import { connectionOptions, organizationOption, withAdminApi } from "../administration.ts";
import {
  allowModelOption,
  changesOf,
  limitOptions,
  modelChangeOptions,
  readAllowedModels,
  readDuration,
  readExpiry,
  readLimits,
  withoutUndefined,
} from "../admin-options.ts";
import { showTime, writeObject } from "../admin-output.ts";
import { command, type CommandIo } from "../command.ts";
import { exitCodes } from "../exit-codes.ts";
import { readUsage, writeUsage } from "../limit-usage.ts";
import { writeJson, writeLine } from "../output.ts";
import { timeOptions, type TimeOptions } from "../terminal/times.ts";
import { listCommand } from "./key-list.ts";
import { expiresOption, keyArgument, projectOption, whichOptions, type Key } from "./key-options.ts";

async function writeKey(
  io: CommandIo,
  { json, values }: { json: boolean; values: TimeOptions },
  key: Key,
): Promise<number> {
  await (json ? writeJson(io.stdout, key) : writeObject(io.stdout, key, values));
  return exitCodes.ok;
}

const createCommand = command({
  name: "create",
  summary: "Create an API key; its secret is shown only once",
  description: "Prints only the secret to standard output and everything else to standard error, unless --json is set.",
  arguments: [{ name: "name", description: "What the key is used for.", required: true }],
  options: {
    permission: {
      type: "string",
      value: "NAME",
      multiple: true,
      choices: [
        "inference",
        "models_read",
        "telemetry_write",
        "telemetry_read",
        "content_read",
        "spend_read",
        "configuration_read",
        "admin",
      ],
      description: "A permission of the key. Default: inference, telemetry_write and telemetry_read.",
    },
    role: {
      type: "string",
      value: "NAME",
      description: "A role instead of permissions; changes to the role apply to the key.",
    },
    ...allowModelOption,
    operator: {
      type: "boolean",
      description: "Let the key administer all organizations (an operator key); requires --permission admin.",
    },
    expires: expiresOption,
    ...limitOptions,
    ...projectOption,
    ...organizationOption,
    ...timeOptions,
    ...connectionOptions,
  },
  examples: [
    ["sounding key create ci -o acme --permission inference --expires 90d", "Create a key that is valid for 90 days."],
    ["export SOUNDING_API_KEY=$(sounding key create laptop -o acme)", "Store a new key where clients look for it."],
    ["sounding key create root -o acme --permission admin --operator", "Create another operator key."],
  ],
  async run({ values, positionals, json, io }) {
    const expires_at = values.expires === undefined ? undefined : readExpiry(values.expires, Date.now());
    const limits = readLimits(values);
    const created = await withAdminApi(values, io, async (api) => {
      const organization_id = await api.organizationId(values.organization);
      const project_id =
        values.project === undefined ? undefined : await api.projectId(values.project, organization_id);
      const { permission: permissions, role, operator } = values;
      const allowed_models = values["allow-model"];
      const rights = { permissions, role, allowed_models, operator };
      const members = { organization_id, project_id, name: positionals[0], ...rights, limits, expires_at };
      return await api.call<Key & { secret: string }>("POST", "/keys", withoutUndefined(members));
    });
    if (json) {
      await writeJson(io.stdout, created);
    } else {
      const { secret, ...key } = created;
      await writeObject(io.stderr, key, values);
      await writeLine(io.stderr, "\nThe API key, shown only once:");
      await writeLine(io.stdout, secret);
    }
    return exitCodes.ok;
  },
});

const showCommand = command({
  name: "show",
  summary: "Show an API key, without its secret, and its limits with their current usage",
  arguments: [keyArgument],
  options: whichOptions,
  async run({ values, positionals, json, io }) {
    const { shown, usage } = await withAdminApi(values, io, async (api) => {
      const path = `/keys/${await api.keyId(positionals[0]!, values.organization)}`;
      return { shown: await api.call<Key>("GET", path), usage: await readUsage(api, path) };
    });
    if (json) {
      await writeJson(io.stdout, { ...shown, usage });
    } else {
      await writeObject(io.stdout, shown, values);
      await writeUsage(io, usage, values);
    }
    return exitCodes.ok;
  },
});

const updateCommand = command({
  name: "update",
  summary: "Change an API key's name, limits, models or expiry",
  arguments: [keyArgument],
  options: {
    name: { type: "string", value: "NAME", description: "The new name." },
    expires: expiresOption,
    ...limitOptions,
    ...modelChangeOptions,
    ...whichOptions,
  },
  async run({ values, positionals, json, io }) {
    const changes = changesOf({
      name: values.name,
      limits: readLimits(values),
      allowed_models: readAllowedModels(values),
      expires_at: values.expires === undefined ? undefined : readExpiry(values.expires, Date.now()),
    });
    const updated = await withAdminApi(values, io, async (api) =>
      api.call<Key>("PATCH", `/keys/${await api.keyId(positionals[0]!, values.organization)}`, changes),
    );
    return await writeKey(io, { json, values }, updated);
  },
});

const revokeCommand = command({
  name: "revoke",
  summary: "Revoke an API key permanently; running servers reject it within five seconds",
  arguments: [keyArgument],
  options: whichOptions,
  async run({ values, positionals, json, io }) {
    const revoked = await withAdminApi(values, io, async (api) =>
      api.call<Key>("POST", `/keys/${await api.keyId(positionals[0]!, values.organization)}/revoke`),
    );
    return await writeKey(io, { json, values }, revoked);
  },
});

const rotateCommand = command({
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

export const keyCommand = command({
  name: "key",
  summary: "Manage API keys",
  subcommands: [createCommand, listCommand, showCommand, updateCommand, rotateCommand, revokeCommand],
});
