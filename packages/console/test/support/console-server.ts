/** A real server for tests of the console, with telemetry and, if wanted, the sample telemetry of `sounding demo`. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { startServer, untilTelemetryReady, type RunningServer } from "../../../../test/support/running-server.ts";

export type { RunningServer } from "../../../../test/support/running-server.ts";

const command = join(fileURLToPath(new URL("../../../..", import.meta.url)), "packages/cli/bin/sounding.js");

/** @param yaml the configuration, except the port and the data directory */
export async function startConsoleServer(yaml = "", { telemetry = true } = {}): Promise<RunningServer> {
  const server = await startServer(yaml, { telemetry });
  if (telemetry) await untilTelemetryReady(server);
  return server;
}

/** Sends an hour of sample telemetry to the project `demo`, like `sounding demo`. */
export async function sendDemo({ url, key }: Pick<RunningServer, "url" | "key">): Promise<void> {
  await promisify(execFile)(process.execPath, [command, "demo"], {
    env: { PATH: process.env["PATH"], SOUNDING_BASE_URL: url, SOUNDING_API_KEY: key },
  });
}

/** A request to the admin API with the operator's key. */
export async function administer<Value>(
  { url, operatorKey }: Pick<RunningServer, "url" | "operatorKey">,
  path: string,
  body: object,
): Promise<Value> {
  const response = await fetch(`${url}/admin/v1/${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${operatorKey}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as Value;
}
