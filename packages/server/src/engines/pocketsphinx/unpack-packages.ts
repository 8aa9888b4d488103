/**
 * Adds PocketSphinx to the data directory: unpacks Debian's packages into a temporary folder, loads what was unpacked, and
 * renames the folder. Nothing outside the data directory changes, so it can be stopped at any time.
 */
import { randomBytes } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { AppError } from "../../errors.ts";
import type { Logger } from "../../logger.ts";
import { unpackDebianPackages } from "./debian-packages.ts";
import { findInstallation, otherWays, unpackedFolder } from "./installation.ts";
import { startRecognizer } from "./recognizer-process.ts";

export interface UnpackOptions {
  readonly dataDirectory: string;
  readonly logger: Logger;
  /** Prints a sentence for the user who started the server. */
  readonly notify: (notice: string) => void;
  /** Stops the download. */
  readonly signal: AbortSignal;
  /** Replaced in tests, which run where PocketSphinx is installed. */
  readonly isInstalled?: (dataDirectory: string) => boolean;
}

/**
 * Unpacks the library and its model if this machine has none.
 * @returns whether they were unpacked just now. Never fails: problems are printed and logged.
 */
export async function unpackPocketSphinx(options: UnpackOptions): Promise<boolean> {
  const { dataDirectory, logger, notify, signal, isInstalled = canFindInstallation } = options;
  if (isInstalled(dataDirectory)) return false;
  const target = unpackedFolder(dataDirectory);
  try {
    await removeAbandoned(target);
    await using work = await temporaryFolder(target);
    notify(`Adding speech recognition: Debian's PocketSphinx is unpacked into ${target}. Nothing is installed.`);
    const onStep = (step: string): void => {
      notify(`Speech recognition: ${step}`);
      logger.info({ step }, "PocketSphinx is being unpacked into the data directory");
    };
    const root = await unpackDebianPackages(work.path, { signal, onStep });
    await tryToLoad(root);
    await moveTo(target, root, work.path);
    notify(`Speech recognition is ready; the model is "pocketsphinx".`);
    logger.info({ folder: target }, "PocketSphinx was unpacked into the data directory");
    return true;
  } catch (error) {
    if (signal.aborted) return false;
    const reason = reasonOf(error);
    notify(`Speech recognition could not be added: ${reason} ${otherWays}`);
    logger.info({ reason, error }, "PocketSphinx could not be unpacked into the data directory");
    return false;
  }
}

function canFindInstallation(dataDirectory: string): boolean {
  try {
    findInstallation({ library: undefined, modelDirectory: undefined, dataDirectory });
    return true;
  } catch {
    return false;
  }
}

/** A new folder next to the target. Its name identifies this process, for `removeAbandoned`. */
async function temporaryFolder(target: string): Promise<AsyncDisposable & { readonly path: string }> {
  const path = `${target}.partial-${process.pid}-${await startOf(process.pid)}-${randomBytes(4).toString("hex")}`;
  await mkdir(path, { recursive: true, mode: 0o700 });
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** Removes the folders of processes that were killed. */
async function removeAbandoned(target: string): Promise<void> {
  const names = await readdir(dirname(target)).catch((): string[] => []);
  for (const name of names) {
    if (!name.startsWith(`${basename(target)}.partial-`)) continue;
    const [pid, started] = name.slice(`${basename(target)}.partial-`.length).split("-");
    if ((await startOf(Number(pid))) === started) continue;
    // The apt of a killed server may still write there.
    await rm(join(dirname(target), name), { recursive: true, force: true, maxRetries: 10 });
  }
}

/** When a process started, in ticks since the machine's start; undefined if it has ended. proc_pid_stat(5) */
async function startOf(pid: number): Promise<string | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined);
  // The second field is the name of the program, which may contain spaces and parentheses.
  return stat?.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
}

/** Finds out whether the libraries fit this machine. @throws AppError upstream_failed */
async function tryToLoad(root: string): Promise<void> {
  const recognizer = await startRecognizer(findInstallation({ library: undefined, modelDirectory: undefined, root }));
  recognizer.stop();
  await recognizer.ended;
}

/** Renames the folder. What is there already, an incomplete copy or another server's, is replaced. */
async function moveTo(target: string, root: string, work: string): Promise<void> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await rename(root, target);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if ((code !== "ENOTEMPTY" && code !== "EEXIST") || attempt === 3) throw error;
    }
    await rename(target, join(work, `replaced-${attempt}`)).catch(ignoreAbsent);
  }
}

function ignoreAbsent(error: NodeJS.ErrnoException): void {
  if (error.code !== "ENOENT") throw error;
}

/** A sentence for people. */
function reasonOf(error: unknown): string {
  if (error instanceof AppError && error.cause instanceof Error) return `${error.message} ${error.cause.message}`;
  const { code, path, message } = error as NodeJS.ErrnoException & { path?: string };
  if (code === "ENOENT" && path !== undefined && !path.includes("/")) return `This system has no ${path}.`;
  const words = message.replaceAll(/\s+/g, " ");
  return words.endsWith(".") ? words : `${words}.`;
}
