/** What the groups of an expression stand for in a text that matches: all ways through the program at once, the preferred first. */
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

/** Ways through the program, each with the places where its groups begin and end. */
interface Ways {
  readonly places: Int32Array;
  /** For each way a row of `slots` numbers; -1 for none. */
  readonly captures: Int32Array;
  readonly seen: Uint8Array;
  count: number;
}

/** A place of the program to go to, or (`slot` at least 0) a group's end to be put back. */
interface Visit {
  readonly place: number;
  readonly slot: number;
  readonly previous: number;
}

/** The texts of the groups, in the order in which they were asked for; undefined when the text does not match. */
export class GroupMatch implements Resumable<readonly string[] | undefined> {
  result: readonly string[] | undefined;
  readonly #automaton: Automaton;
  readonly #text: string;
  readonly #groups: readonly number[];
  /** By the program's slots, two for each group: which of ours it is. */
  readonly #slots: ReadonlyMap<number, number>;
  #now: Ways;
  #next: Ways;
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
    this.#now = this.#noWays();
    this.#next = this.#noWays();
    this.#add(this.#now, automaton.start, 0, assertionsAt(before.begin, this.#codePointAt(0)));
  }

  advance(turns: YieldBudget): boolean {
    const { instructions } = this.#automaton;
    const stepsOfWay = 8 + this.#working.length;
    while (this.#at < this.#text.length && this.#now.count > 0) {
      const codePoint = this.#codePointAt(this.#at);
      const end = this.#at + (codePoint > 0xffff ? 2 : 1);
      const assertions = assertionsAt(beforeNext(codePoint), this.#codePointAt(end));
      for (let way = 0; way < this.#now.count; way++) {
        const { op, out } = instructions[this.#now.places[way]!]!;
        if (op < firstConsuming || !instructions[this.#now.places[way]!]!.matchRune(codePoint)) continue;
        const row = way * this.#working.length;
        this.#working.set(this.#now.captures.subarray(row, row + this.#working.length));
        this.#add(this.#next, out, end, assertions);
      }
      const steps = (this.#now.count + this.#next.count) * stepsOfWay;
      [this.#now, this.#next] = [this.#next, this.#now];
      this.#next.count = 0;
      this.#next.seen.fill(0);
      this.#at = end;
      if (turns.spend(steps)) return false;
    }
    const way = this.#now.places
      .subarray(0, this.#now.count)
      .findIndex((place) => instructions[place]!.op === operations.match);
    if (way !== -1) this.result = this.#groups.map((_, index) => this.#textOf(way, index));
    return true;
  }

  #codePointAt(at: number): number {
    return this.#text.codePointAt(at) ?? endOfText;
  }

  #noWays(): Ways {
    const { length } = this.#automaton.instructions;
    return {
      places: new Int32Array(length),
      captures: new Int32Array(length * this.#working.length),
      seen: new Uint8Array(length),
      count: 0,
    };
  }

  /** Adds every way that leads on from a place without a character, in the order of preference. */
  #add(ways: Ways, from: number, at: number, assertions: number): void {
    const { instructions } = this.#automaton;
    const stack: Visit[] = [{ place: from, slot: -1, previous: 0 }];
    for (let visit = stack.pop(); visit !== undefined; visit = stack.pop()) {
      const { place, previous, slot } = visit;
      if (slot >= 0) {
        this.#working[slot] = previous;
        continue;
      }
      if (ways.seen[place] === 1) continue;
      ways.seen[place] = 1;
      const { arg, op, out } = instructions[place]!;
      const goTo = (next: number): number => stack.push({ place: next, slot: -1, previous: 0 });
      if (op >= firstConsuming || op === operations.match) {
        ways.places[ways.count] = place;
        ways.captures.set(this.#working, ways.count * this.#working.length);
        ways.count++;
      } else if (op === operations.alternative || op === operations.alternativeMatch) {
        goTo(arg);
        goTo(out);
      } else if (op === operations.nop || (op === operations.assertion && (arg & ~assertions) === 0)) {
        goTo(out);
      } else if (op === operations.capture) {
        const own = this.#slots.get(arg);
        if (own !== undefined) {
          stack.push({ place: 0, slot: own, previous: this.#working[own]! });
          this.#working[own] = at;
        }
        goTo(out);
      }
    }
  }

  #textOf(way: number, index: number): string {
    const row = way * this.#working.length + index * 2;
    const start = this.#now.captures[row]!;
    const end = this.#now.captures[row + 1]!;
    if (this.#groups[index] === 0) return this.#text;
    return start < 0 || end < 0 ? "" : this.#text.slice(start, end);
  }
}
