/** A real server for tests of the console, with telemetry and, if wanted, the sample telemetry of `sounding demo`. */
import assert from "node:assert/strict";
import { runInProcess } from "../../../cli/test/run-sounding.ts";
import { startServer, untilTelemetryReady, type RunningServer } from "../../../../test/support/running-server.ts";

export type { RunningServer } from "../../../../test/support/running-server.ts";

/** @param yaml the configuration, except the port and the data directory */
export async function startConsoleServer(yaml = "", { telemetry = true } = {}): Promise<RunningServer> {
  const server = await startServer(yaml, { telemetry });
  if (telemetry) await untilTelemetryReady(server);
  return server;
}

/** Sends an hour of sample telemetry to the project `demo`, like `sounding demo`; each time the same. */
export async function sendDemo({ url, key }: Pick<RunningServer, "url" | "key">): Promise<void> {
  const { code, stderr } = await runInProcess(["demo", "--seed", "7"], {
    env: { SOUNDING_BASE_URL: url, SOUNDING_API_KEY: key },
  });
  assert.equal(code, 0, stderr);
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
