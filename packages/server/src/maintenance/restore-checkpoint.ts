/** Remembers which files of a backup are in the store, so that an interrupted restore of a whole installation continues. */
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

const checkpointFile = "restore.json";

interface Content {
  readonly backup: string;
  readonly done: readonly string[];
}

export class RestoreCheckpoint {
  readonly #path: string;
  readonly #backup: string;
  readonly #done: Set<string>;
  /** Whether the restore of this backup has begun before. */
  readonly isResumed: boolean;

  private constructor(path: string, backup: string, done: readonly string[] | undefined) {
    this.#path = path;
    this.#backup = backup;
    this.#done = new Set(done);
    this.isResumed = done !== undefined;
  }

  /** Another backup's checkpoint counts as none. */
  static async open(dataDirectory: string, backup: string): Promise<RestoreCheckpoint> {
    const path = join(dataDirectory, checkpointFile);
    return new RestoreCheckpoint(path, backup, await readDone(path, backup));
  }

  has(file: string): boolean {
    return this.#done.has(file);
  }

  async begin(): Promise<void> {
    await this.#write();
  }

  async add(file: string): Promise<void> {
    this.#done.add(file);
    await this.#write();
  }

  async remove(): Promise<void> {
    await rm(this.#path, { force: true });
  }

  async #write(): Promise<void> {
    const content: Content = { backup: this.#backup, done: [...this.#done] };
    await writeFile(`${this.#path}.part`, `${JSON.stringify(content)}\n`, { mode: 0o600, flush: true });
    await rename(`${this.#path}.part`, this.#path);
  }
}

async function readDone(path: string, backup: string): Promise<readonly string[] | undefined> {
  try {
    const content = JSON.parse(await readFile(path, "utf8")) as Content;
    return content.backup === backup ? content.done : undefined;
  } catch {
    // Without it, the restore begins again, which duplicates nothing.
    return undefined;
  }
}
