/** Runs the command `sounding` as a process. */
import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { text } from "node:stream/consumers";

const main = new URL("../src/main.ts", import.meta.url).pathname;

export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly env?: Record<string, string>;
  /** What is piped in; the pipe is closed after it. */
  readonly input?: string;
  /** Whether `during` closes the pipe. */
  readonly keepOpen?: boolean;
  /** Called with the running process. */
  readonly during?: (child: ChildProcessWithoutNullStreams) => void;
}

export async function runSounding(
  words: readonly string[],
  { env, input, keepOpen, during }: RunOptions = {},
): Promise<Outcome> {
  const child = spawn(process.execPath, [main, ...words], { env: { ...env } });
  child.stdin.on("error", () => undefined);
  during?.(child);
  if (keepOpen !== true) child.stdin.end(input);
  const closed = new Promise<number | null>((resolve) => {
    child.once("close", resolve);
  });
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), closed]);
  return { code, stdout, stderr };
}
