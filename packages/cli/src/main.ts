#!/usr/bin/env node
/**
 * Entry point of the `sounding` command. Ctrl-C or SIGTERM aborts the running command; a second one ends the process
 * immediately.
 */
import { exitCodes } from "./exit-codes.ts";
import { run } from "./run.ts";

const controller = new AbortController();
let abortedExitCode: number = exitCodes.interrupted;

function abortWith(exitCode: number): void {
  if (controller.signal.aborted) process.exit(exitCode);
  abortedExitCode = exitCode;
  controller.abort();
}

/** Node leaves `isTTY` undefined although its types say false. */
function isTerminal(stream: { isTTY?: boolean }): boolean {
  return stream.isTTY === true;
}

process.on("SIGINT", () => abortWith(exitCodes.interrupted));
process.on("SIGTERM", () => abortWith(exitCodes.terminated));
// The reader closed the pipe, as in `sounding … | head`: nothing more to do, and not an error.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  abortWith(exitCodes.brokenPipe);
});

const exitCode = await run(process.argv.slice(2), {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  isTTY: { stdin: isTerminal(process.stdin), stdout: isTerminal(process.stdout), stderr: isTerminal(process.stderr) },
  terminalWidth: isTerminal(process.stdout) ? process.stdout.columns : undefined,
  env: process.env,
  signal: controller.signal,
  abortedExitCode: () => abortedExitCode,
});

for (const stream of [process.stdout, process.stderr]) {
  // process.exit drops output that a pipe has not accepted yet.
  if (stream.writableLength > 0 && !stream.destroyed) await new Promise((resolve) => stream.write("", resolve));
}
process.exit(exitCode);
