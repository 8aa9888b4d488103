/**
 * A private Postgres for one test file: with its data in a temporary directory, listening on a Unix socket there and, unless a
 * test asks for an address, nowhere else. Postgres refuses to run as root, so root hands it to the user `postgres` or `nobody`.
 */
import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, chmodSync, chownSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Client } from "pg";
import { copyInitializedPostgres } from "./initialized-postgres.ts";
import { postgresFolder } from "../../../../test/support/needs.ts";

const run = promisify(execFile);

/** Disposal stops it and removes its directory. */
export interface PostgresServer extends AsyncDisposable {
  /** The URL of a new database: empty, or a copy of another one of this server to which nothing is connected. */
  newDatabase(template?: string): Promise<string>;
  /** Of its first process; undefined before the first start. */
  readonly pid: number | undefined;
  stop(): Promise<void>;
  start(): Promise<void>;
}

const binaries = postgresFolder();

async function unprivileged(): Promise<{ uid: number; gid: number } | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  for (const user of ["postgres", "nobody"]) {
    try {
      const [uid, gid] = await Promise.all(["-u", "-g"].map(async (flag) => run("id", [flag, user])));
      return { uid: Number(uid!.stdout), gid: Number(gid!.stdout) };
    } catch {
      // This user does not exist; the next may.
    }
  }
  throw new Error("Postgres refuses to run as root, and there is no user postgres or nobody");
}

interface PostgresOptions {
  /** Also listens here, and accepts every user of the address's /24 network. */
  readonly address?: string;
  /** What runs the server as root, such as a command that enters a network namespace. */
  readonly prefix?: readonly string[];
}

export async function startPostgres({ address, prefix = [] }: PostgresOptions = {}): Promise<PostgresServer> {
  const directory = mkdtempSync(join(tmpdir(), "sounding-pg-"));
  const data = join(directory, "data");
  const user = await unprivileged();
  if (user !== undefined) chownSync(directory, user.uid, user.gid);
  chmodSync(directory, 0o700);
  const options = { cwd: directory, ...user };
  await copyInitializedPostgres({ binaries: binaries!, data, user });
  if (address !== undefined) appendFileSync(join(data, "pg_hba.conf"), `host all all ${address}/24 trust\n`);
  let server: ChildProcess | undefined;
  let databases = 0;
  const localUrl = (name: string) => `postgres://sounding@/${name}?host=${encodeURIComponent(directory)}`;
  const url = (name: string) =>
    address === undefined ? localUrl(name) : `postgres://sounding@${address}:5432/${name}`;

  async function start(): Promise<void> {
    const settings = [
      `listen_addresses=${address ?? ""}`,
      `unix_socket_directories=${directory}`,
      "fsync=off",
      "max_connections=60",
    ];
    const flags = ["-D", data, ...settings.flatMap((setting) => ["-c", setting])];
    const identity =
      user === undefined ? [] : ["setpriv", `--reuid=${user.uid}`, `--regid=${user.gid}`, "--clear-groups"];
    const [program, ...args] = [
      ...(prefix.length === 0 ? [] : [...prefix, ...identity]),
      join(binaries!, "postgres"),
      ...flags,
    ];
    server = spawn(program!, args, { ...(prefix.length === 0 ? options : { cwd: directory }), stdio: "ignore" });
    await untilItAnswers(localUrl("postgres"), server);
  }

  async function stop(): Promise<void> {
    if (server === undefined || server.exitCode !== null) return;
    const exited = once(server, "exit");
    // Fast shutdown: ends the sessions. https://www.postgresql.org/docs/current/server-shutdown.html
    server.kill("SIGINT");
    await exited;
  }

  await start();
  return {
    start,
    stop,
    get pid() {
      return server?.pid;
    },
    async newDatabase(template) {
      databases += 1;
      const name = `test_${databases}`;
      // A URL without a host is not one to `URL`.
      const copied = template === undefined ? "" : ` template ${/\w+(?=\?|$)/.exec(template)![0]}`;
      await query(localUrl("postgres"), `create database ${name}${copied}`);
      return url(name);
    },
    async [Symbol.asyncDispose]() {
      await stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function query(url: string, text: string): Promise<void> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 5000 });
  client.on("error", () => {});
  try {
    await client.connect();
    await client.query(text);
  } finally {
    await client.end();
  }
}

async function untilItAnswers(url: string, server: ChildProcess): Promise<void> {
  const deadlineMs = Date.now() + 60_000;
  for (;;) {
    try {
      await query(url, "select 1");
      return;
    } catch (error) {
      if (server.exitCode !== null || Date.now() > deadlineMs) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}
