/** `sounding member`: the roles of people in organizations and projects. */
import {
  connectionOptions,
  organizationOption,
  withAdminApi,
  type AdminApi,
  type AdminObject,
} from "../administration.ts";
import { writeResult } from "../admin-output.ts";
import { CliError } from "../cli-error.ts";
import { command, type Options } from "../command.ts";
import { exitCodes } from "../exit-codes.ts";
import { writeJson } from "../output.ts";
import { writeTable } from "../terminal/table.ts";
import { timeOptions } from "../terminal/times.ts";

interface Membership {
  readonly id: string;
  readonly person_id: string;
  readonly organization_id: string;
  readonly project_id: string | null;
  readonly role: string;
  readonly source: string;
}

const personArgument = { name: "person", description: "Mail address or ID of the person.", required: true };
const placeOptions = {
  project: {
    type: "string",
    short: "p",
    value: "NAME",
    description: "The role is for this project. Default: for the whole organization.",
  },
  ...organizationOption,
  ...timeOptions,
  ...connectionOptions,
} as const satisfies Options;

interface PlaceValues {
  readonly project?: string | undefined;
  readonly organization?: string | undefined;
}

async function placeOf(api: AdminApi, { organization, project }: PlaceValues) {
  const organization_id = await api.organizationId(organization);
  return { organization_id, project_id: project === undefined ? null : await api.projectId(project, organization_id) };
}

const setCommand = command({
  name: "set",
  summary: "Give a person a role, or another one",
  arguments: [personArgument],
  options: {
    role: { type: "string", value: "NAME", description: "The role. Default: member." },
    ...placeOptions,
  },
  examples: [
    ["sounding member set bob@example.com -o acme --role member", "Change a person's role in an organization."],
    ["sounding member set bob@example.com -o acme -p support-bot --role admin", "Let a person administer one project."],
  ],
  async run({ values, positionals, json, io }) {
    const set = await withAdminApi(values, io, async (api) =>
      api.call<Membership>("POST", "/memberships", {
        ...(await placeOf(api, values)),
        person_id: await api.personId(positionals[0]!),
        role: values.role ?? "member",
      }),
    );
    return await writeResult(io, { json, values }, set);
  },
});

const listCommand = command({
  name: "list",
  summary: "List the roles of people",
  options: placeOptions,
  async run({ values, json, io }) {
    const found = await withAdminApi(values, io, async (api) => {
      const { organization_id, project_id } = await placeOf(api, values);
      const filters = { organization_id, ...(project_id === null ? {} : { project_id }) };
      return {
        memberships: await api.list<Membership>("/memberships", filters),
        people: new Map(
          (await api.list<AdminObject & { email: string }>("/people", { organization_id, include_disabled: true })).map(
            ({ email, id }) => [id, email],
          ),
        ),
        projects: new Map(
          (await api.list<AdminObject>("/projects", { organization_id })).map(({ id, name }) => [id, name]),
        ),
        roles: new Map((await api.list<AdminObject>("/roles", { organization_id })).map(({ id, name }) => [id, name])),
      };
    });
    const { memberships, people, projects, roles } = found;
    if (json) {
      await writeJson(io.stdout, memberships);
      return exitCodes.ok;
    }
    const rows = memberships.map((each) => [
      people.get(each.person_id) ?? each.person_id,
      roles.get(each.role) ?? each.role,
      each.project_id === null ? "all" : (projects.get(each.project_id) ?? each.project_id),
      each.source,
      each.id,
    ]);
    await writeTable(io, ["person", "role", "project", "source", { title: "id", whole: true, optional: 1 }], rows);
    return exitCodes.ok;
  },
});

const removeCommand = command({
  name: "remove",
  summary: "Remove a person's role; with the last one in an organization, personal keys are revoked",
  arguments: [personArgument],
  options: placeOptions,
  async run({ values, positionals, json, io }) {
    const removed = await withAdminApi(values, io, async (api) => {
      const { organization_id, project_id } = await placeOf(api, values);
      const person_id = await api.personId(positionals[0]!);
      const all = await api.list<Membership>("/memberships", { organization_id, person_id });
      // What a provider keeps would come back.
      const own = all.find((each) => each.project_id === project_id && each.source === "admin");
      if (own === undefined) {
        const others = all.map(({ id, source }) => `${id} (${source})`).join(", ");
        throw new CliError(
          `${positionals[0]} has no such role that was set with sounding member; the person's memberships: ${others || "none"}`,
          exitCodes.notFound,
        );
      }
      return await api.call<Membership>("DELETE", `/memberships/${own.id}`);
    });
    return await writeResult(io, { json, values }, removed);
  },
});

export const memberCommand = command({
  name: "member",
  summary: "Manage the roles of people in organizations and projects",
  subcommands: [setCommand, listCommand, removeCommand],
});
