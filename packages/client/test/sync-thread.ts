/** The thread in which the synchronous client runs the cases, because it blocks. */
import { parentPort, workerData } from "node:worker_threads";
import type { AsyncSounding } from "@sounding/client";
import { Sounding } from "@sounding/client/sync";
import type { ModeCases } from "./mode-case.ts";

const { url, key, facts, table }: { url: string; key: string; facts: unknown; table: string } = workerData;
const { modeCases } = (await import(table)) as { modeCases: ModeCases };

function make(options: object): AsyncSounding {
  return new Sounding({ apiKey: key, baseUrl: url, maxRetries: 0, ...options }) as unknown as AsyncSounding;
}

parentPort?.on("message", (name: string) => void run(name));

async function run(name: string): Promise<void> {
  const reached = (point: string): void => parentPort?.postMessage({ reached: point });
  try {
    const tools = { mode: "synchronous", client: make({}), make, reached, facts } as const;
    parentPort?.postMessage({ outcome: await modeCases[name]!(tools) });
  } catch (error) {
    parentPort?.postMessage({ failure: error instanceof Error ? error.stack : String(error) });
  }
}
