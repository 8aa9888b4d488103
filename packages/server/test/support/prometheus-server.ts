/** A real Prometheus with our samples, on a free loopback port, from Debian's package `prometheus`. */
import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

export interface PrometheusSeries {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly samples: readonly (readonly [timeMs: number, value: number])[];
}

export interface PrometheusServer extends AsyncDisposable {
  readonly url: string;
  readonly process: ChildProcess;
}

/**
 * Lines of OpenMetrics, one per sample. Those of one name must be adjacent.
 * https://github.com/OpenObservability/OpenMetrics/blob/main/specification/OpenMetrics.md
 */
export function* openMetricsLines(all: Iterable<PrometheusSeries>): Generator<string> {
  for (const { labels, name, samples } of all) {
    const pairs = Object.entries(labels).map(([label, value]) => `${label}=${JSON.stringify(value)}`);
    const series = `${name}{${pairs.join(",")}}`;
    let lines = "";
    for (const [timeMs, value] of samples) lines += `${series} ${numeral(value)} ${timeMs / 1000}\n`;
    yield lines;
  }
  yield "# EOF\n";
}

function numeral(value: number): string {
  if (Number.isFinite(value)) return Object.is(value, -0) ? "-0" : String(value);
  return Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
}

/**
 * Writes the samples as blocks of Prometheus' storage and starts it on them. @throws if it is not ready within a minute
 * @param configuration its configuration file
 */
export async function startPrometheus(
  lines: Iterable<string>,
  configuration = "global: {}\n",
): Promise<PrometheusServer> {
  const directory = await mkdtemp(join(tmpdir(), "sounding-prometheus-"));
  const file = join(directory, "samples.txt");
  await pipeline(Readable.from(lines), createWriteStream(file));
  const data = join(directory, "data");
  await promisify(execFile)("promtool", ["tsdb", "create-blocks-from", "openmetrics", file, data]);
  await rm(file);
  await writeFile(join(directory, "prometheus.yml"), configuration);
  const options = [
    `--config.file=${join(directory, "prometheus.yml")}`,
    `--storage.tsdb.path=${data}`,
    "--web.listen-address=127.0.0.1:0",
  ];
  const child = spawn("prometheus", options, { stdio: ["ignore", "ignore", "pipe"] });
  const server: PrometheusServer = {
    url: `http://${await address(child)}`,
    process: child,
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null) {
        child.kill("SIGTERM");
        await once(child, "exit");
      }
      await rm(directory, { recursive: true, force: true });
    },
  };
  await untilReady(server.url);
  return server;
}

async function address(child: ChildProcess): Promise<string> {
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stderr! })) {
    lines.push(line);
    const listening = /msg="Listening on" address=(\S+)/.exec(line);
    if (listening === null) continue;
    // The rest of its log is drained, so that it never blocks.
    child.stderr!.resume();
    return listening[1]!;
  }
  throw new Error(`Prometheus ended before it listened:\n${lines.slice(-5).join("\n")}`);
}

async function untilReady(url: string): Promise<void> {
  const signal = AbortSignal.timeout(60_000);
  while (!(await fetch(`${url}/-/ready`, { signal })).ok) await sleep(50);
}
