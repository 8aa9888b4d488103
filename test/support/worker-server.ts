/** A server of several workers as a process, and connections of which a test knows the worker. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { Agent, request, type IncomingMessage } from "node:http";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { serveProcess, type ServedProcess } from "./served-process.ts";

export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly json: Record<string, unknown>;
}

/** One connection that stays open, and thus one worker. */
export interface WorkerConnection {
  readonly worker: number;
  /** Sends JSON with the key, or GET without a body. */
  call(path: string, body?: unknown, key?: string): Promise<Answer>;
  /** Resolves with the response once its headers are there. */
  open(path: string, body: unknown): Promise<IncomingMessage>;
  close(): void;
}

export interface WorkerServer extends AsyncDisposable {
  readonly process: ServedProcess;
  readonly key: string;
  readonly operatorKey: string;
  readonly configPath: string;
  /** Process IDs of the workers in the order of their numbers, also of replacements. */
  pids(): readonly number[];
  /** Opens connections until one is served by this worker. */
  connect(worker: number): Promise<WorkerConnection>;
  /** Resolves when the log has a line with this text, from the given number of lines on. */
  logged(part: string, fromLine?: number): Promise<string>;
  lines(): readonly string[];
}

/** @param yaml the configuration, except the port and the data directory */
export async function startWorkers(yaml: string, env: Record<string, string>, data?: string): Promise<WorkerServer> {
  const directory = await mkdtemp(join(tmpdir(), "sounding-workers-"));
  const configPath = join(directory, "sounding.yaml");
  await writeFile(configPath, yaml);
  const served = await serveProcess(
    { SOUNDING_CONFIG: configPath, HOME: directory, ...env },
    { data: data ?? join(directory, "data") },
  ).catch(async (error: unknown) => {
    await rm(directory, { recursive: true, force: true });
    throw error;
  });
  const [key = "", operatorKey = ""] = [...new Set(served.output.stdout.match(/sk-[\w-]{43}/g))];
  const lines = (): string[] => served.output.stderr.split("\n");
  const logged = async (part: string, fromLine = 0): Promise<string> => {
    for (;;) {
      const found = lines()
        .slice(fromLine, -1)
        .find((line) => line.includes(part));
      if (found !== undefined) return found;
      await once(served.child.stderr!, "data");
    }
  };
  const pids = (): number[] => {
    const events = lines()
      .slice(0, -1)
      .filter((line) => line.startsWith("{"))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const current = [...(events.find(({ msg }) => msg === "the workers accept connections")!["pids"] as number[])];
    for (const { msg, worker, pid } of events)
      if (msg === "a worker was replaced") current[Number(worker) - 1] = Number(pid);
    return current;
  };

  async function open(agent: Agent, path: string, options: { body?: unknown; key: string }): Promise<IncomingMessage> {
    const { body } = options;
    const outgoing = request(`${served.url}${path}`, {
      agent,
      method: body === undefined ? "GET" : "POST",
      headers: { authorization: `Bearer ${options.key}`, "content-type": "application/json" },
    });
    outgoing.end(body === undefined ? undefined : JSON.stringify(body));
    const [response] = (await once(outgoing, "response")) as [IncomingMessage];
    return response;
  }

  async function connect(worker: number): Promise<WorkerConnection> {
    for (;;) {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      const probe = await open(agent, "/healthz", { key });
      await text(probe);
      const line = await logged(String(probe.headers["x-request-id"]));
      if ((JSON.parse(line) as { worker: number }).worker === worker) {
        return {
          worker,
          async call(path, body, as = key) {
            const response = await open(agent, path, { body, key: as });
            const received = await text(response);
            const isJson = String(response.headers["content-type"]).includes("json");
            const json = isJson ? (JSON.parse(received) as Record<string, unknown>) : {};
            return { status: response.statusCode!, text: received, json };
          },
          open: (path, body) => open(agent, path, { body, key }),
          close: () => agent.destroy(),
        };
      }
      agent.destroy();
    }
  }

  return {
    process: served,
    key,
    operatorKey,
    configPath,
    pids,
    connect,
    logged,
    lines,
    async [Symbol.asyncDispose]() {
      await served.end();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Waits until a process has ended. */
export async function untilEnded(pid: number): Promise<void> {
  for (;;) {
    try {
      process.kill(pid, 0);
    } catch (error) {
      assert.equal((error as NodeJS.ErrnoException).code, "ESRCH");
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** The sum of a counter's series whose labels include the text. */
export function counted(metrics: string, name: string, labels = ""): number {
  return metrics
    .split("\n")
    .filter((line) => line.startsWith(`${name}{`) && line.includes(labels))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" "))), 0);
}
