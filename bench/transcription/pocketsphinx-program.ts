/** The baseline: Debian's program `pocketsphinx_continuous` with its usual settings, one process per file. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { childrenOf, residentBytes } from "../processes.ts";

export const hasProgram = spawnSync("pocketsphinx_continuous", [], { stdio: "ignore" }).error === undefined;

export interface ProgramRun {
  readonly text: string;
  readonly cpuSeconds: number;
  readonly highestBytes: number;
}

/** Transcribes one WAV file of 16 000 Hz. */
export async function runProgram(path: string): Promise<ProgramRun> {
  // The shell reports the program's CPU time to the millisecond, on its own standard error.
  const script = `TIMEFORMAT='%U %S'; time pocketsphinx_continuous -infile "$0" -logfn /dev/null 2>/dev/null`;
  const child = spawn("bash", ["-c", script, path], { stdio: ["ignore", "pipe", "pipe"] });
  const output = { text: "", times: "" };
  child.stdout.on("data", (bytes: Buffer) => (output.text += bytes.toString()));
  child.stderr.on("data", (bytes: Buffer) => (output.times += bytes.toString()));
  let highestBytes = 0;
  const watch = setInterval(() => {
    for (const pid of childrenOf(child.pid!)) highestBytes = Math.max(highestBytes, residentBytes(pid).highest);
  }, 20);
  await once(child, "exit");
  clearInterval(watch);
  const [user = NaN, system = NaN] = output.times.trim().split(" ").map(Number);
  return { text: output.text, cpuSeconds: user + system, highestBytes };
}
