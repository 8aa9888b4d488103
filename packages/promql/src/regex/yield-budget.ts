/** How a match shares the thread with other requests: the caller's budget decides when, and ends what takes too long. */
export interface YieldBudget {
  /** Counts steps of an automaton; true when other work should run before the next ones. */
  spend(steps: number): boolean;
  /** Lets other work run. Throws once the caller's time is up or its request was cancelled. */
  yield(): Promise<void>;
}

/** For matches whose text is known to be short. */
export const neverYield: YieldBudget = { spend: () => false, yield: () => Promise.resolve() };

/** A match that can pause. */
export interface Resumable<Result> {
  /** Continues; false when other work should run first. */
  advance(budget: YieldBudget): boolean;
  readonly result: Result;
}

/** The result if the match needs no pause, as nearly all do; otherwise a promise of it. */
export function runToEnd<Result>(match: Resumable<Result>, budget: YieldBudget): Result | Promise<Result> {
  return match.advance(budget) ? match.result : finish(match, budget);
}

async function finish<Result>(match: Resumable<Result>, budget: YieldBudget): Promise<Result> {
  do await budget.yield();
  while (!match.advance(budget));
  return match.result;
}
