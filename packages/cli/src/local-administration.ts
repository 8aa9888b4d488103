/** The admin API on this machine's control database, without a server. It opens the database when it is first needed. */
import { stat } from "node:fs/promises";
import { userInfo } from "node:os";
import { join } from "node:path";
import { CliError } from "./cli-error.ts";
import type { CommandIo } from "./command.ts";
import { exitCodes } from "./exit-codes.ts";

/** Sends one request to the admin API; fails with an error that carries `status` or `code`. */
export type AdminRequest = (method: string, path: string, body?: unknown) => Promise<unknown>;

export interface LocalAdministration extends AsyncDisposable {
  /** Which database it is, for people. */
  readonly place: string;
  readonly request: AdminRequest;
}

/** @throws CliError if the configuration is invalid */
export async function openLocalAdministration(
  configPath: string | undefined,
  io: CommandIo,
): Promise<LocalAdministration> {
  const { formatProblem, loadConfig, openAdministration } = await import("@sounding/server");
  const { config, problems } = await loadConfig({ path: configPath, env: io.env });
  if (config === undefined) {
    const lines = problems.map(formatProblem).join(" ");
    throw new CliError(`the configuration is invalid: ${lines}`, exitCodes.configuration);
  }
  const { database_url: url, data_dir: dataDirectory, accept_empty_database: acceptEmptyDatabase } = config.storage;
  const file = join(dataDirectory, "control.sqlite");
  let opened: ReturnType<typeof openAdministration> | undefined;
  return {
    place: url === undefined ? `the control database ${file}` : "the control database of storage.database_url",
    async request(method, path, body) {
      if (method === "GET" && url === undefined && !(await exists(file))) throw noDatabase(file);
      opened ??= openAdministration({
        url,
        dataDirectory,
        acceptEmptyDatabase,
        limits: config.limits,
        user: currentUser(),
        currency: config.telemetry.currency,
        address: { publicUrl: config.server.public_url, url: `http://127.0.0.1:${config.server.port}` },
      });
      return await (await opened).request(method, path, body);
    },
    async [Symbol.asyncDispose]() {
      const administration = await opened?.catch(() => undefined);
      await administration?.close();
    },
  };
}

/** Undefined in a container whose user has no name. */
function currentUser(): string | undefined {
  try {
    return userInfo().username;
  } catch {
    return undefined;
  }
}

async function exists(file: string): Promise<boolean> {
  return await stat(file).then(
    () => true,
    () => false,
  );
}

/** Reading creates nothing. */
function noDatabase(file: string): CliError {
  return new CliError(
    `the control database ${file} does not exist yet, so no organization exists yet; start the server with \`sounding serve\`, create an organization with \`sounding org create "my organization"\`, or name a server with --url`,
    exitCodes.notFound,
  );
}
