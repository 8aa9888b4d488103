/** A store for the journal that keeps groups in memory, drops repeated tokens as ClickHouse does, and fails as it is told. */
import type { InsertGroup } from "../../src/store/row-writer.ts";
import { StoreError } from "../../src/store/store-error.ts";

export const transientError = (): StoreError => new StoreError("not now", { code: 241 });
export const refusal = (): StoreError => new StoreError("bad rows", { code: 27 });

export class ScriptedStore {
  readonly groups: InsertGroup[] = [];
  /** Called before rows are taken; what it throws is the insert's error. */
  onInsert: (group: InsertGroup) => void | Promise<void> = () => {};
  /** Called after rows are taken, as if the response was lost. */
  onInserted: (group: InsertGroup) => void = () => {};
  readonly #tokens = new Set<string>();
  #up = Promise.withResolvers<void>();
  #onGroup: () => void = () => {};

  constructor({ isUp = true } = {}) {
    if (isUp) this.#up.resolve();
  }

  readonly insert = async (group: InsertGroup): Promise<void> => {
    await this.onInsert(group);
    if (!this.#tokens.has(group.token)) {
      this.#tokens.add(group.token);
      this.groups.push(group);
      this.#onGroup();
    }
    this.onInserted(group);
  };

  readonly whenReady = async (signal: AbortSignal): Promise<void> => {
    const ended = Promise.withResolvers<never>();
    signal.addEventListener("abort", () => ended.reject(signal.reason), { once: true });
    signal.throwIfAborted();
    await Promise.race([this.#up.promise, ended.promise]);
  };

  goDown(): void {
    this.#up = Promise.withResolvers();
  }

  goUp(): void {
    this.#up.resolve();
  }

  async untilGroups(count: number): Promise<void> {
    while (this.groups.length < count) await new Promise<void>((resolve) => (this.#onGroup = resolve));
  }

  /** The texts of all blocks, in order of insertion. */
  get texts(): string[] {
    return this.groups.flatMap(({ blocks }) => blocks.map((block) => Buffer.from(block).toString()));
  }
}
