/** Writes entries after what they describe, in the background: several in one transaction, again while the database is unreachable. */
import { sleep } from "../../abort.ts";
import type { Logger } from "../../logger.ts";
import type { ControlDatabase } from "../control-database.ts";
import { appendEntries } from "./chain.ts";
import type { AuditEntry } from "./entry.ts";

export interface EntryQueueOptions {
  readonly control: Pick<ControlDatabase, "write">;
  readonly logger: Logger;
  /** Called when entries are lost. */
  readonly onDrop?: ((entries: number) => void) | undefined;
}

const mostQueued = 10_000;
/** In one transaction, which others wait for. */
const batchEntries = 50;
const retryMs = 1000;

export class EntryQueue {
  readonly #options: EntryQueueOptions;
  readonly #closing = new AbortController();
  #waiting: AuditEntry[] = [];
  #writing: Promise<void> | undefined;
  #dropped = 0;

  constructor(options: EntryQueueOptions) {
    this.#options = options;
  }

  /** Never throws. */
  add(entry: AuditEntry): void {
    if (this.#waiting.length >= mostQueued) {
      this.#drop(1);
      return;
    }
    this.#waiting.push(entry);
    this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined;
    });
  }

  /** Resolves once what was added is written, or cannot be. */
  async whenWritten(): Promise<void> {
    await this.#writing;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#writing;
  }

  async #write(): Promise<void> {
    // What one turn adds goes into one transaction.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, batchEntries);
      try {
        await this.#options.control.write((transaction) => appendEntries(transaction, batch));
        this.#waiting = this.#waiting.slice(batch.length);
      } catch (error) {
        if (this.#closing.signal.aborted) {
          this.#drop(this.#waiting.length);
          this.#waiting = [];
          return;
        }
        this.#options.logger.warn({ error }, "entries of the audit log could not be written and will be written again");
        await sleep(retryMs, this.#closing.signal);
      }
    }
  }

  #drop(entries: number): void {
    const { logger, onDrop } = this.#options;
    onDrop?.(entries);
    if (this.#dropped === 0) logger.error({ entries }, "entries of the audit log were lost");
    this.#dropped += entries;
  }
}
