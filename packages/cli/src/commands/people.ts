/** `sounding people`: the people who can sign in. */
import {
  connectionOptions,
  organizationOption,
  withAdminApi,
  type AdminApi,
  type AdminObject,
} from "../administration.ts";
import { withoutUndefined } from "../admin-options.ts";
import { showTime, writeResult } from "../admin-output.ts";
import { command, type CommandIo, type Options } from "../command.ts";
import { exitCodes } from "../exit-codes.ts";
import { oneLine, writeJson, writeLine } from "../output.ts";
import { writeTable } from "../terminal/table.ts";
import { timeOptions, type TimeOptions } from "../terminal/times.ts";

interface Person extends AdminObject {
  readonly email: string;
  readonly operator: boolean;
  readonly memberships: readonly { readonly role: string; readonly project_id: string | null }[];
  readonly disabled_at: number | null;
  readonly last_used_at: number | null;
}

const personArgument = { name: "person", description: "Mail address or ID of the person.", required: true };
const whichOptions = { ...timeOptions, ...connectionOptions } as const satisfies Options;

async function writePerson(
  io: CommandIo,
  { json, values }: { json: boolean; values: TimeOptions },
  person: Person,
): Promise<number> {
  const { memberships, ...rest } = person;
  const shown = json ? person : { ...rest, roles: memberships.map(({ role }) => role) };
  return await writeResult(io, { json, values }, shown);
}

const emailArgument = { name: "email", description: "Mail address of the person.", required: true };
const newPersonOptions = {
  role: { type: "string", value: "NAME", description: "The person's role. Default: member." },
  name: { type: "string", value: "NAME", description: "The person's name. Default: the address before the @." },
  project: { type: "string", short: "p", value: "NAME", description: "Limit the role to this project." },
  operator: { type: "boolean", description: "Let the person administer all organizations." },
  ...organizationOption,
  ...whichOptions,
} as const satisfies Options;

interface NewPersonValues {
  readonly role?: string | undefined;
  readonly name?: string | undefined;
  readonly project?: string | undefined;
  readonly operator?: boolean | undefined;
  readonly organization?: string | undefined;
}

async function addPerson(api: AdminApi, email: string, values: NewPersonValues): Promise<Person> {
  const organization_id = await api.organizationId(values.organization);
  const project_id = values.project === undefined ? undefined : await api.projectId(values.project, organization_id);
  const { name, operator, role = "member" } = values;
  const members = { email, name, organization_id, project_id, role, operator };
  return await api.call<Person>("POST", "/people", withoutUndefined(members));
}

const addCommand = command({
  name: "add",
  summary: "Add a person with a role",
  description: "A person with the address who exists gets the role, and keeps the name.",
  arguments: [emailArgument],
  options: newPersonOptions,
  examples: [
    ["sounding people add ada@example.com -o acme --role owner", "Add the owner of an organization."],
    [
      "sounding people add bob@example.com -o acme --role viewer -p support-bot",
      "Add a person who may look at one project.",
    ],
  ],
  async run({ values, positionals, json, io }) {
    const added = await withAdminApi(values, io, (api) => addPerson(api, positionals[0]!, values));
    return await writePerson(io, { json, values }, added);
  },
});

interface AccountLink {
  readonly email: string;
  readonly url: string;
  readonly expires_at: number;
}

async function writeLink(
  io: CommandIo,
  { json, values }: { json: boolean; values: TimeOptions },
  link: AccountLink,
): Promise<number> {
  if (json) {
    await writeJson(io.stdout, link);
  } else {
    const until = showTime(link.expires_at, values);
    await writeLine(io.stderr, `Give this link to ${oneLine(link.email)}. It works once, until ${until}:`);
    await writeLine(io.stdout, link.url);
  }
  return exitCodes.ok;
}

const inviteCommand = command({
  name: "invite",
  summary: "Add a person with a role, and print a link with which they choose a password",
  description: "Requires an operator's key. Anyone who has the link becomes the person.",
  arguments: [emailArgument],
  options: newPersonOptions,
  examples: [["sounding people invite ada@example.com -o acme --role owner", "Invite the owner of an organization."]],
  async run({ values, positionals, json, io }) {
    const link = await withAdminApi(values, io, async (api) => {
      const { id } = await addPerson(api, positionals[0]!, values);
      return await api.call<AccountLink>("POST", `/people/${id}/account_link`);
    });
    return await writeLink(io, { json, values }, link);
  },
});

const resetCommand = command({
  name: "reset",
  summary: "Print a link with which a person chooses a new password",
  description:
    "Requires an operator's key. When the link is used, the old password, one-time codes and sessions end. Until then, they work.",
  arguments: [personArgument],
  options: whichOptions,
  async run({ values, positionals, json, io }) {
    const link = await withAdminApi(values, io, async (api) =>
      api.call<AccountLink>("POST", `/people/${await api.personId(positionals[0]!)}/account_link`),
    );
    return await writeLink(io, { json, values }, link);
  },
});

const listCommand = command({
  name: "list",
  summary: "List people with their roles",
  options: {
    disabled: { type: "boolean", description: "Include people who are disabled." },
    ...organizationOption,
    ...whichOptions,
  },
  async run({ values, json, io }) {
    const { people, roles } = await withAdminApi(values, io, async (api) => ({
      people: await api.list<Person>("/people", {
        organization_id: values.organization,
        include_disabled: values.disabled,
      }),
      roles: new Map((await api.list<AdminObject>("/roles", {})).map(({ id, name }) => [id, name])),
    }));
    if (json) {
      await writeJson(io.stdout, people);
      return exitCodes.ok;
    }
    const rows = people.map((each) => [
      each.email,
      each.name,
      [
        ...(each.operator ? ["operator"] : []),
        ...each.memberships.map(
          ({ project_id: project, role }) => `${roles.get(role) ?? role}${project === null ? "" : " (project)"}`,
        ),
      ].join(", "),
      showTime(each.last_used_at, values),
      ...(values.disabled === true ? [showTime(each.disabled_at, values)] : []),
      each.id,
    ]);
    const columns = [
      "email",
      "name",
      "roles",
      { title: "last used", whole: true, optional: 2 },
      ...(values.disabled === true ? [{ title: "disabled", whole: true }] : []),
      { title: "id", whole: true, optional: 1 },
    ];
    await writeTable(io, columns, rows);
    return exitCodes.ok;
  },
});

const showCommand = command({
  name: "show",
  summary: "Show a person",
  arguments: [personArgument],
  options: whichOptions,
  async run({ values, positionals, json, io }) {
    const shown = await withAdminApi(values, io, async (api) =>
      api.call<Person>("GET", `/people/${await api.personId(positionals[0]!)}`),
    );
    return await writePerson(io, { json, values }, shown);
  },
});

/** A command that sets whether a person is disabled. */
function changeCommand(name: "disable" | "enable", summary: string) {
  return command({
    name,
    summary,
    arguments: [personArgument],
    options: whichOptions,
    async run({ values, positionals, json, io }) {
      const changed = await withAdminApi(values, io, async (api) =>
        api.call<Person>("PATCH", `/people/${await api.personId(positionals[0]!)}`, { disabled: name === "disable" }),
      );
      return await writePerson(io, { json, values }, changed);
    },
  });
}

export const peopleCommand = command({
  name: "people",
  summary: "Manage the people who can sign in",
  subcommands: [
    addCommand,
    inviteCommand,
    resetCommand,
    listCommand,
    showCommand,
    changeCommand("disable", "Disable a person: ends sessions and revokes personal keys for good"),
    changeCommand("enable", "Let a person who is disabled sign in again"),
  ],
});
