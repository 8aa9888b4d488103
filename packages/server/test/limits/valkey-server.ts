/**
 * A private Valkey, or Redis, for one test file, with its files in a temporary directory: on a port of the loopback interface,
 * unless a test asks for an address.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "iovalkey";
import { valkeyProgram } from "../../../../test/support/needs.ts";

/** Disposal ends it and removes its directory. */
export interface ValkeyServer extends AsyncDisposable {
  readonly url: string;
  /** Ends it without a shutdown. */
  kill(): Promise<void>;
  start(): Promise<void>;
  /** Stops it from answering, while its connections stay open. */
  pause(): void;
  resume(): void;
}

const program = valkeyProgram();

interface ValkeyPlace {
  readonly address?: string;
  /** What runs the server, such as a command that enters a network namespace. */
  readonly prefix?: readonly string[];
}

/** @param flags further settings, as on the command line */
export async function startValkey(
  flags: readonly string[] = [],
  { address = "127.0.0.1", prefix = [] }: ValkeyPlace = {},
): Promise<ValkeyServer> {
  const directory = mkdtempSync(join(tmpdir(), "sounding-valkey-"));
  const port = await freePort();
  const url = `redis://${address}:${port}`;
  let server: ChildProcess | undefined;

  async function start(): Promise<void> {
    // Valkey's protected mode accepts only local connections.
    const place = ["--port", String(port), "--bind", address, "--protected-mode", "no", "--dir", directory];
    const [command, ...args] = [...prefix, program!, ...place, "--save", "", "--appendonly", "no", ...flags];
    server = spawn(command!, args, { stdio: "ignore" });
    await untilItAnswers(url, server);
  }
  async function kill(): Promise<void> {
    if (server === undefined || server.exitCode !== null || server.signalCode !== null) return;
    const exited = once(server, "exit");
    server.kill("SIGKILL");
    await exited;
  }
  await start();
  return {
    url,
    kill,
    start,
    pause: () => void server!.kill("SIGSTOP"),
    resume: () => void server!.kill("SIGCONT"),
    async [Symbol.asyncDispose]() {
      await kill();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, "close");
  return port;
}

async function untilItAnswers(url: string, server: ChildProcess): Promise<void> {
  const client = new Redis(url, { maxRetriesPerRequest: null, retryStrategy: () => 20 });
  client.on("error", () => {});
  const failed = once(server, "exit").then(() => {
    throw new Error("Valkey did not start");
  });
  failed.catch(() => {});
  try {
    await Promise.race([client.ping(), failed]);
  } finally {
    client.disconnect();
  }
}
