/** The thread in which the synchronous client runs the cases, because it blocks. */
import { inspect } from "node:util";
import { parentPort, workerData } from "node:worker_threads";
import { Agent, setGlobalDispatcher } from "undici";
import type { AsyncSounding } from "@sounding/client";
import { Sounding } from "@sounding/client/sync";
import type { ModeCases } from "./mode-case.ts";

const { url, key, facts, table }: { url: string; key: string; facts: unknown; table: string } = workerData;
const { modeCases } = (await import(table)) as { modeCases: ModeCases };

// This thread cannot notice that the server closes an idle connection while the client blocks it: keep none.
setGlobalDispatcher(new Agent({ pipelining: 0 }));

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
    parentPort?.postMessage({ failure: inspect(error) });
  }
}
