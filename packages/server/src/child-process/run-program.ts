/** Runs a program of the system to its end, with a time limit for the program and everything it starts. */
import { spawn } from "node:child_process";
import { RunningProcess } from "./running-process.ts";
import { onAbort } from "../abort.ts";

export interface ProgramRun {
  readonly directory: string;
  /** The program's whole environment. */
  readonly environment: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** Kills the program and what it has started. */
  readonly signal: AbortSignal;
}

export interface ProgramResult {
  readonly output: string;
  /** The end of what it wrote to standard error. */
  readonly errors: string;
  /** How it ended, if its exit code was not 0. */
  readonly problem: string | undefined;
}

/** Most characters of standard output that are kept. */
const longestOutput = 1_000_000;

/** @throws Error if the program cannot be started or takes too long, or the signal's reason */
export async function runProgram(
  program: string,
  words: readonly string[],
  { directory, environment, timeoutMs, signal }: ProgramRun,
): Promise<ProgramResult> {
  signal.throwIfAborted();
  const child = spawn(program, words, {
    cwd: directory,
    env: environment,
    stdio: ["ignore", "pipe", "pipe"],
    // Its own process group, so that helpers of the program end with it.
    detached: true,
  });
  const running = new RunningProcess(child);
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    if (output.length < longestOutput) output += text;
  });
  let failure: unknown;
  const stop = (reason: unknown): void => {
    failure ??= reason;
    if (child.pid !== undefined) killGroup(child.pid);
  };
  const timer = setTimeout(() => stop(new Error(`${program} took longer than ${timeoutMs / 1000} s.`)), timeoutMs);
  using _listener = onAbort(signal, () => stop(signal.reason));
  const { how, error } = await running.ended;
  clearTimeout(timer);
  if (failure !== undefined) throw failure;
  if (error !== undefined) throw error;
  const problem = how === "code 0" ? undefined : `${program} ended with ${how}.`;
  return { output, errors: running.lastOutput, problem };
}

function killGroup(leader: number): void {
  try {
    process.kill(-leader, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
