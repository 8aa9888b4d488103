/** The server as a process, started like `npm start`, in a fresh folder. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { childEnvironment } from "./child-environment.ts";
import { command } from "./command.ts";

export const repository = fileURLToPath(new URL("../..", import.meta.url));

export interface ServedProcess extends AsyncDisposable {
  readonly child: ChildProcess;
  readonly dataDirectory: string;
  readonly url: string;
  /** Its standard output and error so far. */
  readonly output: { stdout: string; stderr: string };
  /** Ends it with the signal and resolves to its exit code. */
  end(signal?: NodeJS.Signals): Promise<number | null>;
}

export interface ServedOptions {
  /** The command `sounding`. */
  readonly script?: string;
  /** Options of Node. */
  readonly nodeOptions?: readonly string[];
  /** Opens a channel for messages between the processes. */
  readonly channel?: boolean;
  /** An existing data directory; absent: a new one. */
  readonly data?: string;
}

/**
 * Resolves when the server has printed its welcome.
 * @param env variables beside PATH
 */
export async function serveProcess(
  env: Readonly<Record<string, string>> = {},
  { script = command, nodeOptions = [], channel = false, data }: ServedOptions = {},
): Promise<ServedProcess> {
  const dataDirectory = data ?? (await mkdtemp(join(tmpdir(), "sounding-process-")));
  // A test installs nothing on the machine on which it runs. Servers of all tests share compiled modules.
  const compiled = join(repository, "node_modules/.cache/compiled");
  const own = { NODE_COMPILE_CACHE: compiled, ...childEnvironment, SOUNDING_INSTALL: "false" };
  const args = [...nodeOptions, script, "serve", "--port", "0", "--data-dir", dataDirectory];
  const child = spawn(process.execPath, args, {
    cwd: repository,
    env: { ...own, ...env },
    stdio: ["pipe", "pipe", "pipe", ...(channel ? ["ipc" as const] : [])],
  });
  const output = { stdout: "", stderr: "" };
  const exited = once(child, "exit") as Promise<[number | null]>;
  child.stdout!.on("data", (bytes: Buffer) => (output.stdout += bytes.toString()));
  child.stderr!.on("data", (bytes: Buffer) => (output.stderr += bytes.toString()));
  while (!output.stdout.includes("Three things to try")) {
    const over = await Promise.race([once(child.stdout!, "data").then(() => undefined), exited]);
    if (over !== undefined) throw new Error(`the server ended with code ${over[0]}: ${output.stderr}`);
  }
  const end = async (signal: NodeJS.Signals = "SIGTERM"): Promise<number | null> => {
    child.kill(signal);
    return (await exited)[0];
  };
  return {
    child,
    dataDirectory,
    url: /running at (?<url>http:\S+)/.exec(output.stdout)!.groups!["url"]!,
    output,
    end,
    async [Symbol.asyncDispose]() {
      await end();
      await rm(dataDirectory, { recursive: true, force: true });
    },
  };
}
