/** Sounding's server with an embedded store, as the benchmark asks it. */
import { startMeasuredServer } from "../telemetry/server.ts";
import { tableSizes } from "../telemetry/store-alone.ts";
import type { LogServer } from "./log-server.ts";

export async function startSounding(): Promise<LogServer> {
  const server = await startMeasuredServer();
  return {
    name: "Sounding",
    send: (body) => server.send("/v1/logs", body),
    get: (path) => server.get(path),
    cpuMicros: () => server.cpuMicros(),
    untilSettled: () => server.untilSummed(),
    async storedBytes() {
      await server.stop();
      return (await tableSizes(server.directory)).get("logs")?.bytes ?? 0;
    },
    memoryBytes() {
      const bytes = server.residentBytes();
      return bytes.server + bytes.store;
    },
    async stop() {
      await server.stop();
      server.removeFolder();
    },
  };
}
