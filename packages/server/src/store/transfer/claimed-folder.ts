/** A folder for files of one command. What commands that were killed left is removed by the next one. */
import { randomUUID } from "node:crypto";
import { mkdir, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { tryLock } from "../../file-lock.ts";

export interface ClaimedFolder extends AsyncDisposable {
  readonly path: string;
}

const lockPattern = /^(?<name>transfer-[0-9a-f-]{36})\.lock$/;

/** Creates a folder in `parent`, with a lock next to it; disposing removes both. */
export async function claimFolder(parent: string): Promise<ClaimedFolder> {
  await removeUnclaimed(parent);
  const path = join(parent, `transfer-${randomUUID()}`);
  const lock = `${path}.lock`;
  const release = await createLock(lock);
  await mkdir(path, { mode: 0o700 });
  return {
    path,
    async [Symbol.asyncDispose]() {
      await rm(path, { recursive: true, force: true });
      await rm(lock, { force: true });
      release?.();
    },
  };
}

/** Without a lock, as on some remote file systems, nobody else removes the folder. */
async function createLock(path: string): Promise<(() => void) | undefined> {
  // Locked before it has the name that others look for.
  const temporary = path.replace(/lock$/, "new");
  let release: (() => void) | undefined;
  try {
    release = tryLock(temporary);
    await rename(temporary, path);
    return release;
  } catch {
    release?.();
    await rm(temporary, { force: true });
    return undefined;
  }
}

/** A file that cannot be removed must not keep a command from its work. */
async function removeUnclaimed(parent: string): Promise<void> {
  for (const entry of await readdir(parent)) {
    const name = lockPattern.exec(entry)?.groups?.["name"];
    if (name === undefined) continue;
    try {
      const release = tryLock(join(parent, entry));
      if (release === undefined) continue;
      await rm(join(parent, name), { recursive: true, force: true });
      await rm(join(parent, entry), { force: true });
      release();
    } catch {
      // The next command tries again.
    }
  }
}
