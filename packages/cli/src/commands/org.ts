/** `sounding org`: the organizations that share a server. */
import { connectionOptions, withAdminApi, type AdminObject } from "../administration.ts";
import {
  allowModelOption,
  changesOf,
  modelChangeOptions,
  readAllowedModels,
  limitOptions,
  readLimits,
  withoutUndefined,
} from "../admin-options.ts";
import { showLimits, showTime, writeObject, writeResult } from "../admin-output.ts";
import { command } from "../command.ts";
import { exitCodes } from "../exit-codes.ts";
import { readUsage, writeUsage } from "../limit-usage.ts";
import { writeJson } from "../output.ts";
import { writeTable } from "../terminal/table.ts";
import { timeOptions } from "../terminal/times.ts";

interface Organization extends AdminObject {
  readonly limits: object;
  readonly allowed_models: readonly string[] | null;
  readonly created_at: number;
  readonly archived_at: number | null;
}

const nameArgument = { name: "name", description: "The organization's name.", required: true };
const organizationArgument = { name: "organization", description: "Name or ID of the organization.", required: true };

const createCommand = command({
  name: "create",
  summary: "Create an organization, with a project named default",
  arguments: [nameArgument],
  options: { ...limitOptions, ...allowModelOption, ...timeOptions, ...connectionOptions },
  examples: [
    ["sounding org create acme --tokens-per-month 50000000", "Create an organization with a monthly token budget."],
  ],
  async run({ values, positionals, json, io }) {
    const body = withoutUndefined({
      name: positionals[0],
      limits: readLimits(values),
      allowed_models: values["allow-model"],
    });
    const created = await withAdminApi(values, io, (api) => api.call<Organization>("POST", "/organizations", body));
    return await writeResult(io, { json, values }, created);
  },
});

const listCommand = command({
  name: "list",
  summary: "List organizations",
  options: {
    archived: { type: "boolean", description: "Include archived organizations." },
    ...timeOptions,
    ...connectionOptions,
  },
  async run({ values, json, io }) {
    const all = await withAdminApi(values, io, (api) =>
      api.list<Organization>("/organizations", { include_archived: values.archived }),
    );
    if (json) {
      await writeJson(io.stdout, all);
    } else {
      const rows = all.map((each) => [
        each.name,
        showLimits(each.limits),
        each.allowed_models?.join(", ") ?? "all",
        showTime(each.created_at, values),
        ...(values.archived === true ? [showTime(each.archived_at, values)] : []),
        each.id,
      ]);
      await writeTable(
        io,
        [
          { title: "name" },
          { title: "limits" },
          { title: "models", optional: 2 },
          { title: "created", whole: true, optional: 3 },
          ...(values.archived === true ? [{ title: "archived", whole: true }] : []),
          { title: "id", whole: true, optional: 4 },
        ],
        rows,
      );
    }
    return exitCodes.ok;
  },
});

const showCommand = command({
  name: "show",
  summary: "Show an organization, and its limits with their current usage",
  arguments: [organizationArgument],
  options: { ...timeOptions, ...connectionOptions },
  async run({ values, positionals, json, io }) {
    const { shown, usage } = await withAdminApi(values, io, async (api) => {
      const path = `/organizations/${await api.organizationId(positionals[0])}`;
      return { shown: await api.call<Organization>("GET", path), usage: await readUsage(api, path) };
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
  summary: "Change an organization's name, limits or allowed models",
  arguments: [organizationArgument],
  options: {
    name: { type: "string", value: "NAME", description: "The new name." },
    ...limitOptions,
    ...modelChangeOptions,
    ...timeOptions,
    ...connectionOptions,
  },
  examples: [["sounding org update acme --requests-per-minute none", "Remove a limit."]],
  async run({ values, positionals, json, io }) {
    const changes = changesOf({
      name: values.name,
      limits: readLimits(values),
      allowed_models: readAllowedModels(values),
    });
    const updated = await withAdminApi(values, io, async (api) =>
      api.call<Organization>("PATCH", `/organizations/${await api.organizationId(positionals[0])}`, changes),
    );
    return await writeResult(io, { json, values }, updated);
  },
});

const archiveCommand = command({
  name: "archive",
  summary: "Archive an organization and permanently revoke its keys",
  arguments: [organizationArgument],
  options: { ...timeOptions, ...connectionOptions },
  async run({ values, positionals, json, io }) {
    const archived = await withAdminApi(values, io, async (api) =>
      api.call<Organization>("POST", `/organizations/${await api.organizationId(positionals[0])}/archive`),
    );
    return await writeResult(io, { json, values }, archived);
  },
});

export const orgCommand = command({
  name: "org",
  summary: "Manage organizations",
  subcommands: [createCommand, listCommand, showCommand, updateCommand, archiveCommand],
});
