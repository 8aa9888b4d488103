/** `sounding key`: the API keys of an organization. */
import { connectionOptions, organizationOption, withAdminApi, type AdminObject } from "../administration.ts";
import {
  allowModelOption,
  changesOf,
  limitOptions,
  modelChangeOptions,
  readAllowedModels,
  readExpiry,
  readLimits,
  withoutUndefined,
} from "../admin-options.ts";
import { showTime, writeObject, writeResult } from "../admin-output.ts";
import { command } from "../command.ts";
import { exitCodes } from "../exit-codes.ts";
import { expiresOption, keyArgument, projectOption, rightsOf, whichOptions, type Key } from "../keys/key.ts";
import { rotateCommand } from "../keys/rotate-key.ts";
import { readUsage, writeUsage } from "../limit-usage.ts";
import { writeJson, writeLine } from "../output.ts";
import { writeTable } from "../terminal/table.ts";
import { timeOptions } from "../terminal/times.ts";

const recordContentOption = {
  "record-content": {
    type: "boolean",
    description: "Record prompts and answers of its calls if the project does, the default; --no-record-content never.",
  },
} as const;

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
        "provision",
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
    ...recordContentOption,
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
      const record_content = values["record-content"];
      const rights = { permissions, role, allowed_models, record_content, operator };
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

const listCommand = command({
  name: "list",
  summary: "List API keys, without their secrets",
  options: {
    revoked: { type: "boolean", description: "Include revoked keys." },
    ...projectOption,
    ...organizationOption,
    ...timeOptions,
    ...connectionOptions,
  },
  async run({ values, json, io }) {
    const { all, organizations, roles } = await withAdminApi(values, io, async (api) => ({
      all: await api.list<Key>("/keys", {
        organization_id: values.organization,
        project_id: values.project === undefined ? undefined : await api.projectId(values.project, values.organization),
        include_revoked: values.revoked,
      }),
      organizations: json ? undefined : await api.organizationNames(),
      roles: json
        ? undefined
        : new Map((await api.list<AdminObject>("/roles", {})).map(({ id, name }) => [id, name] as const)),
    }));
    if (json) {
      await writeJson(io.stdout, all);
    } else {
      const rows = all.map((each) => [
        each.name,
        organizations?.get(each.organization_id) ?? each.organization_id,
        each.redacted_secret,
        rightsOf(each, roles),
        showTime(each.last_used_at, values),
        showTime(each.expires_at, values),
        ...(values.revoked === true ? [showTime(each.revoked_at, values)] : []),
        each.id,
      ]);
      const columns = [
        "name",
        "organization",
        { title: "key", whole: true, optional: 1 },
        "permissions",
        { title: "last used", whole: true, optional: 3 },
        { title: "expires", whole: true, optional: 2 },
        ...(values.revoked === true ? [{ title: "revoked", whole: true }] : []),
        { title: "id", whole: true, optional: 4 },
      ];
      await writeTable(io, columns, rows);
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
  summary: "Change an API key's name, limits, models, expiry or recording",
  arguments: [keyArgument],
  options: {
    name: { type: "string", value: "NAME", description: "The new name." },
    expires: expiresOption,
    ...recordContentOption,
    ...limitOptions,
    ...modelChangeOptions,
    ...whichOptions,
  },
  async run({ values, positionals, json, io }) {
    const changes = changesOf({
      name: values.name,
      limits: readLimits(values),
      allowed_models: readAllowedModels(values),
      record_content: values["record-content"],
      expires_at: values.expires === undefined ? undefined : readExpiry(values.expires, Date.now()),
    });
    const updated = await withAdminApi(values, io, async (api) =>
      api.call<Key>("PATCH", `/keys/${await api.keyId(positionals[0]!, values.organization)}`, changes),
    );
    return await writeResult(io, { json, values }, updated);
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
    return await writeResult(io, { json, values }, revoked);
  },
});

export const keyCommand = command({
  name: "key",
  summary: "Manage API keys",
  subcommands: [createCommand, listCommand, showCommand, updateCommand, rotateCommand, revokeCommand],
});
