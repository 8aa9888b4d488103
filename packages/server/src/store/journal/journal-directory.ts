/** The journal's folder: one file per segment, named so that their order is the order of writing. */
import { randomUUID } from "node:crypto";
import { mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";

const extension = ".journal";
const refusedFolder = "refused";
export const segmentPattern = /^\d+-[\w-]+\.journal$/;

export interface SegmentName {
  /** Unique among all servers that share a store. */
  readonly id: string;
  readonly path: string;
}

export class JournalDirectory {
  readonly #path: string;
  readonly #refused: string;
  #last = 0;

  private constructor(path: string, refused: string) {
    this.#path = path;
    this.#refused = refused;
  }

  /**
   * Creates the folder if necessary.
   * @param refused where files are set aside; absent: a folder in it
   * @throws Error of the file system
   */
  static async open(path: string, refused = join(path, refusedFolder)): Promise<JournalDirectory> {
    await mkdir(path, { recursive: true, mode: 0o700 });
    await syncFolder(dirname(path));
    return new JournalDirectory(path, refused);
  }

  /** The segments that an earlier server left, oldest first, with their bytes. */
  async leftSegments(): Promise<(SegmentName & { readonly bytes: number })[]> {
    const names = (await readdir(this.#path)).filter((name) => segmentPattern.test(name)).sort();
    this.#last = Number.parseInt(names.at(-1) ?? "0", 10);
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

  /**
   * Where rows are kept that the store refuses. An operator may move the file back: its name differs from the segment's, so that
   * the store does not take its rows for those that it has.
   */
  async refusedPath({ id }: SegmentName): Promise<string> {
    await mkdir(this.#refused, { recursive: true, mode: 0o700 });
    await syncFolder(dirname(this.#refused));
    return join(this.#refused, `${id}-refused${extension}`);
  }

  /** Moves a file that cannot be used out of the way. Resolves with its new place. */
  async setAside(segment: SegmentName): Promise<string> {
    const path = await this.refusedPath(segment);
    await rename(segment.path, path);
    await this.syncRefused();
    return path;
  }

  /** Makes the names of files that were set aside durable. */
  async syncRefused(): Promise<void> {
    await syncFolder(this.#refused);
  }
}

/** Makes the names of new files in a folder durable. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
