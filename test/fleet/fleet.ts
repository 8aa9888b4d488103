/**
 * A fleet for tests: servers as processes, each with a data directory of its own, which share a Postgres and a telemetry store
 * that stands in for ClickHouse. Their model "echo" is an upstream of the test.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { remotePassword, startRemoteServer } from "../../packages/server/test/store/remote-server.ts";
import { startScriptedUpstream, type ScriptedExchange } from "../../packages/server/test/support/scripted-upstream.ts";
import { startPostgres } from "../../packages/server/test/tenancy/postgres-server.ts";
import { childEnvironment } from "../support/child-environment.ts";
import { command } from "../support/command.ts";

export const operatorKey = "sk-operator-of-the-fleet-in-the-tests-00";

export interface FleetServer extends AsyncDisposable {
  readonly child: ChildProcess;
  readonly url: string;
  readonly dataDirectory: string;
  /** The key for inference and telemetry, if this server's start created it. */
  readonly firstKey: string | undefined;
  /** The log so far. */
  log(): string;
  /** Resolves when the log has the text. */
  untilLogged(text: string): Promise<void>;
  /** Ends it with the signal, SIGTERM if absent, and resolves to its exit code. */
  end(signal?: NodeJS.Signals): Promise<number | null>;
}

export interface ServeOptions {
  /** The repository of the version to run; absent: this one. */
  readonly version?: string;
  /** Settings as environment variables, beside those of the fleet. */
  readonly env?: Readonly<Record<string, string>>;
  /** Absent: any free port. */
  readonly port?: number;
  /** A folder that a server of the fleet has used; absent: a new one. */
  readonly data?: string;
  /** What runs the server, such as a command that enters a network namespace. */
  readonly prefix?: readonly string[];
}

export interface Fleet extends AsyncDisposable {
  /** Settings of every server, as environment variables. */
  readonly env: Readonly<Record<string, string>>;
  /** Resolves when the server accepts requests and its telemetry is ready. */
  serve(options?: ServeOptions): Promise<FleetServer>;
}

/** The answer of the model "echo". */
export function answerEcho(exchange: ScriptedExchange): void {
  const message = { role: "assistant", content: "Hello from the fleet." };
  exchange.answer({
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1,
    model: "echo",
    choices: [{ index: 0, message, finish_reason: "stop" }],
    usage: { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 },
  });
}

export function configurationFor(upstreamUrl: string): string {
  return `engines: { upstream: { type: openai_compatible, base_url: "${upstreamUrl}/v1" } }
models: { echo: { targets: [{ engine: upstream, model: echo }] } }
discovery: { enabled: false }
server: { shutdown_timeout_ms: 20000 }
`;
}

/** Starts the shared services, and no server yet. */
export async function startFleet(): Promise<Fleet> {
  await using starting = new AsyncDisposableStack();
  const postgres = starting.use(await startPostgres());
  const store = starting.use(await startRemoteServer());
  const upstream = starting.use(await startScriptedUpstream(answerEcho));
  const directory = await mkdtemp(join(tmpdir(), "sounding-fleet-"));
  starting.defer(() => rm(directory, { recursive: true, force: true }));
  const config = join(directory, "sounding.yaml");
  await writeFile(config, configurationFor(upstream.url));
  const env = {
    SOUNDING_CONFIG: config,
    DATABASE_URL: await postgres.newDatabase(),
    SOUNDING_CLICKHOUSE_URL: store.url,
    SOUNDING_CLICKHOUSE_USER: "sounding",
    SOUNDING_CLICKHOUSE_PASSWORD: remotePassword,
    SOUNDING_ADMIN_KEY: operatorKey,
  };
  const services = starting.move();
  let servers = 0;
  return {
    env,
    async serve(options = {}) {
      servers += 1;
      const data = options.data ?? join(directory, `server-${servers}`);
      return serveMember({ ...options, data, env: { ...env, ...options.env } });
    },
    [Symbol.asyncDispose]: () => services.disposeAsync(),
  };
}

export async function serveMember(options: ServeOptions & { readonly data: string }): Promise<FleetServer> {
  const { data, port = 0, prefix = [], version } = options;
  await mkdir(data, { recursive: true });
  const script = version === undefined ? command : join(version, "packages/cli/bin/sounding.js");
  const serve = [process.execPath, script, "serve", "--json", "--port", String(port), "--data-dir", data];
  const [program, ...args] = [...prefix, ...serve];
  const child = spawn(program!, args, {
    cwd: data,
    env: {
      ...childEnvironment,
      SOUNDING_INSTALL: "false",
      ...options.env,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const output = { stdout: "", stderr: "" };
  child.stdout.on("data", (bytes: Buffer) => (output.stdout += bytes.toString()));
  child.stderr.on("data", (bytes: Buffer) => (output.stderr += bytes.toString()));
  const exited = once(child, "exit") as Promise<[number | null]>;
  const failed = exited.then(([code]): never => {
    throw new Error(`The server ended with code ${code}: ${output.stderr}`);
  });
  failed.catch(() => {});
  while (!output.stdout.includes("\n")) await Promise.race([once(child.stdout, "data"), failed]);
  const { url, firstStart } = JSON.parse(output.stdout) as { url: string; firstStart?: { key: string } };
  const end: FleetServer["end"] = async (signal = "SIGTERM") => {
    child.kill(signal);
    return (await exited)[0];
  };
  return {
    child,
    url,
    dataDirectory: data,
    firstKey: firstStart?.key,
    log: () => output.stderr,
    async untilLogged(text) {
      while (!output.stderr.includes(text)) await Promise.race([once(child.stderr, "data"), failed]);
    },
    end,
    [Symbol.asyncDispose]: async () => void (await end("SIGKILL")),
  };
}

/** Creates a key for inference and telemetry in the default organization. */
export async function createKey({ url }: Pick<FleetServer, "url">): Promise<string> {
  const headers = { authorization: `Bearer ${operatorKey}`, "content-type": "application/json" };
  const body = JSON.stringify({ name: "test" });
  const response = await fetch(`${url}/admin/v1/keys`, { method: "POST", headers, body });
  const created = (await response.json()) as { secret?: string };
  if (created.secret === undefined) throw new Error(`No key was created: ${JSON.stringify(created)}`);
  return created.secret;
}

export function chat(url: string, key: string, fields: object = {}): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "echo", messages: [{ role: "user", content: "Hello" }], ...fields }),
  });
}
