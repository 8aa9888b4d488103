/** The thread in which the cases run with the synchronous client, which blocks it; the server lives in another. */
import { parentPort, workerData } from "node:worker_threads";
import type { AsyncSounding } from "@sounding/client";
import { Sounding, type SyncClientOptions } from "@sounding/client/sync";
import { allCases } from "./all-cases.ts";
import type { Facts } from "./known-service.ts";

const facts = workerData as Facts;

function make(options: SyncClientOptions): AsyncSounding {
  const client: unknown = new Sounding({ apiKey: facts.key, baseUrl: facts.url, maxRetries: 0, ...options });
  return client as AsyncSounding;
}

parentPort!.on("message", (name: string) => void run(name));

async function run(name: string): Promise<void> {
  try {
    const { run: runCase } = allCases.find((one) => one.name === name)!;
    await runCase({ mode: "synchronous", client: make({}), make, facts });
    parentPort!.postMessage(undefined);
  } catch (error) {
    parentPort!.postMessage(error instanceof Error ? (error.stack ?? error.message) : String(error));
  }
}
