/**
 * Pieces of work of many calls in line. The first piece of a call goes before the later ones of others, so that every
 * caller gets something soon, but a crowd of new calls does not hold up those that are being served.
 */
export interface QueuedJob {
  /** Whether it is the first piece of its call. */
  readonly first: boolean;
  reject(error: unknown): void;
}

/** As many first pieces go before a later one that waits. */
const mostFirstsInARow = 8;

export class JobQueue<Job extends QueuedJob> {
  readonly #first: Job[] = [];
  readonly #later: Job[] = [];
  #firstsInARow = 0;

  get length(): number {
    return this.#first.length + this.#later.length;
  }

  push(job: Job): void {
    this.#lineOf(job).push(job);
  }

  next(): Job | undefined {
    const firstGoes = this.#first.length > 0 && (this.#firstsInARow < mostFirstsInARow || this.#later.length === 0);
    this.#firstsInARow = firstGoes ? this.#firstsInARow + 1 : 0;
    return (firstGoes ? this.#first : this.#later).shift();
  }

  /** Takes a job out of the line, if it is still there. */
  remove(job: Job): void {
    const line = this.#lineOf(job);
    const index = line.indexOf(job);
    if (index !== -1) line.splice(index, 1);
  }

  rejectAll(error: unknown): void {
    for (const job of [...this.#first.splice(0), ...this.#later.splice(0)]) job.reject(error);
  }

  #lineOf({ first }: Job): Job[] {
    return first ? this.#first : this.#later;
  }
}
