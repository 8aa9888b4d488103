/** Starts and stops measured processes, on a dedicated core if possible, and reads their usage from /proc. */
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";

export interface StartOptions {
  readonly command: readonly [string, ...string[]];
  readonly env?: Readonly<Record<string, string>>;
  readonly directory?: string;
  /** A file descriptor for standard error; absent: this process's own. */
  readonly errorFile?: number;
  /** Whether it is the measured process or part of the load. */
  readonly measured: boolean;
}

const running = new Set<ChildProcess>();
process.on("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

/** Whether processes can be bound to cores: the measured process gets the last core, everything else the first. */
export const canPin = existsSync("/usr/bin/taskset") && cpus().length > 1;

/** Binds this process, and its children, to the core of the load. */
export function pinSelf(): void {
  if (canPin) execFileSync("taskset", ["-apc", "0", String(process.pid)], { stdio: "ignore" });
}

export function start({ command, env, directory, errorFile, measured }: StartOptions): ChildProcess {
  const core = String(cpus().length - 1);
  const [program, ...rest] = canPin && measured ? ["taskset", "-c", core, ...command] : command;
  const child = spawn(program, rest, {
    env: { ...process.env, ...env },
    cwd: directory,
    stdio: ["ignore", "pipe", errorFile ?? "inherit"],
  });
  running.add(child);
  child.once("exit", () => running.delete(child));
  return child;
}

/**
 * The first line that the process writes.
 * @throws if it exits first
 */
export async function firstLine(child: ChildProcess): Promise<string> {
  let text = "";
  for await (const piece of child.stdout as AsyncIterable<Buffer>) {
    text += piece.toString();
    const end = text.indexOf("\n");
    if (end === -1) continue;
    return text.slice(0, end);
  }
  throw new Error(`${child.spawnfile} ended before it was ready.`);
}

export async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGTERM");
  const late = setTimeout(() => child.kill("SIGKILL"), 3000);
  await exited;
  clearTimeout(late);
}

const ticksPerSecond = Number(execFileSync("getconf", ["CLK_TCK"], { encoding: "utf8" }));

/** CPU time used so far by a process and its children, user and system together, in microseconds. https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html */
export function cpuMicros(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The second field is a name in parentheses, which may contain spaces.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  // The last two are of children that have ended.
  const own = fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0);
  return (own * 1e6) / ticksPerSecond + childrenOf(pid).reduce((sum, child) => sum + cpuMicros(child), 0);
}

/** Resolves when the process and its children have hardly worked for this many seconds in a row, or after two minutes. */
export async function untilQuiet(pid: number, quietSeconds: number): Promise<void> {
  for (let quiet = 0, seconds = 0; quiet < quietSeconds && seconds < 120; seconds += 1) {
    const before = cpuMicros(pid);
    await sleep(1000);
    quiet = cpuMicros(pid) - before < 100_000 ? quiet + 1 : 0;
  }
}

export function childrenOf(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
  return text === "" ? [] : text.split(" ").map(Number);
}

/** Resident memory in bytes, current and peak. */
export function residentBytes(pid: number): { now: number; highest: number } {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const read = (name: string): number => Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1]) * 1024;
  return { now: read("VmRSS"), highest: read("VmHWM") };
}

/** One line that describes the machine. */
export function describeMachine({ bound } = { bound: canPin }): string {
  const [cpu] = cpus();
  const load = loadavg().map((value) => value.toFixed(1));
  return `${cpu?.model.trim()}, ${cpus().length} cores, Node ${process.versions.node}, load average ${load.join(" ")}, ${bound ? "measured process pinned to its own core" : "processes not pinned to cores"}`;
}
