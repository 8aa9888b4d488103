/** `sounding project`: the projects of an organization and how their telemetry is stored. */
import { connectionOptions, organizationOption, withAdminApi, type AdminObject } from "../administration.ts";
import { changesOf, readInteger, withoutUndefined } from "../admin-options.ts";
import { showTime, writeResult } from "../admin-output.ts";
import { UsageError } from "../cli-error.ts";
import { command, type Options } from "../command.ts";
import { exitCodes } from "../exit-codes.ts";
import { writeJson, writeLine } from "../output.ts";
import { RemoteError } from "../remote-request.ts";
import { readSeenProjects, type SeenProjects } from "../telemetry/seen-projects.ts";
import { writeTable } from "../terminal/table.ts";
import { timeOptions } from "../terminal/times.ts";

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
  "record-content-percent": {
    type: "string",
    value: "P",
    description: "Share of the calls whose prompts and answers are recorded, in percent; 100 for all.",
  },
  redact: {
    type: "string",
    multiple: true,
    value: "KIND",
    description: "Kind of data that is replaced in telemetry, such as email; none for nothing. Can be repeated.",
  },
} as const satisfies Options;

interface SettingValues {
  readonly "retention-days"?: string | undefined;
  readonly "record-content"?: boolean | undefined;
  readonly "record-content-percent"?: string | undefined;
  readonly redact?: readonly string[] | undefined;
}

function readSettings(values: SettingValues): Record<string, unknown> | undefined {
  const days = values["retention-days"];
  const percent = values["record-content-percent"];
  const settings = withoutUndefined({
    retention_days: days === undefined ? undefined : readInteger("retention-days", days),
    record_content: values["record-content"],
    record_content_percent: percent === undefined ? undefined : readPercent(percent),
    redact: values.redact?.filter((kind) => kind !== "none"),
  });
  return Object.keys(settings).length === 0 ? undefined : settings;
}

function readPercent(text: string): number {
  const percent = text.trim() === "" ? Number.NaN : Number(text);
  if (percent > 0 && percent <= 100) return percent;
  throw new UsageError(`--record-content-percent is ${JSON.stringify(text)}; it must be a number above 0, at most 100`);
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
    return await writeResult(io, { json, values }, created);
  },
});

/** A project of the list: created, or only named by telemetry. */
interface ListedProject {
  readonly id: string | null;
  readonly name: string;
  readonly organization_id: string;
  readonly settings: Project["settings"] | null;
  readonly created_at: number | null;
  readonly archived_at: number | null;
  readonly registered: boolean;
  /** What telemetry it has; null if that is not known. */
  readonly signals: readonly string[] | null;
}

/** Projects that were created, then those that only telemetry names. */
function mergeProjects(created: readonly Project[], seen: SeenProjects | undefined): ListedProject[] {
  const signalsOf = (project: Project): readonly string[] | null => {
    if (seen?.organization_id !== project.organization_id) return null;
    return seen.data.find(({ name }) => name === project.name)?.signals ?? [];
  };
  const names = new Set(
    created.filter((each) => each.organization_id === seen?.organization_id).map(({ name }) => name),
  );
  const others = (seen?.data ?? []).filter(({ name }) => !names.has(name));
  return [
    ...created.map((project) => ({ ...project, registered: true, signals: signalsOf(project) })),
    ...others.map(({ name, signals }) => ({
      id: null,
      name,
      organization_id: seen!.organization_id,
      settings: null,
      created_at: null,
      archived_at: null,
      registered: false,
      signals,
    })),
  ];
}

const listCommand = command({
  name: "list",
  summary: "List projects, registered ones and those that only telemetry names",
  description: `A project is registered if it was created by \`sounding project create\` or by the server. Telemetry may name others, which have the
default settings. Those are listed for the organization of the API key (SOUNDING_API_KEY, or the profile's key), which needs the
permission telemetry_read. A key without the permission admin lists the projects that have telemetry.`,
  options: { archived: { type: "boolean", description: "Include archived projects." }, ...whichOptions },
  async run({ values, json, io }) {
    const result = await readSeenProjects(values, io);
    const registered = await withAdminApi(values, io, async (api) => ({
      organizationId: values.organization === undefined ? undefined : await api.organizationId(values.organization),
      all: await api.list<Project>("/projects", { organization_id: values.organization, include_archived: true }),
      organizations: json ? undefined : await api.organizationNames(),
    })).catch((error: unknown) => {
      const isDenied = error instanceof RemoteError && error.status === 403;
      if (isDenied && result.seen !== undefined && values.organization === undefined) return undefined;
      throw error;
    });
    const ofOthers =
      registered?.organizationId !== undefined && registered.organizationId !== result.seen?.organization_id;
    const projects = mergeProjects(registered?.all ?? [], ofOthers ? undefined : result.seen)
      .filter(({ archived_at }) => values.archived === true || archived_at === null)
      .map((each) => (registered === undefined ? { ...each, registered: null } : each));
    if (json) {
      await writeJson(io.stdout, projects);
      return exitCodes.ok;
    }
    const rows = projects.map((each) => [
      each.name,
      registered?.organizations?.get(each.organization_id) ?? each.organization_id,
      each.registered === null ? "unknown" : each.registered ? "yes" : "no",
      each.signals === null ? "unknown" : each.signals.join(", ") || "-",
      each.settings === null ? "-" : `${each.settings.retention_days} days`,
      each.settings === null ? "-" : each.settings.record_content ? "recorded" : "not recorded",
      showTime(each.created_at, values),
      ...(values.archived === true ? [showTime(each.archived_at, values)] : []),
      each.id ?? "-",
    ]);
    const columns = [
      "name",
      "organization",
      { title: "registered", whole: true },
      { title: "telemetry", whole: true },
      { title: "kept", whole: true, optional: 1 },
      { title: "prompts", whole: true, optional: 2 },
      { title: "created", whole: true, optional: 3 },
      ...(values.archived === true ? [{ title: "archived", whole: true }] : []),
      { title: "id", whole: true, optional: 4 },
    ];
    await writeTable(io, columns, rows);
    if (result.seen === undefined) {
      await writeLine(io.stderr, `Projects that only telemetry names are not listed: ${result.reason}`);
    } else if (registered === undefined) {
      await writeLine(
        io.stderr,
        "The key does not have the permission admin, so only projects that have telemetry are listed.",
      );
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
    return await writeResult(io, { json, values }, shown);
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
    return await writeResult(io, { json, values }, updated);
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
    return await writeResult(io, { json, values }, archived);
  },
});

export const projectCommand = command({
  name: "project",
  summary: "Manage projects",
  subcommands: [createCommand, listCommand, showCommand, updateCommand, archiveCommand],
});
