/** This server with its embedded store. */
import { startMeasuredServer } from "../telemetry/server.ts";
import type { Contender } from "./contender.ts";

export async function startSounding(): Promise<Contender> {
  const server = await startMeasuredServer();
  return {
    name: "Sounding",
    send: (body) => server.send("/v1/traces", body),
    async ask(path) {
      const { status, text } = await server.get(`/tempo${path}`);
      if (status !== 200) throw new Error(`Sounding: ${path}: ${status} ${text.slice(0, 300)}`);
      return text;
    },
    cpuMicros: () => server.cpuMicros(),
    untilQuiet: () => server.untilSummed(),
    async end() {
      await server.stop().finally(() => server.removeFolder());
    },
  };
}
