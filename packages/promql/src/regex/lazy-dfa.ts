/**
 * Matches a whole text, or searches in it, with a lazy DFA: states are built when a text first needs them. Time
 * is linear in the text, the memory for states is bounded, and the cost of a new state is charged while it is built.
 */
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

interface State {
  /** The instructions that the last character led to, in rising order. */
  readonly kernel: readonly number[];
  readonly before: number;
  /** By character: where it leads to. */
  readonly ascii: (State | undefined)[];
  readonly others: Map<number, State>;
  accepts: boolean | undefined;
  /** Whether the characters that follow make no difference. */
  readonly isFinal: boolean;
}

const asciiCharacters = 128;
/** Numbers that all states of one expression may hold; beyond that, they are dropped and rebuilt when needed. */
const maximumHeld = 262_144;

export class LazyDfa {
  readonly #automaton: Automaton;
  /** Whether a match may begin and end anywhere in the text. */
  readonly #searches: boolean;
  readonly #states = new Map<string, State>();
  #held = 0;
  /** Where a search has found a match. */
  readonly #found: State = {
    kernel: [-1],
    before: before.begin,
    ascii: [],
    others: new Map(),
    accepts: true,
    isFinal: true,
  };
  /** The instructions that the current closure has seen: those with the current mark. */
  readonly #marks: Uint32Array;
  #mark = 0;

  constructor(automaton: Automaton, mode: "whole-text" | "search" = "whole-text") {
    this.#automaton = automaton;
    this.#searches = mode === "search";
    this.#marks = new Uint32Array(automaton.instructions.length);
  }

  /** @param from where the match may begin; no match begins before it */
  match(text: string, from = 0): Resumable<boolean> {
    return new DfaMatch(this, text, from);
  }

  start(text: string, from: number): State {
    const isAtBegin = from === 0 || !this.#automaton.hasAssertions;
    return this.#state([this.#automaton.start], isAtBegin ? before.begin : beforeNext(text.charCodeAt(from - 1)));
  }

  /** @param report receives the cost of the step */
  next(state: State, codePoint: number, report: (steps: number) => void): State {
    const { hasAssertions, instructions } = this.#automaton;
    const kernel: number[] = [];
    const reached = this.#closure(state, codePoint, report);
    const mark = ++this.#mark;
    if (this.#searches) {
      this.#marks[this.#automaton.start] = mark;
      kernel.push(this.#automaton.start);
    }
    for (const place of reached) {
      const instruction = instructions[place]!;
      if (this.#searches && instruction.op === operations.match) return this.#link(state, codePoint, this.#found);
      if (instruction.op < firstConsuming || this.#marks[instruction.out] === mark) continue;
      if (!instruction.matchRune(codePoint)) continue;
      this.#marks[instruction.out] = mark;
      kernel.push(instruction.out);
    }
    report(reached.length);
    kernel.sort((left, right) => left - right);
    return this.#link(state, codePoint, this.#state(kernel, hasAssertions ? beforeNext(codePoint) : before.begin));
  }

  #link(state: State, codePoint: number, next: State): State {
    if (codePoint < asciiCharacters) state.ascii[codePoint] = next;
    else {
      state.others.set(codePoint, next);
      this.#held += 4;
    }
    return next;
  }

  accepts(state: State, report: (steps: number) => void): boolean {
    state.accepts ??= this.#closure(state, endOfText, report).some(
      (place) => this.#automaton.instructions[place]!.op === operations.match,
    );
    return state.accepts;
  }

  /** The consuming and matching instructions that are reached from a state without a character. */
  #closure(state: State, next: number, report: (steps: number) => void): number[] {
    const { hasAssertions, instructions } = this.#automaton;
    const assertions = hasAssertions ? assertionsAt(state.before, next) : 0;
    const mark = ++this.#mark;
    const marks = this.#marks;
    const reached: number[] = [];
    const stack = [...state.kernel];
    let steps = 0;
    for (let place = stack.pop(); place !== undefined; place = stack.pop()) {
      if (marks[place] === mark) continue;
      marks[place] = mark;
      steps++;
      const { arg, op, out } = instructions[place]!;
      if (op >= firstConsuming || op === operations.match) reached.push(place);
      else if (op === operations.alternative || op === operations.alternativeMatch) stack.push(arg, out);
      else if (op === operations.capture || op === operations.nop) stack.push(out);
      else if (op === operations.assertion && (arg & ~assertions) === 0) stack.push(out);
    }
    report(steps);
    return reached;
  }

  #state(kernel: readonly number[], previous: number): State {
    const key = `${previous}:${kernel.join(",")}`;
    const known = this.#states.get(key);
    if (known !== undefined) return known;
    if (this.#held > maximumHeld) {
      this.#states.clear();
      this.#held = 0;
    }
    const ascii = Array.from<State | undefined>({ length: asciiCharacters });
    const state: State = {
      kernel,
      before: previous,
      ascii,
      others: new Map(),
      accepts: undefined,
      isFinal: kernel.length === 0,
    };
    this.#states.set(key, state);
    this.#held += asciiCharacters + kernel.length * 2 + 16;
    return state;
  }
}

/** Building a state takes this many times longer than following one. */
const stepsOfNewState = 8;

class DfaMatch implements Resumable<boolean> {
  result = false;
  readonly #dfa: LazyDfa;
  readonly #text: string;
  #at: number;
  #state: State;

  constructor(dfa: LazyDfa, text: string, from: number) {
    this.#dfa = dfa;
    this.#text = text;
    this.#at = from;
    this.#state = dfa.start(text, from);
  }

  advance(budget: YieldBudget): boolean {
    const text = this.#text;
    let state = this.#state;
    let steps = 0;
    const report = (more: number): void => {
      steps += more * stepsOfNewState;
    };
    for (let at = this.#at; at < text.length;) {
      const unit = text.charCodeAt(at);
      const codePoint = unit >= 0xd800 && unit <= 0xdbff ? text.codePointAt(at)! : unit;
      const known = codePoint < asciiCharacters ? state.ascii[codePoint] : state.others.get(codePoint);
      state = known ?? this.#dfa.next(state, codePoint, report);
      if (state.isFinal) {
        this.result = state.accepts === true;
        budget.spend(steps);
        return true;
      }
      at += codePoint > 0xffff ? 2 : 1;
      steps++;
      if (steps < stepsPerReport) continue;
      this.#at = at;
      this.#state = state;
      if (budget.spend(steps)) return false;
      steps = 0;
    }
    this.result = this.#dfa.accepts(state, report);
    budget.spend(steps);
    return true;
  }
}

/** The minimum number of steps before the caller's budget is checked. */
const stepsPerReport = 1024;
