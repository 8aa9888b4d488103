/** The journal's folder: one file per segment, named so that their order is the order of writing. */
import { randomUUID } from "node:crypto";
import { mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";

const extension = ".journal";
const refusedFolder = "refused";

export interface SegmentName {
  /** Unique among all servers that share a store. */
  readonly id: string;
  readonly path: string;
}

export class JournalDirectory {
  readonly #path: string;
  #last = 0;

  private constructor(path: string) {
    this.#path = path;
  }

  /** Creates the folder if necessary. @throws Error of the file system */
  static async open(path: string): Promise<JournalDirectory> {
    await mkdir(path, { recursive: true, mode: 0o700 });
    return new JournalDirectory(path);
  }

  /** The segments that an earlier server left, oldest first, with their bytes. */
  async leftSegments(): Promise<(SegmentName & { readonly bytes: number })[]> {
    const names = (await readdir(this.#path)).filter((name) => /^\d+-[\w-]+\.journal$/.test(name)).sort();
    this.#last = Math.max(this.#last, ...names.map((name) => Number.parseInt(name, 10)));
    return Promise.all(
      names.map(async (name) => {
        const path = join(this.#path, name);
        return { id: name.slice(0, -extension.length), path, bytes: (await stat(path)).size };
      }),
    );
  }

  next(): SegmentName {
    this.#last += 1;
    const id = `${String(this.#last).padStart(12, "0")}-${randomUUID()}`;
    return { id, path: join(this.#path, `${id}${extension}`) };
  }

  /** Makes the names of new files durable. */
  async sync(): Promise<void> {
    await syncFolder(this.#path);
  }

  async remove({ path }: SegmentName): Promise<void> {
    await rm(path, { force: true });
  }

  /** Where rows are kept that the store refuses. An operator may move the file back. */
  async refusedPath({ id }: SegmentName): Promise<string> {
    const folder = join(this.#path, refusedFolder);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return join(folder, `${id}${extension}`);
  }

  /** Moves a file that cannot be read out of the way. Resolves with its new place. */
  async setAside(segment: SegmentName): Promise<string> {
    const path = await this.refusedPath(segment);
    await rename(segment.path, path);
    return path;
  }
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
