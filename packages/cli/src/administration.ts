/** Connects `sounding org`, `project` and `key` to this machine's control database, or to a server's admin API. */
import { CliError, UsageError } from "./cli-error.ts";
import type { CommandIo } from "./command.ts";
import { exitCodes } from "./exit-codes.ts";

export const connectionOptions = {
  config: {
    type: "string",
    short: "c",
    value: "FILE",
    description: "Configuration file that names the database. Default: SOUNDING_CONFIG, or sounding.yaml.",
  },
  url: {
    type: "string",
    value: "URL",
    description: "Administer the server at this address, with the key in SOUNDING_ADMIN_KEY, instead of the database.",
  },
} as const;

export const organizationOption = {
  organization: {
    type: "string",
    short: "o",
    value: "NAME",
    description: "Name or ID of the organization; required only if there are several.",
  },
} as const;

interface ConnectionValues {
  readonly config?: string | undefined;
  readonly url?: string | undefined;
}

/** Sends one request to the admin API; fails with an error that carries `status` or `code`. */
type Request = (method: string, path: string, body?: unknown) => Promise<unknown>;

/** The members that all objects of the admin API share. */
export interface AdminObject {
  readonly id: string;
  readonly name: string;
}

export class AdminApi {
  readonly #request: Request;

  constructor(request: Request) {
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
  return /^(org|proj|key)_[0-9a-f]{32}$/.test(text);
}

/** Runs the work with the admin API that the options select, and closes it afterwards. */
export async function withAdminApi<Result>(
  values: ConnectionValues,
  io: CommandIo,
  work: (api: AdminApi) => Promise<Result>,
): Promise<Result> {
  if (values.url !== undefined) return await work(new AdminApi(remoteRequest(values.url, io)));
  const { formatProblem, loadConfig, openAdministration } = await import("@sounding/server");
  const { config, problems } = await loadConfig({ path: values.config, env: io.env });
  if (config === undefined) {
    const lines = problems.map(formatProblem).join(" ");
    throw new CliError(`the configuration is invalid: ${lines}`, exitCodes.configuration);
  }
  const { database_url: url, data_dir: dataDirectory, accept_empty_database: acceptEmptyDatabase } = config.storage;
  const administration = await openAdministration({ url, dataDirectory, acceptEmptyDatabase });
  try {
    return await work(new AdminApi((...request) => administration.request(...request)));
  } finally {
    await administration.close();
  }
}

const requestTimeoutMs = 30_000;

function remoteRequest(url: string, io: CommandIo): Request {
  const key = io.env["SOUNDING_ADMIN_KEY"] ?? "";
  if (key === "") throw new UsageError("--url requires a key with the permission admin in SOUNDING_ADMIN_KEY");
  if (!URL.canParse(url) || !/^https?:/.test(url)) {
    throw new UsageError(`--url is ${JSON.stringify(url)}; it must be an address such as https://sounding.example.com`);
  }
  return async (method, path, body) => {
    const signal = AbortSignal.any([io.signal, AbortSignal.timeout(requestTimeoutMs)]);
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    try {
      const response = await fetch(`${url.replace(/\/+$/, "")}${path}`, { method, headers, signal, ...sent });
      return await readAnswer(response, url);
    } catch (error) {
      if (error instanceof RemoteError || io.signal.aborted) throw error;
      if (error instanceof Error && error.name === "TimeoutError") {
        throw new CliError(`${url} did not respond within ${requestTimeoutMs / 1000} seconds`, exitCodes.timeout);
      }
      throw new CliError(`${url} could not be reached`, exitCodes.unreachable, { cause: error });
    }
  };
}

/** The server's own error; `status` decides the exit code. */
class RemoteError extends Error {
  override readonly name = "RemoteError";
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

async function readAnswer(response: Response, url: string): Promise<unknown> {
  const text = await response.text();
  let answer: { error?: { message?: string } };
  try {
    answer = JSON.parse(text) as typeof answer;
  } catch {
    throw new RemoteError(
      response.status,
      `${url} responded with status ${response.status} and without JSON; is it Sounding?`,
    );
  }
  if (response.ok) return answer;
  throw new RemoteError(response.status, answer.error?.message ?? `${url} responded with status ${response.status}`);
}
