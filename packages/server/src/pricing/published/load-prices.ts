/** Loads the published prices, once in a process. */
import { Worker } from "node:worker_threads";
import { siblingScript } from "../../child-process/sibling-script.ts";
import type { Conversion } from "../exchange-rates.ts";
import { PublishedPrices } from "./published-prices.ts";
import type { PublishedTable } from "./table.ts";

const script = siblingScript(import.meta.url, "table-worker");

let loading: Promise<PublishedTable> | undefined;
let inDollars: PublishedPrices | undefined;

/**
 * A thread reads them, since that would hold up everything else for a tenth of a second.
 * @param conversion undefined: costs are in US dollars, like published prices
 */
export async function loadPublishedPrices(conversion?: Conversion): Promise<PublishedPrices> {
  loading ??= readTable();
  // After a failure, the next one tries again.
  loading.catch(() => (loading = undefined));
  const table = await loading;
  return conversion === undefined ? (inDollars ??= new PublishedPrices(table)) : new PublishedPrices(table, conversion);
}

async function readTable(): Promise<PublishedTable> {
  const worker = new Worker(script, { stdout: true, stderr: true });
  const { promise, reject, resolve } = Promise.withResolvers<string>();
  worker.once("message", resolve);
  worker.once("error", reject);
  worker.once("exit", () => reject(new Error("The thread that reads published prices ended without them.")));
  return JSON.parse(await promise) as PublishedTable;
}
