/** A real Alertmanager on a free loopback port, from Debian's package `prometheus-alertmanager`. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

/** @param configuration its configuration file */
export async function startAlertmanager(configuration: string): Promise<AsyncDisposable & { readonly url: string }> {
  const directory = await mkdtemp(join(tmpdir(), "sounding-alertmanager-"));
  const file = join(directory, "alertmanager.yml");
  await writeFile(file, configuration);
  const options = [
    `--config.file=${file}`,
    `--storage.path=${directory}`,
    "--web.listen-address=127.0.0.1:0",
    "--cluster.listen-address=",
  ];
  const child = spawn("prometheus-alertmanager", options, { stdio: ["ignore", "ignore", "pipe"] });
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stderr })) {
    lines.push(line);
    const address = /msg="Listening on" address=(\S+)/.exec(line)?.[1];
    if (address === undefined) continue;
    // The rest of its log is drained, so that it never blocks.
    child.stderr.resume();
    return {
      url: `http://${address}`,
      async [Symbol.asyncDispose]() {
        child.kill("SIGTERM");
        if (child.exitCode === null) await once(child, "exit");
        await rm(directory, { recursive: true, force: true });
      },
    };
  }
  throw new Error(`Alertmanager ended before it listened:\n${lines.slice(-5).join("\n")}`);
}
