/** The thread in which the synchronous client runs the cases, so that it may block. */
import { parentPort, workerData } from "node:worker_threads";
import type { AsyncSounding } from "@sounding/client";
import { Sounding } from "@sounding/client/sync";
import { modeCases, type ModeCase } from "./mode-cases.ts";

const { url }: { url: string } = workerData;

function make(options: object): AsyncSounding {
  return new Sounding({ apiKey: "sk-test", baseUrl: url, maxRetries: 0, ...options }) as unknown as AsyncSounding;
}

parentPort?.on("message", (name: ModeCase) => void run(name));

async function run(name: ModeCase): Promise<void> {
  const reached = (point: string): void => parentPort?.postMessage({ reached: point });
  try {
    parentPort?.postMessage({ outcome: await modeCases[name]({ client: make({}), make, reached }) });
  } catch (error) {
    parentPort?.postMessage({ failure: String(error) });
  }
}
