/** Processes that a process has started. */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

/** Those that run and whose command line matches, by default of this process. */
export function childProcesses(command: RegExp, parent: number = process.pid): number[] {
  return allProcesses()
    .filter((each) => each.parent === parent && !each.state.startsWith("Z") && command.test(each.command))
    .map(({ pid }) => pid);
}

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly state: string;
  readonly command: string;
}

function allProcesses(): Process[] {
  if (process.platform === "linux")
    return readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? readProcess(name) : []));
  const lines = execFileSync("ps", ["-eo", "pid=,ppid=,stat=,args="], { encoding: "utf8" }).split("\n");
  return lines.flatMap((line) => {
    const [, pid, parent, state = "", command = ""] = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? [];
    return pid === undefined ? [] : [{ pid: Number(pid), parent: Number(parent), state, command }];
  });
}

/** proc(5): a machine may have no `ps`. */
function readProcess(name: string): Process[] {
  try {
    const [state = "", parent] = readFileSync(`/proc/${name}/stat`, "utf8").split(") ").at(-1)!.split(" ");
    const command = readFileSync(`/proc/${name}/cmdline`, "utf8").replaceAll("\0", " ");
    return [{ pid: Number(name), parent: Number(parent), state, command }];
  } catch {
    // It has ended.
    return [];
  }
}
