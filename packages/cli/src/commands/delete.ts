/** `sounding delete`: data that is to be gone for good, and the receipts. */
import { connectionOptions, organizationOption, type AdminObject } from "../administration.ts";
import { writeObject, showTime } from "../admin-output.ts";
import { UsageError } from "../cli-error.ts";
import { command, type CommandIo } from "../command.ts";
import { confirmByName } from "../delete/confirm.ts";
import { deletionOf, describeRows, untilDone, withServer, type Deletion } from "../delete/deletion.ts";
import { exitCodes } from "../exit-codes.ts";
import { writeJson, writeLine } from "../output.ts";
import { writeTable } from "../terminal/table.ts";
import { timeOptions, type TimeOptions } from "../terminal/times.ts";

const { "key-file": keyFile, profile, url } = connectionOptions;
const serverOptions = { url, "key-file": keyFile, profile } as const;
const requestOptions = {
  yes: { type: "boolean", short: "y", description: "Do not ask for confirmation." },
  wait: { type: "boolean", description: "Wait until the data is gone from the disk." },
  ...timeOptions,
  ...serverOptions,
} as const;

const permanence =
  "It cannot be undone. Without --yes, the command asks you to type the name. Backups keep the data until they expire.";

interface Shown {
  readonly json: boolean;
  readonly values: TimeOptions & { readonly wait?: boolean | undefined };
  readonly io: CommandIo;
}

async function show({ json, values, io }: Shown, deletion: Deletion): Promise<number> {
  await (json ? writeJson(io.stdout, deletion) : writeObject(io.stdout, deletion, values));
  return exitCodes.ok;
}

const telemetryCommand = command({
  name: "telemetry",
  summary: "Delete telemetry: all of it, or of a project, a time range, a conversation or an end user",
  description: `Deletes the telemetry that all options select; without any, all telemetry of the organization. ${permanence}`,
  options: {
    ...organizationOption,
    project: { type: "string", value: "NAME", description: "Only telemetry of this project." },
    conversation: { type: "string", value: "ID", description: "Only this conversation, with its whole traces." },
    "end-user": { type: "string", value: "ID", description: "Only this end user, with whole traces." },
    start: { type: "string", value: "TIME", description: "Only telemetry of this RFC 3339 time or later." },
    end: { type: "string", value: "TIME", description: "Only telemetry before this RFC 3339 time." },
    "dry-run": { type: "boolean", description: "Count the rows and delete nothing." },
    ...requestOptions,
  },
  examples: [
    ["sounding delete telemetry -o acme --conversation conv_42 --dry-run", "Count what belongs to a conversation."],
    ["sounding delete telemetry -o acme --end-user u-1017 --yes", "Erase an end user."],
    ["sounding delete telemetry -o acme --end 2026-01-01T00:00:00Z --yes", "Delete old telemetry."],
  ],
  async run({ values, json, io }) {
    if (values.conversation !== undefined && values["end-user"] !== undefined)
      throw new UsageError("--conversation and --end-user cannot be combined");
    return await withServer(values, io, async (api) => {
      const organizationId = await api.organizationId(values.organization);
      const selection = {
        organization_id: organizationId,
        project_name: values.project,
        conversation_id: values.conversation,
        end_user_id: values["end-user"],
        start: values.start,
        end: values.end,
      };
      const isPreview = values["dry-run"] === true;
      if (isPreview || values.yes !== true) {
        const preview = await api.call<Deletion>("POST", "/deletions", { ...selection, dry_run: true });
        if (isPreview) return await show({ json, values, io }, preview);
        const { name } = await api.call<AdminObject>("GET", `/organizations/${organizationId}`);
        await confirmByName(name, `Delete ${describeRows(preview.rows)} of the organization ${name}.`, io);
      }
      const begun = await api.call<Deletion>("POST", "/deletions", selection);
      return await show({ json, values, io }, await untilDone(api, begun, values, io));
    });
  },
});

const projectCommand = command({
  name: "project",
  summary: "Delete a project with its keys and telemetry",
  description: `Revokes the keys that are bound to the project at once. ${permanence}`,
  arguments: [{ name: "project", description: "Name or ID of the project.", required: true }],
  options: { ...organizationOption, ...requestOptions },
  async run({ values, positionals, json, io }) {
    return await withServer(values, io, async (api) => {
      const path = `/projects/${await api.projectId(positionals[0]!, values.organization)}`;
      if (values.yes !== true) {
        const { name } = await api.call<AdminObject>("GET", path);
        await confirmByName(name, `Delete the project ${name} with its keys and telemetry.`, io);
      }
      const begun = await api.call<Deletion>("DELETE", path);
      return await show({ json, values, io }, await untilDone(api, begun, values, io));
    });
  },
});

const organizationCommand = command({
  name: "org",
  summary: "Delete an organization with its projects, keys and telemetry",
  description: `Revokes the organization's keys at once. The key needs to be an operator's. ${permanence}`,
  arguments: [{ name: "organization", description: "Name or ID of the organization.", required: true }],
  options: requestOptions,
  async run({ values, positionals, json, io }) {
    return await withServer(values, io, async (api) => {
      const path = `/organizations/${await api.organizationId(positionals[0])}`;
      if (values.yes !== true) {
        const { name } = await api.call<AdminObject>("GET", path);
        await confirmByName(name, `Delete the organization ${name} with its projects, keys and telemetry.`, io);
      }
      const begun = await api.call<Deletion>("DELETE", path);
      return await show({ json, values, io }, await untilDone(api, begun, values, io));
    });
  },
});

const listCommand = command({
  name: "list",
  summary: "List deletions, the newest last",
  options: { ...organizationOption, ...timeOptions, ...serverOptions },
  async run({ values, json, io }) {
    const deletions = await withServer(values, io, async (api) =>
      api.list<Deletion>("/deletions", {
        organization_id: values.organization === undefined ? undefined : await api.organizationId(values.organization),
      }),
    );
    if (json) {
      await writeJson(io.stdout, deletions);
      return exitCodes.ok;
    }
    const rows = deletions.map((each) => [
      each.kind,
      each.organization_id,
      each.project_name ?? "-",
      each.status,
      showTime(each.created_at, values),
      showTime(each.erased_at, values),
      each.id ?? "-",
    ]);
    const columns = [
      { title: "kind", whole: true },
      { title: "organization", whole: true, optional: 2 },
      { title: "project" },
      { title: "status", whole: true },
      { title: "requested", whole: true },
      { title: "erased", whole: true, optional: 1 },
      { title: "id", whole: true, optional: 3 },
    ];
    await writeTable(io, columns, rows);
    return exitCodes.ok;
  },
});

const showCommand = command({
  name: "show",
  summary: "Show a deletion and its receipt",
  arguments: [{ name: "id", description: "Identifier of the deletion.", required: true }],
  options: { wait: requestOptions.wait, ...timeOptions, ...serverOptions },
  async run({ values, positionals, json, io }) {
    const deletion = await withServer(values, io, async (api) =>
      untilDone(api, await deletionOf(api, positionals[0]!), values, io),
    );
    if (!json && deletion.status === "failed") await writeLine(io.stderr, "The server tries again.");
    return await show({ json, values, io }, deletion);
  },
});

export const deleteCommand = command({
  name: "delete",
  summary: "Delete telemetry, projects and organizations for good",
  subcommands: [telemetryCommand, projectCommand, organizationCommand, listCommand, showCommand],
});
