/** Runs the command `sounding` in the test's process: to start one takes seconds. */
import { Readable, Writable } from "node:stream";
import { run } from "../../packages/cli/src/run.ts";
import type { Outcome } from "../../packages/cli/test/run-sounding.ts";

/** What was written; the event `written` follows each piece. */
export class Collected extends Writable {
  text = "";
  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.text += chunk.toString("utf8");
    this.emit("written");
    done();
  }
}

export async function runInProcess(
  words: readonly string[],
  env: Readonly<Record<string, string>>,
  { stderr = new Collected(), signal = new AbortController().signal } = {},
): Promise<Outcome> {
  const stdout = new Collected();
  const isTTY = { stdin: false, stdout: false, stderr: false };
  const streams = { stdin: Readable.from([]), stdout, stderr, isTTY };
  const code = await run(words, { ...streams, env, signal, abortedExitCode: () => 130 });
  return { code, stdout: stdout.text, stderr: stderr.text };
}
