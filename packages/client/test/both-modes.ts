/**
 * Runs a table of cases with the asynchronous client here, and with the synchronous one in its own thread: it blocks
 * the thread, and the server of the tests must go on.
 */
import { after } from "node:test";
import { Worker } from "node:worker_threads";
import { AsyncSounding } from "@sounding/client";
import type { CaseTools, ModeCases } from "./mode-case.ts";

export type Reached = (point: string) => void;

/** How the clients are created. */
export interface ClientSetting {
  readonly url: string;
  readonly key: string;
  /** Plain data that the cases need to know. */
  readonly facts?: unknown;
}

export interface ModeRunner {
  readonly mode: CaseTools["mode"];
  /** Runs the case of this name and returns its outcome as plain data. */
  readonly run: (name: string, reached?: Reached) => Promise<unknown>;
}

/** @param table the address of a module that exports the cases as `modeCases` */
export async function runnersFor(table: URL, setting: ClientSetting): Promise<readonly ModeRunner[]> {
  const { url, key, facts } = setting;
  const { modeCases } = (await import(table.href)) as { modeCases: ModeCases };
  const thread = new Worker(new URL("./sync-thread.ts", import.meta.url), {
    workerData: { url, key, facts, table: table.href },
  });
  after(() => thread.terminate());
  const ignore = (): void => undefined;
  return [
    {
      mode: "asynchronous",
      run(name, reached = ignore) {
        const make = (options: object): AsyncSounding =>
          new AsyncSounding({ apiKey: key, baseUrl: url, maxRetries: 0, ...options });
        return modeCases[name]!({ mode: "asynchronous", client: make({}), make, reached, facts });
      },
    },
    { mode: "synchronous", run: (name, reached = ignore) => runInThread(thread, name, reached) },
  ];
}

function runInThread(thread: Worker, name: string, reached: Reached): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const listen = (message: { reached?: string; outcome?: unknown; failure?: string }): void => {
      if (message.reached !== undefined) {
        reached(message.reached);
        return;
      }
      thread.off("message", listen).off("error", reject);
      if (message.failure === undefined) resolve(message.outcome);
      else reject(new Error(message.failure));
    };
    thread.on("message", listen).once("error", reject);
    thread.postMessage(name);
  });
}
