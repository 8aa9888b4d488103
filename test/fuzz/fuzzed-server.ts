/** The fuzzed server: its own process with two organizations, a probe inside, and a watchdog. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { rm, writeFile, mkdtemp } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { serveProcess, type ServedProcess } from "../support/served-process.ts";
import { untilTelemetryReady } from "../support/running-server.ts";
import type { Hold } from "./loop-probe.ts";
import { startScriptedEngine } from "./scripted-engine.ts";
import { sendData } from "./server-data.ts";
import type { Memory, ProbeReport } from "./server-probe.ts";

export interface FuzzedServer extends AsyncDisposable {
  readonly port: number;
  readonly pid: number;
  readonly grpcPort: number;
  readonly dataDirectory: string;
  /** The values of placeholders in inputs: `key` and `admin` of the attacking organization. */
  readonly placeholders: Readonly<Record<string, string>>;
  /** A key of the other organization. */
  readonly neighborKey: string;
  /** Holds above the bound so far, in order of their start. */
  readonly holds: readonly Hold[];
  /** CPU milliseconds, including garbage collection. */
  readonly longestHoldMs: number;
  /** Peak memory of the process, in bytes. */
  readonly peakRss: number;
  /** Forgets the peak so far. */
  forgetPeak(): void;
  /** The process's standard error. */
  readonly stderr: string;
  /** Why no more inputs can be sent, if that is the case. */
  readonly fate: string | undefined;
  /** Resolves when the process has ended or is blocked forever; then `fate` says so. */
  readonly over: Promise<void>;
  /** After a full collection. */
  memory(): Promise<Memory>;
}

/** CPU that the main thread may use while the loop does not turn, before the server counts as hung. */
const hungCpuMs = 10_000;
const ticksPerSecond = 100;

/** User and system time of a process' main thread. https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html */
function mainThreadCpuMs(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/task/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return ((Number(fields[11]) + Number(fields[12])) * 1000) / ticksPerSecond;
  } catch {
    return 0;
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

const probe = new URL("server-probe.ts", import.meta.url).href;

/** @param more sections of the configuration */
export async function startFuzzedServer(holdMs: number, more = ""): Promise<FuzzedServer> {
  await using started = new AsyncDisposableStack();
  const engine = started.use(await startScriptedEngine());
  const directory = started.adopt(await mkdtemp(join(tmpdir(), "sounding-fuzz-")), (path) =>
    rm(path, { recursive: true, force: true }),
  );
  const grpcPort = await freePort();
  const configPath = join(directory, "sounding.yaml");
  await writeFile(
    configPath,
    `server: { log_level: error }
otlp: { grpc_port: ${grpcPort} }
engines:
  scripted:
    type: openai_compatible
    base_url: ${engine.url}
    models: [scripted-chat, scripted-transcription]
    transcription_forms: { scripted-transcription: json }
discovery: { enabled: true }
${more}`,
  );
  const served = started.use(
    await serveProcess(
      { SOUNDING_CONFIG: configPath, SOUNDING_FUZZ_HOLD_MS: String(holdMs) },
      { nodeOptions: ["--expose-gc", "--import", probe], channel: true },
    ),
  );
  const url = /http:\/\/127\.0\.0\.1:(?<port>\d+)/.exec(served.output.stdout)!;
  await untilTelemetryReady({ url: url[0] });
  const [key = "", operatorKey = ""] = new Set(served.output.stdout.match(/sk-[\w-]{43}/g));
  const keys = await makeOrganizations(url[0], operatorKey);
  await sendData(url[0], keys.attacker);
  const watch = watchOver(served);
  const running = started.move();
  return {
    port: Number(url.groups!["port"]),
    pid: served.child.pid!,
    grpcPort,
    dataDirectory: served.dataDirectory,
    placeholders: { key: keys.attacker, admin: keys.attackerAdmin, first: key },
    neighborKey: keys.neighbor,
    holds: watch.holds,
    get peakRss() {
      return watch.peakRss();
    },
    forgetPeak: watch.forgetPeak,
    get longestHoldMs() {
      return watch.longestHoldMs();
    },
    get stderr() {
      return served.output.stderr;
    },
    get fate() {
      return watch.fate();
    },
    over: watch.over,
    memory: watch.memory,
    [Symbol.asyncDispose]: () => {
      watch.close();
      return running.disposeAsync();
    },
  };
}

/** Records the probe's reports, and kills the server if its loop is blocked forever. */
function watchOver({ child, output }: ServedProcess) {
  const holds: Hold[] = [];
  const collected: ((memory: Memory) => void)[] = [];
  const over = Promise.withResolvers<void>();
  let peakRss = 0;
  let longestHoldMs = 0;
  let isWarm = false;
  let fate: string | undefined;
  let cpuAtBeatMs = mainThreadCpuMs(child.pid!);
  child.on("message", (report: ProbeReport) => {
    if (report.kind === "hold") {
      holds.push(report.hold);
      return;
    }
    if (report.kind === "beat") longestHoldMs = Math.max(longestHoldMs, report.longestHoldMs);
    cpuAtBeatMs = mainThreadCpuMs(child.pid!);
    peakRss = Math.max(peakRss, report.rss);
    if (report.kind !== "collected") return;
    // The first report is requested once the server is warm.
    if (!isWarm) longestHoldMs = 0;
    isWarm = true;
    collected.shift()?.(report);
  });
  child.once("exit", (code, signal) => {
    fate ??= `the server ended with ${signal ?? `code ${code}`}: ${output.stderr.slice(-1000)}`;
    over.resolve();
  });
  const look = setInterval(() => {
    if (fate !== undefined || mainThreadCpuMs(child.pid!) - cpuAtBeatMs < hungCpuMs) return;
    fate = `the event loop was held for more than ${hungCpuMs} ms of CPU`;
    child.kill("SIGKILL");
  }, 500);
  look.unref();
  return {
    holds,
    over: over.promise,
    peakRss: () => peakRss,
    forgetPeak: () => void (peakRss = 0),
    longestHoldMs: () => longestHoldMs,
    fate: () => fate,
    async memory(): Promise<Memory> {
      const answer = new Promise<Memory>((resolve) => collected.push(resolve));
      child.send("collect");
      return Promise.race([answer, over.promise.then((): Memory => ({ rss: 0, used: 0 }))]);
    },
    close: () => {
      clearInterval(look);
      fate ??= "stopped";
    },
  };
}

async function makeOrganizations(url: string, operatorKey: string) {
  const post = async (path: string, body: object): Promise<Record<string, string>> => {
    const response = await fetch(`${url}/admin/v1/${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${operatorKey}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const answer = (await response.json()) as Record<string, string>;
    if (!response.ok) throw new Error(`${path}: ${JSON.stringify(answer)}`);
    return answer;
  };
  const keyOf = async (organization: string, permissions: string[]): Promise<string> =>
    (await post("keys", { organization_id: organization, name: "fuzz", permissions }))["secret"]!;
  const ordinary = ["inference", "telemetry_read", "telemetry_write"];
  await post("organizations", { name: "attacker" });
  await post("organizations", { name: "neighbor" });
  return {
    attacker: await keyOf("attacker", ordinary),
    attackerAdmin: await keyOf("attacker", ["admin"]),
    neighbor: await keyOf("neighbor", ordinary),
  };
}

/** Where this file is, for messages. */
export const harnessDirectory = fileURLToPath(new URL(".", import.meta.url));
