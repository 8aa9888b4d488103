/** Remembers which files of a backup are in the store, so that an interrupted restore of a whole installation continues. */
import { randomUUID } from "node:crypto";
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

const checkpointFile = "restore.json";

interface Content {
  readonly backup: string;
  /** Identifies this restore: the store drops what it has inserted before under the same token. */
  readonly id: string;
  readonly done: readonly string[];
}

export class RestoreCheckpoint {
  /** Identifies the restore, also when it is continued. */
  #id: string;
  readonly #path: string;
  readonly #backup: string;
  readonly #done: Set<string>;
  /** Whether the restore of this backup has begun before. */
  readonly isResumed: boolean;

  private constructor(path: string, backup: string, before: Content | undefined) {
    this.#path = path;
    this.#backup = backup;
    this.#id = before?.id ?? randomUUID();
    this.#done = new Set(before?.done);
    this.isResumed = before !== undefined;
  }

  get id(): string {
    return this.#id;
  }

  /** Another backup's checkpoint counts as none. */
  static async open(dataDirectory: string, backup: string): Promise<RestoreCheckpoint> {
    const path = join(dataDirectory, checkpointFile);
    return new RestoreCheckpoint(path, backup, await readBefore(path, backup));
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

  /** The next attempt inserts everything again. */
  async restart(): Promise<void> {
    this.#done.clear();
    this.#id = randomUUID();
    await this.#write();
  }

  async remove(): Promise<void> {
    await rm(this.#path, { force: true });
  }

  async #write(): Promise<void> {
    const content: Content = { backup: this.#backup, id: this.#id, done: [...this.#done] };
    await writeFile(`${this.#path}.part`, `${JSON.stringify(content)}\n`, { mode: 0o600, flush: true });
    await rename(`${this.#path}.part`, this.#path);
  }
}

async function readBefore(path: string, backup: string): Promise<Content | undefined> {
  try {
    const content = JSON.parse(await readFile(path, "utf8")) as Content;
    return content.backup === backup ? content : undefined;
  } catch {
    // Without it, the restore begins again, which duplicates nothing.
    return undefined;
  }
}
