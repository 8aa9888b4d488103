/** The whole server in this process, on a free port, with a test's configuration and a fresh data directory. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startApp } from "../../packages/server/src/app.ts";
import { loadConfig } from "../../packages/server/src/config/load-config.ts";
import { formatProblem } from "../../packages/server/src/config/problem.ts";
import { createLogger } from "../../packages/server/src/logger.ts";
import { copyInitializedStore } from "../../packages/server/test/store/initialized-store.ts";

export interface RunningServer extends AsyncDisposable {
  readonly url: string;
  readonly dataDirectory: string;
  /** An ordinary key: inference and telemetry. */
  readonly key: string;
  readonly operatorKey: string;
  /** Sends JSON with the ordinary key; GET if there is no body. */
  call(path: string, body?: unknown, headers?: Record<string, string>): Promise<Response>;
}

export interface ServerOptions {
  /** Whether the server stores telemetry, which takes a second to start; false if absent. */
  readonly telemetry?: boolean;
  /** The content of a configuration file of the embedded store's engine, which overrides the store's own. */
  readonly engineConfiguration?: string;
  /** Receives the server's warnings and errors; absent: nobody does. */
  readonly log?: NodeJS.WritableStream;
}

/** Waits until the server's telemetry store accepts rows and answers queries. */
export async function untilTelemetryReady({ url }: Pick<RunningServer, "url">): Promise<void> {
  for (;;) {
    const { checks } = (await (await fetch(`${url}/readyz`)).json()) as { checks: Record<string, string> };
    if (checks["telemetry_store"] === "ok") return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** @param yaml the configuration, except the port, the data directory and `telemetry.enabled` */
export async function startServer(
  yaml = "",
  { telemetry = false, engineConfiguration, log }: ServerOptions = {},
): Promise<RunningServer> {
  const directory = await mkdtemp(join(tmpdir(), "sounding-test-"));
  const path = join(directory, "sounding.yaml");
  await writeFile(path, yaml);
  const dataDirectory = join(directory, "data");
  if (telemetry) await copyInitializedStore(dataDirectory);
  if (engineConfiguration !== undefined) {
    // The engine merges the files of this folder into `clickhouse.xml`.
    await mkdir(join(dataDirectory, "telemetry/clickhouse.d"));
    await writeFile(join(dataDirectory, "telemetry/clickhouse.d/more.xml"), engineConfiguration);
  }
  const overrides = {
    server: { port: 0 },
    // The store's folder is there before the database is.
    storage: { data_dir: dataDirectory, accept_empty_database: true },
    telemetry: { enabled: telemetry },
  };
  const { config, problems } = await loadConfig({ path, env: {}, overrides });
  if (config === undefined) throw new Error(problems.map(formatProblem).join("\n"));
  const logger = log === undefined ? createLogger("silent") : createLogger("warn", { destination: log });
  const app = await startApp({ config, logger, version: "0.0.0-test" });
  const url = `http://127.0.0.1:${app.port}`;
  const { key, operatorKey } = app.firstStart!;
  return {
    url,
    key,
    operatorKey: operatorKey!,
    dataDirectory,
    call: (path, body, headers = {}) =>
      fetch(`${url}${path}`, {
        method: body === undefined ? "GET" : "POST",
        ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
      }),
    async [Symbol.asyncDispose]() {
      await app.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
