/** Runs the telemetry store of a fleet in a process, and prints its URL: `node store-process.ts ADDRESS` */
import { startRemoteServer } from "../../packages/server/test/store/remote-server.ts";

const store = await startRemoteServer({ host: process.argv[2]! });
process.stdout.write(`${store.url}\n`);
process.once("SIGTERM", () => void store[Symbol.asyncDispose]().then(() => process.exit(0)));
