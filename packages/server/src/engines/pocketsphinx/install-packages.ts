/**
 * Installs PocketSphinx from the system's packages at the first start, if no password is needed.
 * A running package manager is never stopped: it has its own process group and writes to a file.
 */
import { spawn } from "node:child_process";
import { open } from "node:fs/promises";
import { onAbort } from "../../abort.ts";
import { AppError } from "../../errors.ts";
import type { Logger } from "../../logger.ts";
import { debianPackages, findInstallation } from "./installation.ts";

export interface InstallOptions {
  /** The package manager's output is written there. */
  readonly logFile: string;
  readonly logger: Logger;
  /** Prints a sentence for the user who started the server. */
  readonly notify: (notice: string) => void;
  /** When it aborts, the function returns without waiting for the installation. */
  readonly signal: AbortSignal;
  /** Replaced in tests. */
  readonly isInstalled?: () => boolean;
  readonly userId?: number | undefined;
}

/** Longest wait for one run of the package manager. */
const patienceMs = 300_000;

const command = `apt-get install ${debianPackages.join(" ")}`;

/**
 * Installs the library and its model if they are missing and can be installed.
 * @returns whether they were installed just now. Never fails: problems are printed and logged.
 */
export async function installPocketSphinx(options: InstallOptions): Promise<boolean> {
  const { logger, notify, isInstalled = canFindInstallation } = options;
  if (isInstalled()) return false;
  const prefix = await privilege(options);
  if (prefix === undefined) {
    logger.info({ command }, "speech recognition is not available because its packages are not installed");
    return false;
  }
  notify(`Installing speech recognition (${debianPackages.join(", ")}); see ${options.logFile} for the output.`);
  try {
    await install(prefix, options);
    if (!isInstalled()) throw new AppError("internal", "The packages do not contain the expected files.");
    notify(`Speech recognition is installed; the model is "pocketsphinx".`);
    logger.info({}, "the speech recognition packages were installed");
    return true;
  } catch (error) {
    if (options.signal.aborted) return false;
    notify(`Speech recognition could not be installed. To install it yourself, run: ${command}`);
    logger.warn({ error, command }, "the speech recognition packages could not be installed");
    return false;
  }
}

function canFindInstallation(): boolean {
  try {
    findInstallation({ library: undefined, modelDirectory: undefined });
    return true;
  } catch {
    return false;
  }
}

/** Prefix of a command that installs; undefined if that needs a password. */
async function privilege({ signal, userId = process.getuid?.() }: InstallOptions): Promise<string[] | undefined> {
  const can = async (words: readonly [string, ...string[]]): Promise<boolean> =>
    (await run(words, { output: "ignore", signal })) === undefined;
  if (!(await can(["apt-get", "--version"]))) return undefined;
  if (userId === 0) return ["env"];
  return (await can(["sudo", "-n", "true"])) ? ["sudo", "-n", "env"] : undefined;
}

/** @throws Error with what went wrong */
async function install(prefix: readonly string[], { logFile, signal }: InstallOptions): Promise<void> {
  await using file = await open(logFile, "a", 0o600);
  const apt = async (...words: readonly string[]): Promise<string | undefined> => {
    const [program = "", ...rest] = prefix;
    // Another package manager at its work is waited for.
    const options = ["-y", "-o", "DPkg::Lock::Timeout=120"];
    const all = [...rest, "DEBIAN_FRONTEND=noninteractive", "LC_ALL=C", "apt-get", ...options, ...words];
    return run([program, ...all], { output: file.fd, signal });
  };
  const packages = ["install", "--no-install-recommends", ...debianPackages];
  // The lists of packages may be there, and are not in a fresh container.
  if ((await apt(...packages)) === undefined) return;
  const problem = (await apt("update")) ?? (await apt(...packages));
  if (problem !== undefined) throw new Error(problem);
}

/** Runs a program until it ends, times out or is aborted. @returns the problem, if any */
function run(
  [program, ...words]: readonly [string, ...string[]],
  { output, signal }: { output: number | "ignore"; signal: AbortSignal },
): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  if (signal.aborted) return Promise.resolve("The server is shutting down.");
  const child = spawn(program, words, { stdio: ["ignore", output, output], detached: true });
  child.unref();
  const timer = setTimeout(() => resolve(`${program} took longer than ${patienceMs / 1000} s.`), patienceMs).unref();
  const listener = onAbort(signal, () => resolve("The server is shutting down."));
  child.once("error", (error) => resolve(error.message));
  child.once("exit", (code, killedBy) =>
    resolve(code === 0 ? undefined : `It exited with ${killedBy ?? `code ${code}`}.`),
  );
  return promise.finally(() => {
    clearTimeout(timer);
    listener[Symbol.dispose]();
  });
}
