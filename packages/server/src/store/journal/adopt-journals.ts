/** Finds the segments that processes of an earlier start left in folders of their own, so that they are inserted. */
import { mkdir, readdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { segmentPattern, syncFolder } from "./journal-directory.ts";

const ownFolderPattern = /^worker-\d+$/;

/** The folder of the journal: it has the segments, or a folder of segments for each of several processes. */
export function journalRoot(dataDirectory: string): string {
  return join(dataDirectory, "telemetry/journal");
}

/**
 * Moves segments from all other folders to the first one in use. The names stay, by which the store knows what it has of them
 * already. Call it while no process of this server writes.
 * @param inUse the folders of the processes; `""` is the journal's own
 * @throws Error of the file system
 */
export async function adoptJournals(dataDirectory: string, inUse: readonly [string, ...string[]]): Promise<void> {
  const root = journalRoot(dataDirectory);
  const own = (await namesIn(root)).filter((name) => ownFolderPattern.test(name));
  for (const left of ["", ...own]) {
    if (!inUse.includes(left)) await adopt(join(root, left), join(root, inUse[0]));
  }
}

/** The names of all processes' segments. @throws Error of the file system */
export async function allSegmentNames(dataDirectory: string): Promise<string[]> {
  const root = journalRoot(dataDirectory);
  const own = (await namesIn(root)).filter((name) => ownFolderPattern.test(name));
  const names = await Promise.all(["", ...own].map((folder) => namesIn(join(root, folder))));
  return names.flat().filter((name) => segmentPattern.test(name));
}

async function adopt(from: string, to: string): Promise<void> {
  const names = (await namesIn(from)).filter((name) => segmentPattern.test(name));
  if (names.length === 0) return;
  await mkdir(to, { recursive: true, mode: 0o700 });
  for (const name of names) await rename(join(from, name), join(to, name));
  await syncFolder(to);
  await syncFolder(from);
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}
