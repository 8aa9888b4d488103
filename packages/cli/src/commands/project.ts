/** `sounding project`: the projects of an organization and how their telemetry is stored. */
import { connectionOptions, organizationOption, withAdminApi, type AdminObject } from "../administration.ts";
import { changesOf, readInteger, withoutUndefined } from "../admin-options.ts";
import { showTime, writeObject } from "../admin-output.ts";
import { command, type CommandIo, type Options } from "../command.ts";
import { exitCodes } from "../exit-codes.ts";
import { writeJson } from "../output.ts";
import { writeTable } from "../terminal/table.ts";
import { timeOptions, type TimeOptions } from "../terminal/times.ts";

interface Project extends AdminObject {
  readonly organization_id: string;
  readonly settings: { readonly retention_days: number; readonly record_content: boolean };
  readonly created_at: number;
  readonly archived_at: number | null;
}

const nameArgument = { name: "name", description: "The project's name.", required: true };
const projectArgument = { name: "project", description: "Name or ID of the project.", required: true };
const whichOptions = { ...organizationOption, ...timeOptions, ...connectionOptions };
const settingOptions = {
  "retention-days": {
    type: "string",
    value: "N",
    description: "Retention of the project's telemetry in days, 1 to 3650.",
  },
  "record-content": {
    type: "boolean",
    description: "Record prompts and answers in telemetry; --no-record-content turns this off.",
  },
} as const satisfies Options;

interface SettingValues {
  readonly "retention-days"?: string | undefined;
  readonly "record-content"?: boolean | undefined;
}

function readSettings(values: SettingValues): Record<string, unknown> | undefined {
  const days = values["retention-days"];
  const settings = withoutUndefined({
    retention_days: days === undefined ? undefined : readInteger("retention-days", days),
    record_content: values["record-content"],
  });
  return Object.keys(settings).length === 0 ? undefined : settings;
}

async function writeProject(
  io: CommandIo,
  { json, values }: { json: boolean; values: TimeOptions },
  project: Project,
): Promise<number> {
  await (json ? writeJson(io.stdout, project) : writeObject(io.stdout, project, values));
  return exitCodes.ok;
}

const createCommand = command({
  name: "create",
  summary: "Create a project",
  arguments: [nameArgument],
  options: { ...settingOptions, ...whichOptions },
  examples: [
    ["sounding project create support-bot -o acme --retention-days 90", "Keep the project's telemetry for 90 days."],
  ],
  async run({ values, positionals, json, io }) {
    const settings = readSettings(values);
    const created = await withAdminApi(values, io, async (api) =>
      api.call<Project>(
        "POST",
        "/projects",
        withoutUndefined({
          organization_id: await api.organizationId(values.organization),
          name: positionals[0],
          settings,
        }),
      ),
    );
    return await writeProject(io, { json, values }, created);
  },
});

const listCommand = command({
  name: "list",
  summary: "List projects",
  options: { archived: { type: "boolean", description: "Include archived projects." }, ...whichOptions },
  async run({ values, json, io }) {
    const { all, organizations } = await withAdminApi(values, io, async (api) => ({
      all: await api.list<Project>("/projects", {
        organization_id: values.organization,
        include_archived: values.archived,
      }),
      organizations: json ? undefined : await api.organizationNames(),
    }));
    if (json) {
      await writeJson(io.stdout, all);
    } else {
      const rows = all.map((each) => [
        each.name,
        organizations?.get(each.organization_id) ?? each.organization_id,
        `${each.settings.retention_days} days`,
        each.settings.record_content ? "recorded" : "not recorded",
        showTime(each.created_at, values),
        ...(values.archived === true ? [showTime(each.archived_at, values)] : []),
        each.id,
      ]);
      const columns = [
        "name",
        "organization",
        { title: "kept", whole: true },
        { title: "prompts", whole: true, optional: 1 },
        { title: "created", whole: true, optional: 2 },
        ...(values.archived === true ? [{ title: "archived", whole: true }] : []),
        { title: "id", whole: true, optional: 3 },
      ];
      await writeTable(io, columns, rows);
    }
    return exitCodes.ok;
  },
});

const showCommand = command({
  name: "show",
  summary: "Show a project",
  arguments: [projectArgument],
  options: whichOptions,
  async run({ values, positionals, json, io }) {
    const shown = await withAdminApi(values, io, async (api) =>
      api.call<Project>("GET", `/projects/${await api.projectId(positionals[0]!, values.organization)}`),
    );
    return await writeProject(io, { json, values }, shown);
  },
});

const updateCommand = command({
  name: "update",
  summary: "Change how a project's telemetry is stored",
  arguments: [projectArgument],
  options: { ...settingOptions, ...whichOptions },
  async run({ values, positionals, json, io }) {
    const changes = changesOf({ settings: readSettings(values) });
    const updated = await withAdminApi(values, io, async (api) =>
      api.call<Project>("PATCH", `/projects/${await api.projectId(positionals[0]!, values.organization)}`, changes),
    );
    return await writeProject(io, { json, values }, updated);
  },
});

const archiveCommand = command({
  name: "archive",
  summary: "Archive a project and permanently revoke the keys that are bound to it",
  arguments: [projectArgument],
  options: whichOptions,
  async run({ values, positionals, json, io }) {
    const archived = await withAdminApi(values, io, async (api) =>
      api.call<Project>("POST", `/projects/${await api.projectId(positionals[0]!, values.organization)}/archive`),
    );
    return await writeProject(io, { json, values }, archived);
  },
});

export const projectCommand = command({
  name: "project",
  summary: "Manage projects",
  subcommands: [createCommand, listCommand, showCommand, updateCommand, archiveCommand],
});
