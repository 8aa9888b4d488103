/** Runs a few tasks in each turn of the event loop, for events that can come by the thousand in one, such as timeouts. */

/** Each takes up to a millisecond. */
const tasksPerTurn = 8;

export class PacedTasks {
  #waiting: (() => void)[] = [];
  /** How many have run in this turn. */
  #run = 0;
  #isPlanned = false;

  /** Runs the task now, or in one of the next turns; it must not throw. */
  add(task: () => void): void {
    if (this.#run < tasksPerTurn) {
      this.#run += 1;
      task();
    } else this.#waiting.push(task);
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    setImmediate(() => this.#nextTurn());
  }

  #nextTurn(): void {
    const tasks = this.#waiting.splice(0, tasksPerTurn);
    this.#run = tasks.length;
    this.#isPlanned = tasks.length > 0;
    for (const task of tasks) task();
    if (this.#isPlanned) setImmediate(() => this.#nextTurn());
  }
}
