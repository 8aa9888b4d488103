/** The server under load, with its embedded store, and its resource usage. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Dispatcher, Pool } from "undici";
import { childrenOf, cpuMicros, firstLine, residentBytes, start, stop, untilQuiet } from "../processes.ts";

export interface MeasuredServer {
  readonly directory: string;
  /** Server and store together, in microseconds. */
  cpuMicros(): number;
  /** Peak resident memory so far, in bytes, of the server and of the store's process. */
  residentBytes(): { server: number; store: number };
  /** Sends a body; returns the response's status, text and the milliseconds until its end. */
  post(request: PostRequest): Promise<Posted>;
  /** Sends OTLP in protobuf, again while the server asks for that. @throws if it is refused */
  send(path: string, otlp: Uint8Array): Promise<void>;
  /** The same as `post` for a request without a body. */
  get(path: string): Promise<Posted>;
  /** Resolves when the store has everything that was acknowledged. */
  untilStored(): Promise<void>;
  /** Resolves when merging has finished, or after two minutes. */
  untilQuiet(): Promise<void>;
  /** The same, when past hours have been summed as well. */
  untilSummed(): Promise<void>;
  /** Stops the processes; the folder stays. */
  stop(): Promise<void>;
  removeFolder(): void;
}

export interface PostRequest {
  readonly path: string;
  readonly contentType: string;
  readonly body: Uint8Array | string;
}

export interface Posted {
  readonly status: number;
  readonly text: string;
  readonly latencyMs: number;
  readonly retryAfterMs: number;
}

async function untilReady(pool: Pool): Promise<void> {
  for (;;) {
    const answer = await pool.request({ method: "GET", path: "/readyz" });
    const { checks } = (await answer.body.json()) as { checks: Record<string, string> };
    if (Object.values(checks).every((check) => check === "ok")) return;
    await sleep(200);
  }
}

/** Hours are summed this long after the last write to them, so that measurements need not wait ten minutes. */
const rollupDelayMs = 15_000;

export async function startMeasuredServer({ journal = "on" } = {}): Promise<MeasuredServer> {
  const directory = mkdtempSync(join(tmpdir(), "sounding-bench-telemetry-"));
  const configPath = join(directory, "sounding.yaml");
  writeFileSync(configPath, `telemetry: { rollup_delay_ms: ${rollupDelayMs}, journal: "${journal}" }\n`);
  const cli = join(import.meta.dirname, "../../packages/cli/src/main.ts");
  const options = ["--json", "--port", "0", "--data-dir", directory, "--config", configPath];
  const server = start({
    command: [process.execPath, cli, "serve", ...options],
    env: { SOUNDING_LOG_LEVEL: "error", SOUNDING_INSTALL: "false" },
    measured: false,
  });
  const welcome = JSON.parse(await firstLine(server)) as { url: string; firstStart: { key: string } };
  const pool = new Pool(welcome.url, { connections: 64, pipelining: 1, headersTimeout: 300_000 });
  const authorization = `Bearer ${welcome.firstStart.key}`;
  await untilReady(pool);
  const pid = server.pid!;
  const storePid = childrenOf(pid).find((child) =>
    readFileSync(`/proc/${child}/cmdline`, "utf8").includes("store/embedded"),
  )!;
  const exchange = async (request: Dispatcher.RequestOptions): Promise<Posted> => {
    const startMs = performance.now();
    const answer = await pool.request(request);
    const text = await answer.body.text();
    const retryAfterMs = Number(answer.headers["retry-after"] ?? 0) * 1000;
    return { status: answer.statusCode, text, latencyMs: performance.now() - startMs, retryAfterMs };
  };
  const post = ({ body, contentType, path }: PostRequest): Promise<Posted> =>
    exchange({ method: "POST", path, headers: { authorization, "content-type": contentType }, body });
  return {
    directory,
    cpuMicros: () => cpuMicros(pid),
    residentBytes: () => ({ server: residentBytes(pid).highest, store: residentBytes(storePid).highest }),
    post,
    async send(path, body) {
      for (;;) {
        const { retryAfterMs, status, text } = await post({ path, contentType: "application/x-protobuf", body });
        if (status === 200) return;
        if (retryAfterMs === 0) throw new Error(`Sounding refused a request: ${status} ${text.slice(0, 300)}`);
        await sleep(retryAfterMs);
      }
    },
    get: (path) => exchange({ method: "GET", path, headers: { authorization } }),
    async untilStored() {
      for (;;) {
        const { text } = await exchange({ method: "GET", path: "/metrics" });
        if (/^sounding_telemetry_journal_bytes 0$/m.test(text)) return;
        await sleep(50);
      }
    },
    untilQuiet: () => untilQuiet(storePid, 4),
    async untilSummed() {
      await untilQuiet(storePid, 4);
      // The delay begins with the last write, and the job looks as often.
      await sleep(2 * rollupDelayMs + 1000);
      await untilQuiet(storePid, 4);
    },
    async stop() {
      if (!pool.closed) await pool.close();
      await stop(server);
    },
    removeFolder: () => rmSync(directory, { recursive: true, force: true }),
  };
}
