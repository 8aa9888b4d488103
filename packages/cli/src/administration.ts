/** Connects `sounding org`, `project`, `key`, `people`, `member`, `role` and `budget` to a server's admin API, or to this machine's control database. */
import { CliError, UsageError } from "./cli-error.ts";
import type { CommandIo, OptionValues, Options } from "./command.ts";
import { findConnection, serverOptions } from "./connection.ts";
import { exitCodes } from "./exit-codes.ts";
import { openLocalAdministration, type AdminRequest } from "./local-administration.ts";
import { writeLine } from "./output.ts";
import { sendRequest } from "./remote-request.ts";

export const connectionOptions = {
  url: {
    type: "string",
    value: "URL",
    description: "The server to administer. Default: SOUNDING_BASE_URL, or the profile's server.",
  },
  "key-file": {
    type: "string",
    value: "FILE",
    description: "A file with a key that has the permission admin. Default: SOUNDING_ADMIN_KEY, or the profile's key.",
  },
  profile: serverOptions.profile,
  local: {
    type: "boolean",
    description:
      "Open this machine's control database instead of calling a server. Default if neither an option, the environment nor a profile names a server.",
  },
  config: {
    type: "string",
    short: "c",
    value: "FILE",
    description:
      "Configuration file that names the control database; implies --local. Default: SOUNDING_CONFIG, or sounding.yaml.",
  },
} as const satisfies Options;

export const organizationOption = {
  organization: {
    type: "string",
    short: "o",
    value: "NAME",
    description: "Name or ID of the organization; required only if there are several.",
  },
} as const;

type ConnectionValues = Partial<OptionValues<typeof connectionOptions>>;

/** The members that all objects of the admin API share. */
export interface AdminObject {
  readonly id: string;
  readonly name: string;
}

export class AdminApi {
  readonly #request: AdminRequest;

  constructor(request: AdminRequest) {
    this.#request = request;
  }

  /** `path` is relative to `/admin/v1`. The caller gives the type of the response, as the admin API describes it. */
  async call<Answer>(method: string, path: string, body?: unknown): Promise<Answer> {
    return (await this.#request(method, `/admin/v1${path}`, body)) as Answer;
  }

  /** All items of a list, page by page. Undefined filters are omitted. */
  async list<Item>(path: string, filters: Readonly<Record<string, string | boolean | undefined>>): Promise<Item[]> {
    const items: Item[] = [];
    let after: string | null = null;
    do {
      const query = new URLSearchParams({ limit: "100" });
      for (const [name, value] of Object.entries(filters)) if (value !== undefined) query.set(name, String(value));
      if (after !== null) query.set("after", after);
      const page: { data: Item[]; has_more: boolean; last_id: string | null } = await this.call(
        "GET",
        `${path}?${query.toString()}`,
      );
      items.push(...page.data);
      after = page.has_more ? page.last_id : null;
    } while (after !== null);
    return items;
  }

  /** The organization's ID by its name or ID; if neither is given, the only existing one. */
  async organizationId(nameOrId: string | undefined): Promise<string> {
    if (nameOrId !== undefined) return await this.#idOf("organization", nameOrId, "/organizations", {});
    const all = await this.list<AdminObject>("/organizations", {});
    if (all.length === 1) return all[0]!.id;
    throw new UsageError(
      all.length === 0
        ? 'no organization exists yet; create one with `sounding org create "my organization"`'
        : `--organization is missing; it must be one of ${all.map(({ name }) => JSON.stringify(name)).join(", ")}`,
    );
  }

  /** The name of each organization, archived ones included, by ID. */
  async organizationNames(): Promise<ReadonlyMap<string, string>> {
    const all = await this.list<AdminObject>("/organizations", { include_archived: true });
    return new Map(all.map(({ id, name }) => [id, name]));
  }

  /** The project's ID by its ID, or by its name in the organization. */
  async projectId(nameOrId: string, organization: string | undefined): Promise<string> {
    if (isId(nameOrId)) return nameOrId;
    return await this.#idOf("project", nameOrId, "/projects", {
      organization_id: await this.organizationId(organization),
    });
  }

  /**
   * The key's ID by its ID, or by its name among the keys that are not revoked.
   * @throws UsageError that lists the keys if several have the name
   */
  async keyId(nameOrId: string, organization: string | undefined): Promise<string> {
    if (isId(nameOrId)) return nameOrId;
    const filters = {
      name: nameOrId,
      organization_id: organization === undefined ? undefined : await this.organizationId(organization),
    };
    const found = await this.list<AdminObject & { organization_id: string; redacted_secret: string }>("/keys", filters);
    if (found.length === 1) return found[0]!.id;
    if (found.length === 0) {
      throw new CliError(
        `the key ${JSON.stringify(nameOrId)} does not exist; \`sounding key list\` shows all keys`,
        exitCodes.notFound,
      );
    }
    const names = await this.organizationNames();
    const list = found.map(
      (key) => `${key.id} (${key.redacted_secret}, ${names.get(key.organization_id) ?? key.organization_id})`,
    );
    throw new UsageError(`${found.length} keys are named ${JSON.stringify(nameOrId)}; use an ID: ${list.join(", ")}`);
  }

  /** The person's ID by their ID or mail address. */
  async personId(emailOrId: string): Promise<string> {
    if (isId(emailOrId)) return emailOrId;
    const email = emailOrId.toLowerCase();
    const found = await this.list<AdminObject & { email: string }>("/people", {
      search: email,
      include_disabled: true,
    });
    const person = found.find((each) => each.email === email);
    if (person !== undefined) return person.id;
    throw new CliError(
      `the person ${JSON.stringify(emailOrId)} does not exist; \`sounding people list\` shows all people`,
      exitCodes.notFound,
    );
  }

  /**
   * The budget's ID by its ID, or by its name.
   * @throws UsageError that lists the budgets if several organizations have one with the name
   */
  async budgetId(nameOrId: string, organization: string | undefined): Promise<string> {
    if (isId(nameOrId)) return nameOrId;
    const filters = {
      name: nameOrId,
      organization_id: organization === undefined ? undefined : await this.organizationId(organization),
    };
    const found = await this.list<AdminObject & { organization_id: string }>("/budgets", filters);
    if (found.length === 1) return found[0]!.id;
    if (found.length === 0) {
      throw new CliError(
        `the budget ${JSON.stringify(nameOrId)} does not exist; \`sounding budget list\` shows all budgets`,
        exitCodes.notFound,
      );
    }
    const names = await this.organizationNames();
    const list = found.map(({ id, organization_id }) => `${id} (${names.get(organization_id) ?? organization_id})`);
    throw new UsageError(
      `${found.length} budgets are named ${JSON.stringify(nameOrId)}; use --organization or an ID: ${list.join(", ")}`,
    );
  }

  async #idOf(kind: string, nameOrId: string, path: string, filters: Record<string, string>): Promise<string> {
    if (isId(nameOrId)) return nameOrId;
    const [found] = await this.list<AdminObject>(path, { ...filters, name: nameOrId });
    if (found === undefined) {
      throw new CliError(`the ${kind} ${JSON.stringify(nameOrId)} does not exist`, exitCodes.notFound);
    }
    return found.id;
  }
}

