/**
 * Stops statements of the embedded engine, and notices those that do not stop: the engine looks for a stop between blocks of rows
 * only, and one block can take minutes.
 */

const repeatMs = 100;
/** Statements that have not stopped by then hold their places as if they never would. */
const stuckMs = 5_000;

export interface StatementStopperOptions {
  /** Asks the engine to stop the statements with these marks. */
  stop(marks: readonly string[]): Promise<void>;
  /** This many statements do not stop. Called once. */
  readonly mostStuck: number;
  stuck(): void;
}

export class StatementStopper {
  readonly #options: StatementStopperOptions;
  /** When each statement was first stopped, by its mark. */
  readonly #stopping = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  #isAsking = false;
  #isStuck = false;

  constructor(options: StatementStopperOptions) {
    this.#options = options;
  }

  /** Stops the statement with this mark, again and again until it has ended: it may not be visible yet. */
  stop(mark: string): void {
    if (this.#stopping.has(mark)) return;
    this.#stopping.set(mark, performance.now());
    this.#timer ??= setInterval(() => this.#look(), repeatMs);
    this.#ask();
  }

  /** The statement has ended. */
  ended(mark: string): void {
    this.#stopping.delete(mark);
    if (this.#stopping.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #look(): void {
    this.#ask();
    const latestMs = performance.now() - stuckMs;
    const stuck = [...this.#stopping.values()].filter((sinceMs) => sinceMs <= latestMs).length;
    if (stuck < this.#options.mostStuck || this.#isStuck) return;
    this.#isStuck = true;
    this.#options.stuck();
  }

  #ask(): void {
    if (this.#isAsking) return;
    this.#isAsking = true;
    void this.#options
      .stop([...this.#stopping.keys()])
      .catch(() => {})
      .finally(() => (this.#isAsking = false));
  }
}
