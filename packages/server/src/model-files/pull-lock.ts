/** Prevents two processes from pulling the same model at the same time. */
import { mkdir, open, readFile, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { AppError } from "../errors.ts";

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

function lockOf(target: string): string {
  return join(dirname(target), `.${basename(target)}.lock`);
}

/** The process that pulls to this place; undefined if none does. */
export async function pullingProcess(target: string): Promise<number | undefined> {
  const holder = Number(await readFile(lockOf(target), "utf8").catch(() => "0"));
  return holder > 0 && isRunning(holder) ? holder : undefined;
}

/**
 * Runs while no other process pulls to the same place.
 * @throws AppError conflict
 */
export async function withPullLock<T>(target: string, run: () => Promise<T>): Promise<T> {
  const lock = lockOf(target);
  await mkdir(dirname(target), { recursive: true });
  const holder = await pullingProcess(target);
  if (holder !== undefined) {
    throw new AppError("conflict", `Process ${holder} is already pulling this model.`);
  }
  await rm(lock, { force: true });
  const handle = await open(lock, "wx");
  try {
    await handle.writeFile(String(process.pid));
    return await run();
  } finally {
    await handle.close();
    await rm(lock, { force: true });
  }
}