function isId(text: string): boolean {
  return /^(org|proj|key|pers|role|memb|bgt)_[0-9a-f]{32}$/.test(text);
}

/** Runs the work with the admin API that the options select, and closes it afterwards. */
export async function withAdminApi<Result>(
  values: ConnectionValues,
  io: CommandIo,
  work: (api: AdminApi) => Promise<Result>,
  { timeoutMs }: { readonly timeoutMs?: number } = {},
): Promise<Result> {
  const isLocal = values.local === true || values.config !== undefined;
  if (isLocal && values.url !== undefined) {
    throw new UsageError("--url calls a server, --local and --config open this machine's database; use one of them");
  }
  if (!isLocal) {
    const { url, operatorKey, apiKey } = await findConnection(values, io);
    if (url !== undefined) {
      const key = operatorKey ?? apiKey;
      if (key === undefined) {
        throw new CliError(
          `no key to administer ${url.value} (${url.source}): run \`sounding login\` with a key that has the permission admin, set SOUNDING_ADMIN_KEY, or use --local to open this machine's database`,
          exitCodes.denied,
        );
      }
      await say(io, `Using the admin API of ${url.value} (${url.source}) with the key from ${key.source}.`);
      const server = {
        url: url.value,
        key: key.value,
        signal: io.signal,
        ...(timeoutMs === undefined ? {} : { timeoutMs }),
        ifUnreachable: "Start the server, or use --local to open this machine's database.",
        ifDenied: "Set a key with the permission admin in SOUNDING_ADMIN_KEY, or run `sounding login`.",
      };
      return await work(new AdminApi((...request) => sendRequest(server, ...request)));
    }
  }
  await using local = await openLocalAdministration(values.config, io);
  await say(io, `Using ${local.place}.`);
  return await work(new AdminApi(local.request));
}

/** Where a command acts, for people; programs get only the result. */
async function say(io: CommandIo, line: string): Promise<void> {
  if (io.progress) await writeLine(io.stderr, line);
}
