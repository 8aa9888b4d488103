/** Finds the capture groups of a match with a Pike VM: all threads run in lockstep, the preferred one first. */
import {
  assertionsAt,
  before,
  beforeNext,
  endOfText,
  firstConsuming,
  operations,
  type Automaton,
} from "./automaton.ts";
import type { Resumable, YieldBudget } from "./yield-budget.ts";

/** The threads of the VM, each at an instruction and with the positions of its groups. */
interface Threads {
  readonly instructions: Int32Array;
  /** A row of slots per thread; -1 for a group that has no position yet. */
  readonly captures: Int32Array;
  readonly seen: Uint8Array;
  count: number;
}

/** An instruction to visit, or (`slot` at least 0) a slot to restore. */
interface Visit {
  readonly instruction: number;
  readonly slot: number;
  readonly previous: number;
}

/** The texts of the groups in the requested order; undefined if the text does not match. */
export class GroupMatch implements Resumable<readonly string[] | undefined> {
  result: readonly string[] | undefined;
  readonly #automaton: Automaton;
  readonly #text: string;
  readonly #groups: readonly number[];
  /** From the slots of the program, two per group, to those of the requested groups. */
  readonly #slots: ReadonlyMap<number, number>;
  #current: Threads;
  #next: Threads;
  #at = 0;
  readonly #working: Int32Array;

  constructor(automaton: Automaton, text: string, groups: readonly number[]) {
    this.#automaton = automaton;
    this.#text = text;
    this.#groups = groups;
    this.#slots = new Map(
      groups.flatMap((group, index) => [[group * 2, index * 2] as const, [group * 2 + 1, index * 2 + 1] as const]),
    );
    this.#working = new Int32Array(groups.length * 2).fill(-1);
    this.#current = this.#createThreads();
    this.#next = this.#createThreads();
    this.#add(this.#current, automaton.start, 0, assertionsAt(before.begin, this.#codePointAt(0)));
  }

  advance(budget: YieldBudget): boolean {
    const { instructions } = this.#automaton;
    const stepsPerThread = 8 + this.#working.length;
    while (this.#at < this.#text.length && this.#current.count > 0) {
      const codePoint = this.#codePointAt(this.#at);
      const end = this.#at + (codePoint > 0xffff ? 2 : 1);
      const assertions = assertionsAt(beforeNext(codePoint), this.#codePointAt(end));
      for (let thread = 0; thread < this.#current.count; thread++) {
        const { op, out } = instructions[this.#current.instructions[thread]!]!;
        if (op < firstConsuming || !instructions[this.#current.instructions[thread]!]!.matchRune(codePoint)) continue;
        const row = thread * this.#working.length;
        this.#working.set(this.#current.captures.subarray(row, row + this.#working.length));
        this.#add(this.#next, out, end, assertions);
      }
      const steps = (this.#current.count + this.#next.count) * stepsPerThread;
      [this.#current, this.#next] = [this.#next, this.#current];
      this.#next.count = 0;
      this.#next.seen.fill(0);
      this.#at = end;
      if (budget.spend(steps)) return false;
    }
    const thread = this.#current.instructions
      .subarray(0, this.#current.count)
      .findIndex((index) => instructions[index]!.op === operations.match);
    if (thread !== -1) this.result = this.#groups.map((_, index) => this.#textOf(thread, index));
    return true;
  }

  #codePointAt(at: number): number {
    return this.#text.codePointAt(at) ?? endOfText;
  }

  #createThreads(): Threads {
    const { length } = this.#automaton.instructions;
    return {
      instructions: new Int32Array(length),
      captures: new Int32Array(length * this.#working.length),
      seen: new Uint8Array(length),
      count: 0,
    };
  }

  /** Adds a thread for each instruction reachable without consuming a character, in order of preference. */
  #add(threads: Threads, from: number, at: number, assertions: number): void {
    const { instructions } = this.#automaton;
    const stack: Visit[] = [{ instruction: from, slot: -1, previous: 0 }];
    for (let visit = stack.pop(); visit !== undefined; visit = stack.pop()) {
      const { instruction, previous, slot } = visit;
      if (slot >= 0) {
        this.#working[slot] = previous;
        continue;
      }
      if (threads.seen[instruction] === 1) continue;
      threads.seen[instruction] = 1;
      const { arg, op, out } = instructions[instruction]!;
      const goTo = (next: number): number => stack.push({ instruction: next, slot: -1, previous: 0 });
      if (op >= firstConsuming || op === operations.match) {
        threads.instructions[threads.count] = instruction;
        threads.captures.set(this.#working, threads.count * this.#working.length);
        threads.count++;
      } else if (op === operations.alternative || op === operations.alternativeMatch) {
        goTo(arg);
        goTo(out);
      } else if (op === operations.nop || (op === operations.assertion && (arg & ~assertions) === 0)) {
        goTo(out);
      } else if (op === operations.capture) {
        const own = this.#slots.get(arg);
        if (own !== undefined) {
          stack.push({ instruction: 0, slot: own, previous: this.#working[own]! });
          this.#working[own] = at;
        }
        goTo(out);
      }
    }
  }

  #textOf(thread: number, index: number): string {
    const row = thread * this.#working.length + index * 2;
    const start = this.#current.captures[row]!;
    const end = this.#current.captures[row + 1]!;
    if (this.#groups[index] === 0) return this.#text;
    return start < 0 || end < 0 ? "" : this.#text.slice(start, end);
  }
}
