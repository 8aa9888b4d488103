/** `sounding role`: the built-in roles, and those that an organization defines. */
import {
  connectionOptions,
  organizationOption,
  withAdminApi,
  type AdminApi,
  type AdminObject,
} from "../administration.ts";
import {
  allowModelOption,
  changesOf,
  modelChangeOptions,
  readAllowedModels,
  withoutUndefined,
} from "../admin-options.ts";
import { writeResult } from "../admin-output.ts";
import { CliError } from "../cli-error.ts";
import { command, type Options } from "../command.ts";
import { exitCodes } from "../exit-codes.ts";
import { writeJson } from "../output.ts";
import { writeTable } from "../terminal/table.ts";
import { timeOptions } from "../terminal/times.ts";

interface Role extends AdminObject {
  readonly organization_id: string | null;
  readonly permissions: readonly string[];
  readonly allowed_models: readonly string[] | null;
}

const roleArgument = { name: "role", description: "Name or ID of the role.", required: true };
const permissionOption = {
  permission: {
    type: "string",
    value: "NAME",
    multiple: true,
    description: "A permission of the role, such as telemetry_read; `sounding role list` shows those of the others.",
  },
} as const satisfies Options;
const whichOptions = { ...organizationOption, ...timeOptions, ...connectionOptions } as const satisfies Options;

async function roleId(api: AdminApi, nameOrId: string, organization: string | undefined): Promise<string> {
  const roles = await api.list<Role>("/roles", { organization_id: await api.organizationId(organization) });
  const found = roles.find(({ id, name }) => id === nameOrId || name === nameOrId);
  if (found !== undefined) return found.id;
  throw new CliError(
    `the role ${JSON.stringify(nameOrId)} does not exist; \`sounding role list\` shows all roles`,
    exitCodes.notFound,
  );
}

const createCommand = command({
  name: "create",
  summary: "Define a role of an organization",
  arguments: [{ name: "name", description: "The role's name.", required: true }],
  options: { ...permissionOption, ...allowModelOption, ...whichOptions },
  examples: [
    [
      "sounding role create reviewer -o acme --permission telemetry_read --permission content_read",
      "A role that reads recorded prompts.",
    ],
  ],
  async run({ values, positionals, json, io }) {
    const created = await withAdminApi(values, io, async (api) =>
      api.call<Role>(
        "POST",
        "/roles",
        withoutUndefined({
          organization_id: await api.organizationId(values.organization),
          name: positionals[0],
          permissions: values.permission ?? [],
          allowed_models: values["allow-model"],
        }),
      ),
    );
    return await writeResult(io, { json, values }, created);
  },
});

const listCommand = command({
  name: "list",
  summary: "List roles with their permissions",
  options: whichOptions,
  async run({ values, json, io }) {
    const roles = await withAdminApi(values, io, (api) =>
      api.list<Role>("/roles", { organization_id: values.organization }),
    );
    if (json) {
      await writeJson(io.stdout, roles);
      return exitCodes.ok;
    }
    const rows = roles.map((each) => [
      each.name,
      each.permissions.join(", "),
      each.allowed_models?.join(", ") ?? "all",
      each.organization_id === null ? "built in" : each.id,
    ]);
    await writeTable(io, ["name", "permissions", "models", { title: "id", whole: true, optional: 1 }], rows);
    return exitCodes.ok;
  },
});

const updateCommand = command({
  name: "update",
  summary: "Change a role; everybody who has it has the change within five seconds",
  arguments: [roleArgument],
  options: {
    name: { type: "string", value: "NAME", description: "The new name." },
    permission: { ...permissionOption.permission, description: "A permission; those given replace all others." },
    ...modelChangeOptions,
    ...whichOptions,
  },
  async run({ values, positionals, json, io }) {
    const changes = changesOf({
      name: values.name,
      permissions: values.permission,
      allowed_models: readAllowedModels(values),
    });
    const updated = await withAdminApi(values, io, async (api) =>
      api.call<Role>("PATCH", `/roles/${await roleId(api, positionals[0]!, values.organization)}`, changes),
    );
    return await writeResult(io, { json, values }, updated);
  },
});

const deleteCommand = command({
  name: "delete",
  summary: "Delete a role that no person and no key has",
  arguments: [roleArgument],
  options: whichOptions,
  async run({ values, positionals, json, io }) {
    const deleted = await withAdminApi(values, io, async (api) =>
      api.call<Role>("DELETE", `/roles/${await roleId(api, positionals[0]!, values.organization)}`),
    );
    return await writeResult(io, { json, values }, deleted);
  },
});

export const roleCommand = command({
  name: "role",
  summary: "Manage roles: named sets of permissions",
  subcommands: [createCommand, listCommand, updateCommand, deleteCommand],
});
