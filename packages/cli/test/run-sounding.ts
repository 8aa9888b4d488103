/** Runs the command `sounding`: in the test's process or, where the test acts on it while it runs, as a process. */
import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { Readable, Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { childEnvironment } from "../../../test/support/child-environment.ts";
import { command } from "../../../test/support/command.ts";
import { run } from "../src/run.ts";

export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly env?: Record<string, string>;
  /** What is piped in; the pipe is closed after it. */
  readonly input?: string;
  /** Called with the running process, which has its own signals and pipes. */
  readonly during?: (child: ChildProcessWithoutNullStreams) => void;
  /** Whether `during` closes the pipe. */
  readonly keepOpen?: boolean;
}

/** A process takes longer to start than most commands take: the command runs in one only if the test acts on it. */
export function runSounding(words: readonly string[], options: RunOptions = {}): Promise<Outcome> {
  return options.during === undefined ? runInProcess(words, options) : spawnSounding(words, options);
}

/** What was written; the event `written` follows each piece. */
export class Collected extends Writable {
  text = "";
  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.text += chunk.toString("utf8");
    this.emit("written");
    done();
  }
}

export interface InProcessOptions extends Pick<RunOptions, "env" | "input"> {
  /** Receives standard error. */
  readonly stderr?: Collected;
  readonly signal?: AbortSignal;
}

/** Runs the command in the test's process. */
export async function runInProcess(
  words: readonly string[],
  { env = {}, input, stderr = new Collected(), signal = new AbortController().signal }: InProcessOptions = {},
): Promise<Outcome> {
  const stdout = new Collected();
  const stdin = Readable.from(input === undefined ? [] : [Buffer.from(input)]);
  const isTTY = { stdin: false, stdout: false, stderr: false };
  const code = await run(words, { stdin, stdout, stderr, isTTY, env, signal, abortedExitCode: () => 130 });
  return { code, stdout: stdout.text, stderr: stderr.text };
}

/** Runs the command as a process. */
export async function spawnSounding(
  words: readonly string[],
  { env, input, keepOpen, during }: RunOptions = {},
): Promise<Outcome> {
  const child = spawn(process.execPath, [command, ...words], { env: { ...childEnvironment, ...env } });
  child.stdin.on("error", () => undefined);
  during?.(child);
  if (keepOpen !== true) child.stdin.end(input);
  const closed = new Promise<number | null>((resolve) => {
    child.once("close", resolve);
  });
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), closed]);
  return { code, stdout, stderr };
}
