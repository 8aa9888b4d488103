/** `sounding sessions`: lists and ends sessions, your own or those of an organization. */
import { command, type CommandIo, type OptionValues } from "../command.ts";
import { writeObject, showTime } from "../admin-output.ts";
import { readInteger } from "../admin-options.ts";
import { defaultUrl, findConnection, requireKey, serverOptions } from "../connection.ts";
import { exitCodes } from "../exit-codes.ts";
import { writeJson } from "../output.ts";
import { sendRequest } from "../remote-request.ts";
import { writeTable } from "../terminal/table.ts";
import { timeOptions } from "../terminal/times.ts";

interface SessionEntry {
  readonly id: string;
  readonly kind: string;
  readonly person: string | null;
  readonly key_name: string | null;
  readonly client: string | null;
  readonly address: string | null;
  readonly last_used_at: number;
  readonly expires_at: number;
  readonly current: boolean;
}

const options = {
  all: { type: "boolean", description: "Sessions of the whole organization; needs the permission admin." },
  ...serverOptions,
  ...timeOptions,
} as const;

type Values = Partial<OptionValues<typeof options>>;

const listCommand = command({
  name: "list",
  summary: "List your own sessions, or those of your organization",
  description:
    "Shows the newest sessions first: browsers in which you signed in, with keys or as a person, and terminals after `sounding login --device`. With --json: the list of the API.",
  options: {
    ...options,
    limit: { type: "string", short: "n", value: "COUNT", default: "50", description: "With --all: 1 to 100 sessions." },
  },
  examples: [
    ["sounding sessions", "Your own sessions."],
    ["sounding sessions list --all", "The sessions of your organization."],
  ],
  async run({ values, json, io }) {
    const query = `?limit=${readInteger("limit", values.limit) ?? 50}`;
    const path = values.all === true ? `/admin/v1/sessions${query}` : "/authentication/sessions";
    const list = (await request(values, io, "GET", path)) as { readonly data: readonly SessionEntry[] };
    if (json) await writeJson(io.stdout, list);
    else
      await writeTable(
        io,
        columns,
        list.data.map((entry) => [
          entry.current ? `${entry.id} (this one)` : entry.id,
          entry.person ?? entry.key_name ?? "-",
          entry.kind,
          entry.client ?? "-",
          entry.address ?? "-",
          showTime(entry.last_used_at, values),
        ]),
      );
    return exitCodes.ok;
  },
});

const columns = [
  { title: "session", whole: true },
  "who",
  "kind",
  { title: "client", optional: 1 },
  { title: "address", optional: 2 },
  "last used",
] as const;

const endCommand = command({
  name: "end",
  summary: "End a session",
  arguments: [{ name: "session", description: "The session's ID.", required: true }],
  options,
  examples: [["sounding sessions end sess_0193…", "End one of your own sessions."]],
  async run({ values, positionals, json, io }) {
    const root = values.all === true ? "/admin/v1/sessions" : "/authentication/sessions";
    const ended = (await request(values, io, "DELETE", `${root}/${encodeURIComponent(positionals[0]!)}`)) as object;
    if (json) await writeJson(io.stdout, ended);
    else await writeObject(io.stdout, ended, values);
    return exitCodes.ok;
  },
});

export const sessionsCommand = command({
  ...listCommand,
  name: "sessions",
  summary: "List and end sessions",
  subcommands: [listCommand, endCommand],
});

async function request(values: Values, io: CommandIo, method: string, path: string): Promise<unknown> {
  const connection = await findConnection(values, io);
  const { operatorKey } = connection;
  const isForAdministration = values.all === true && operatorKey !== undefined;
  const { key, url } = isForAdministration
    ? { key: operatorKey.value, url: connection.url?.value ?? defaultUrl }
    : requireKey(connection);
  const server = {
    url,
    key,
    signal: io.signal,
    ifUnreachable: "Is the server running? Start one with `sounding serve`, or set --url.",
    ifDenied: "Run `sounding login` again.",
  };
  return await sendRequest(server, method, path);
}
